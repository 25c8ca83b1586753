"""`make-tiny` and `--random`."""
import json
import unittest

import support
from support import CliTest, run, run_json

HELLO = "Hello from remora."


class MakeTiny(CliTest):
    def make(self, name, *options):
        run("make-tiny", self.folder / name, *options, check=0)
        return self.folder / name

    @staticmethod
    def content(folder):
        return {file.name: file.read_bytes() for file in folder.iterdir()}

    def test_folder_depends_on_the_seed_alone(self):
        for family in ("s2-pro", "s1-mini"):
            with self.subTest(family):
                first = self.content(self.make(f"{family}a", "--family", family))
                again = self.content(self.make(f"{family}b", "--family", family))
                other = self.content(self.make(f"{family}c", "--family", family, "--seed", 7))
                self.assertEqual(first, again)
                self.assertNotEqual(first["model.safetensors"], other["model.safetensors"])
                self.assertLess(sum(map(len, first.values())), 4 << 20)

    def test_real_layout(self):
        config = json.loads((self.make("s2") / "config.json").read_text())
        self.assertEqual(config["model_type"], "fish_qwen3_omni")
        self.assertIn("num_codebooks", config["audio_decoder_config"])
        s1 = self.make("s1", "--family", "s1-mini")
        self.assertEqual(json.loads((s1 / "config.json").read_text())["model_type"], "dual_ar")
        self.assertTrue((s1 / "tokenizer.tiktoken").exists())

    def test_speech_ends_by_itself_in_a_plausible_time(self):
        for family in ("s2-pro", "s1-mini"):
            model = self.make(family, "--family", family)
            for seed in (None, 1, 2, 3):
                with self.subTest(family=family, seed=seed):
                    extra = [] if seed is None else ["--seed", seed]
                    report = run_json("say", "--model", model, HELLO, "-o",
                                      self.folder / "a.wav", *extra)
                    self.assertEqual(report["finish"], "end_token")
                    wave = support.read_wave(self.folder / "a.wav")
                    seconds = len(wave.samples) / wave.rate
                    self.assertTrue(1 <= seconds <= 8, seconds)
                    loudness = (sum(s * s for s in wave.samples) / len(wave.samples)) ** 0.5
                    self.assertTrue(0.02 < loudness / 32768 < 0.5, loudness)

    def test_longer_text_is_spoken_longer(self):
        model = self.make("s2")
        frames = [run_json("say", "--model", model, text, "--codes-out", self.folder / "c.npy")
                  ["frames"] for text in (HELLO, HELLO * 8)]
        self.assertGreater(frames[1], 1.5 * frames[0])

    def test_folder_that_is_not_empty_is_left_alone(self):
        self.write("file", "mine")
        self.assert_fails(run("make-tiny", self.folder), 1, "not empty")
        self.assertEqual([f.name for f in self.folder.iterdir()], ["file"])


class RandomModels(CliTest):
    def test_prompts_have_the_released_ids(self):
        s2 = run_json("prompt", "--random", "s2-pro", "Hi")["tokens"]
        self.assertEqual(len(s2), 11)
        self.assertEqual((s2[0][0], s2[0][-1]), (151644, 151673))  # <|im_start|>, <|voice|>
        self.assertIn(151645, s2[0])
        s1 = run_json("prompt", "--random", "s1-mini", "Hi")["tokens"]
        self.assertEqual(s1[0][0], 151654)  # <|interleave|>

    def test_attention_shapes_speak(self):
        report = run_json("say", "--random", "s2-pro-attn", "--dtype", "bf16", "--max-frames", 2,
                          "--codes-out", self.folder / "c.npy", "Hi", check=3)
        self.assertEqual(report["frames"], 2)
        # 36 layers, K and V, 8 heads of 128, bfloat16: an S2-Pro position
        self.assertGreaterEqual(report["kv_bytes"], report["kv_len"] * 36 * 2 * 8 * 128 * 2)


if __name__ == "__main__":
    unittest.main()
