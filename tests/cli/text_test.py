"""`tokenize` against the reference's strings, for both families."""
import json
import unittest
from concurrent.futures import ThreadPoolExecutor

from support import DATA, S1, S2, CliTest, run, run_json


class ReferenceStrings(CliTest):
    # Every string is one run of the program; the exactness of all of them on both tokenizers is
    # proved faster in tests/text. Here each fourth one goes through the command line.
    strings = json.loads((DATA / "lm" / "tokenizer_cases.json").read_text())["strings"][::4]

    def tokenize(self, model, text):
        result = run("tokenize", "--model", model, "--allow-control", "--json", "-",
                     stdin=text.encode(), check=0)
        return json.loads(result.stdout)

    def check_model(self, model, key):
        with ThreadPoolExecutor(2) as pool:
            answers = list(pool.map(lambda s: self.tokenize(model, s["text"]), self.strings))
        for string, answer in zip(self.strings, answers):
            with self.subTest(text=string["text"][:60]):
                self.assertEqual(answer, {"ids": string[key], "text": string["text"]})
        self.assertGreater(len(answers), 25)

    def test_s2_ids_are_equal(self):
        self.check_model(S2, "s2")

    def test_s1_ids_are_equal(self):
        self.check_model(S1, "s1")


class Tokenize(CliTest):
    def test_plain_output_is_the_ids_on_one_line(self):
        ids = run_json("tokenize", "--model", S2, "Hello world.")["ids"]
        result = run("tokenize", "--model", S2, "Hello world.", check=0)
        self.assertEqual(result.stdout.decode().split(), [str(i) for i in ids])

    def test_line_breaks_of_a_file_are_kept(self):
        file = self.write("text.txt", "one\ntwo\n")
        from_file = run_json("tokenize", "--model", S2, "--text-file", file)
        self.assertEqual(from_file["text"], "one\ntwo\n")
        self.assertNotEqual(from_file["ids"],
                            run_json("tokenize", "--model", S2, "one\ntwo")["ids"])

    def test_empty_text_has_no_ids(self):
        self.assertEqual(run_json("tokenize", "--model", S2, ""), {"ids": [], "text": ""})

    def test_invalid_utf8_is_named_by_its_offset(self):
        result = run("tokenize", "--model", S2, "-", stdin=b"abc\xff")
        self.assert_fails(result, 1, "3")

    def test_text_may_begin_with_a_dash(self):
        result = run("tokenize", "--model", S2, "--json", "--", "-x", check=0)
        self.assertEqual(json.loads(result.stdout)["text"], "-x")


if __name__ == "__main__":
    unittest.main()
