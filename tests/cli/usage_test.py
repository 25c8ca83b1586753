"""Exit codes and messages for wrong command lines, and the commands around speaking."""
import unittest

from support import CODEC, S1, S2, CliTest, clean_environment, npy_bytes, run, run_json


class Usage(CliTest):
    def test_wrong_command_lines_end_with_2(self):
        wave = self.folder / "a.wav"
        for args in (("nonsense",), (), ("say", "--nonsense", "x"), ("say", "--kv", "huge", "x"),
                     ("say", "--sdpa", "fast", "x"), ("say", "--dtype", "f8", "x"),
                     ("say", "--seed", "dice", "x", "-o", wave, "--model", S2, "--codec", CODEC),
                     ("say", "--seed", "-1", "x"), ("say", "--top-k", "many", "x"),
                     ("say", "--threads", "0", "x"), ("say", "--random", "gpt", "x"),
                     ("say", "one", "two"), ("say", "-o", wave), ("say",),
                     ("say", "text", "--text-file", "f", "-o", wave),
                     ("say", "text", "-o", self.folder / "a.mp7"),
                     ("say", "text", "-o", self.folder / "a.flac", "--float"),
                     ("say", "text", "-o", "-", "--json"), ("say", "text", "--raw", "-o", wave),
                     ("say", "text", "--greedy", "--temperature", "1"),
                     ("say", "text", "--device", "tpu", "--model", S2, "-o", wave),
                     ("decode",), ("decode", "a.npy"), ("make-tiny",),
                     ("make-tiny", self.folder / "t", "--family", "s3")):
            with self.subTest(args):
                result = run(*args)
                self.assert_fails(result, 2)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_voices_and_transcripts_must_pair_up(self):
        voice = self.write("v.npy", npy_bytes([[1, 2]] * 6))
        base = ("prompt", "--model", S2, "Hello")
        self.assert_fails(run(*base, "--voice-codes", voice), 2, "transcript")
        self.assert_fails(run(*base, "--transcript", "Words."), 2, "voice")
        self.assert_fails(run(*base, "--voice-codes", voice, "--transcript", ""), 1, "transcript")
        run(*base, "--voice-codes", voice, "--transcript", "Words.", check=0)

    def test_voice_with_wrong_rows_names_both_numbers(self):
        voice = self.write("v.npy", npy_bytes([[1, 2]] * 4))
        result = run("prompt", "--model", S2, "Hello", "--voice-codes", voice, "--transcript", "x")
        self.assert_fails(result, 1, "v.npy", "4", "6")

    def test_RB_41_what_the_engine_refuses_ends_with_1_and_names_the_field(self):
        for option, value, word in (("--temperature", "-1", "temperature"),
                                    ("--temperature", "nan", "temperature"),
                                    ("--top-p", "1.5", "top_p"), ("--top-k", "0", "top_k"),
                                    ("--max-frames", "-1", "max_frames"),
                                    ("--capacity", "-1", "capacity")):
            with self.subTest(option=option, value=value):
                result = run("say", "--model", S2, "--codes-out", self.folder / "c.npy",
                             option, value, "Hello")
                self.assert_fails(result, 1, word)

    def test_too_small_capacity_names_the_numbers(self):
        result = run("say", "--model", S2, "--codes-out", self.folder / "c.npy", "--capacity", 40,
                     "--max-frames", 14, "Hello world.")
        self.assert_fails(result, 1, "34", "14", "40")

    def test_RB_17_nothing_to_say(self):
        for text in ("", "   ", "\n\n"):
            with self.subTest(text=text):
                result = run("say", "--model", S2, "--codes-out", self.folder / "c.npy", text)
                self.assert_fails(result, 1, "nothing to say")

    def test_missing_output_folder_is_told_before_the_work(self):
        result = run("say", "--model", S2, "--codec", CODEC, "Hello", "-o",
                     self.folder / "no" / "a.wav")
        self.assert_fails(result, 1, "no folder")

    def test_help_and_version_go_to_stdout(self):
        self.assertIn(b"make-tiny", run("--help", check=0).stdout)
        self.assertIn(b"--split-bytes", run("say", "--help", check=0).stdout)
        self.assertIn(b"0.1.0", run("--version", check=0).stdout)


class Info(CliTest):
    def test_model_and_codec(self):
        info = run_json("info", "--model", S2, "--codec", CODEC)
        self.assertEqual(info["family"], "s2-pro")
        self.assertEqual(info["lm"]["n_codebooks"], 6)
        self.assertEqual(info["lm"]["semantic_begin"], 656)
        self.assertEqual(info["codec"]["samples_per_frame"], 2048)
        self.assertEqual(info["device"], "cpu")
        # 3 layers, K and V, 2 heads of 32, float32
        self.assertEqual(info["memory"]["kv_per_position"], 3 * 2 * 2 * 32 * 4)
        self.assertGreater(info["memory"]["weights"], 0)
        self.assertIn("0.1.0", info["build"])

    def test_language_model_alone_and_codec_alone(self):
        self.assertIsNone(run_json("info", "--model", S1)["codec"])
        info = run_json("info", "--codec", CODEC)
        self.assertIsNone(info["lm"])
        self.assertEqual(info["codec"]["sample_rate"], 44100)

    def test_the_estimate_is_what_loading_finds(self):
        for arguments in (["--model", S2, "--codec", CODEC], ["--model", S1, "--weights", "int8"],
                          ["--codec", CODEC, "--codec-dtype", "bf16"]):
            estimate = run_json("info", "--estimate", *arguments)
            self.assertEqual(estimate["memory"], run_json("info", *arguments)["memory"])

    def test_the_estimate_of_a_released_shape_takes_no_such_memory(self):
        info = run_json("info", "--estimate", "--random", "s2-pro")
        # 36 layers, K and V, 8 heads of 128, bfloat16
        self.assertEqual(info["memory"]["kv_per_position"], 36 * 2 * 8 * 128 * 2)
        self.assertGreater(info["memory"]["weights"], 8e9)
        # LibTorch alone takes some 300 MB.
        self.assertLess(info["peak_rss_bytes"], 1e9)

    def test_model_from_the_environment(self):
        info = run_json("info", env=clean_environment(REMORA_MODEL=str(S1)))
        self.assertEqual(info["family"], "s1-mini")

    def test_plain_output_has_a_line_for_each_figure(self):
        lines = run("info", "--model", S2, check=0).stdout.decode().splitlines()
        self.assertIn("lm.n_codebooks: 6", lines)


if __name__ == "__main__":
    unittest.main()
