"""`quantize`: whole checkpoints with 8 and 4 bit weights."""
import json
import os
import resource
import signal
import struct
import subprocess
import unittest

import support
from support import PROGRAM, S1, S1_PROJ, S2, CliTest, clean_environment, run, run_json

FORMATS = (("--weights", "int8"), ("--weights", "int4"), ("--weights", "int4", "--group", "32"))


def header_of(path):
    with open(path, "rb") as file:
        length, = struct.unpack("<Q", file.read(8))
        return json.loads(file.read(length))


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


class Quantize(CliTest):
    def codes(self, *options):
        result = run("say", *options, "--greedy", "--max-frames", 10, "Hello world.",
                     "--codes-out", self.folder / "c.npy")
        self.assertIn(result.returncode, (0, 3), result.stderr)  # 3: the ten frames were made
        return support.read_npy(self.folder / "c.npy")

    def tiny(self):
        folder = self.folder / "tiny"
        run("make-tiny", folder, check=0)
        return folder

    def test_the_new_checkpoint_speaks_as_the_converted_one(self):
        for model in (S2, S1, S1_PROJ):
            for number, weights in enumerate(FORMATS):
                with self.subTest(model=model.name, weights=weights):
                    out = self.folder / f"{model.name}{number}"
                    run("quantize", model, out, *weights, check=0)
                    self.assertEqual(self.codes("--model", out),
                                     self.codes("--model", model, *weights))

    def test_sound_needs_no_other_folder(self):
        tiny, out = self.tiny(), self.folder / "out"
        run("quantize", tiny, out, check=0)
        self.assertEqual(names_in(out), names_in(tiny))
        waves = []
        for options in (("--model", out), ("--model", tiny, "--weights", "int8")):
            run("say", *options, "Hello.", "-o", self.folder / "a.wav", check=0)
            waves.append((self.folder / "a.wav").read_bytes())
        self.assertEqual(waves[0], waves[1])
        self.assertLess((out / "model.safetensors").stat().st_size,
                        (tiny / "model.safetensors").stat().st_size)

    def test_every_file_but_the_weights_is_copied(self):
        source = self.folder / "source"
        source.mkdir()
        for file in S2.iterdir():
            (source / file.name).write_bytes(file.read_bytes())
        (source / "LICENSE").write_text("mine")
        (source / ".gitattributes").write_text("hidden")
        (source / "folder").mkdir()
        (source / "linked").symlink_to(source / "LICENSE")
        out = self.folder / "out"
        run("quantize", source, out, check=0)
        self.assertEqual(names_in(out),
                         ["LICENSE", "config.json", "linked", "model.safetensors",
                          "special_tokens_map.json", "tokenizer.json", "tokenizer_config.json"])
        self.assertFalse((out / "linked").is_symlink())
        self.assertEqual((out / "linked").read_text(), "mine")

    def test_info_and_the_file_say_what_it_is(self):
        out = self.folder / "out"
        run("quantize", S2, out, "--weights", "int4", "--group", "32", check=0)
        lm = run_json("info", "--model", out)["lm"]
        self.assertEqual((lm["weights"], lm["weights_group"], lm["weights_saved"]),
                         ("int4", 32, True))
        plain = run_json("info", "--model", S2, "--weights", "int8")["lm"]
        self.assertEqual((plain["weights"], plain["weights_group"], plain["weights_saved"]),
                         ("int8", 0, False))
        self.assertEqual(run_json("info", "--model", out, "--estimate")["memory"],
                         run_json("info", "--model", out)["memory"])
        header = header_of(out / "model.safetensors")
        about = header["__metadata__"]
        self.assertEqual((about["remora.quantised"], about["remora.weights"],
                          about["remora.int4_group"]), ("1", "int4", "32"))
        self.assertEqual(header["layers.0.attention.wqkv.weight"]["shape"], [16, 8, 16, 4])

    def test_other_weights_than_the_file_holds_are_an_error(self):
        out = self.folder / "out"
        run("quantize", S2, out, check=0)
        self.assertEqual(self.codes("--model", out, "--weights", "int8"),
                         self.codes("--model", out))
        result = run("say", "--model", out, "--weights", "int4", "Hello.", "--codes-out",
                     self.folder / "c.npy")
        self.assert_fails(result, 1, "holds int8 weights", "int4 was asked for")

    def test_report(self):
        report = run_json("quantize", S2, "--report", "--weights", "int4")
        self.assertIsNone(report["out"])
        self.assertEqual(names_in(self.folder), [])
        layers = {error["layer"]: error for error in report["errors"]}
        self.assertEqual(len(layers), 12)
        slow, fast = layers["layers.*.attention.wo"], layers["fast_layers.*.attention.wo"]
        self.assertEqual((slow["weights"], slow["group"]), ("int4", 64))
        self.assertEqual((fast["weights"], fast["group"]), ("int8", 0))
        self.assertGreater(slow["relative_error"], 5 * fast["relative_error"])
        self.assertGreater(fast["relative_error"], 0)
        table = run("quantize", S2, self.folder / "out", "--report", check=0).stdout.decode()
        self.assertEqual(len(table.splitlines()), 2 + 12)
        self.assertTrue(all(line.count("|") == 6 for line in table.splitlines()), table)
        self.assertIn("| layers.*.feed_forward.w1 | int8 |", table)
        self.assertTrue((self.folder / "out" / "model.safetensors").exists())

    def test_random_weights_of_a_released_size(self):
        report = run_json("quantize", "--random", "s2-pro-attn:1", "--report")
        self.assertEqual((report["model"], report["weights"]), ("random s2-pro-attn:1", "int8"))
        self.assertEqual(len(report["errors"]), 12)

    def test_places_that_are_refused(self):
        tiny, out = self.tiny(), self.folder / "out"
        before = {path.name: path.read_bytes() for path in tiny.iterdir()}
        self.assert_fails(run("quantize", tiny, tiny, "--force"), 1, "is the checkpoint itself")
        self.assert_fails(run("quantize", tiny, tiny / "config.json"), 1, "no folder")
        self.assertEqual(before, {path.name: path.read_bytes() for path in tiny.iterdir()})
        out.mkdir()
        run("quantize", tiny, out, check=0)
        self.assert_fails(run("quantize", tiny, out), 1, "not empty", "--force")
        run("quantize", tiny, out, "--weights", "int4", "--force", check=0)
        self.assertEqual(run_json("info", "--model", out)["lm"]["weights"], "int4")
        again = self.folder / "again"
        self.assert_fails(run("quantize", out, again), 1, "holds int4", "the original checkpoint")
        self.assert_fails(run("quantize", out, again, "--weights", "int4"), 1, "quantised already")
        (out / "model.safetensors.index.json").write_text("{}")
        self.assert_fails(run("quantize", tiny, out, "--force"), 1, "index.json")
        self.assertFalse(again.exists())
        for args in ((), (tiny,), (tiny, out, out), ("--random", "s1-mini", tiny, out),
                     (tiny, out, "--weights", "dtype"), (tiny, out, "--group", "48")):
            with self.subTest(args):
                self.assert_fails(run("quantize", *args), 2)

    def limited(self, *args):
        """A run whose files may have 100 kB: as on a full disk, and the signal for it ignored."""
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        result = subprocess.run([PROGRAM, *map(str, args)], capture_output=True, timeout=120,
                                env=clean_environment(), preexec_fn=limit)
        result.stderr = result.stderr.decode()
        return result

    @unittest.skipIf("thread" in os.environ.get("REMORA_SANITIZERS", ""),
                     "ThreadSanitizer itself writes a larger file when it starts")
    def test_a_full_disk_leaves_nothing(self):
        tiny, out = self.tiny(), self.folder / "out"
        (tiny / "codec.safetensors").unlink()
        self.assert_fails(self.limited("quantize", tiny, out), 1, "model.safetensors", "write")
        self.assertFalse(out.exists())
        out.mkdir()
        (out / "mine").write_text("kept")
        self.assert_fails(self.limited("quantize", tiny, out, "--force"), 1, "model.safetensors")
        self.assertEqual(names_in(out), ["mine"])
        (tiny / "codec.safetensors").write_bytes(os.urandom(200_000))
        self.assert_fails(self.limited("quantize", tiny, out, "--force"), 1, "codec.safetensors")
        self.assertEqual(names_in(out), ["mine"])

    def test_ctrl_c_leaves_nothing(self):
        tiny, out = self.tiny(), self.folder / "out"
        os.truncate(tiny / "codec.safetensors", 4 << 30)  # takes no room, but a while to copy
        program = subprocess.Popen([PROGRAM, "quantize", tiny, out],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env=clean_environment())
        while program.poll() is None and not out.exists():
            pass  # until it writes
        program.send_signal(signal.SIGINT)
        program.communicate(timeout=120)
        self.assertEqual(program.returncode, 130)
        self.assertFalse(out.exists())


if __name__ == "__main__":
    unittest.main()
