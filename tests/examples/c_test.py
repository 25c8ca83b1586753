"""The programs of examples/c. Standard library only."""
import array
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "cli"))
import support  # noqa: E402
from support import CliTest, DATA, Wave, clean_environment, read_wave, run, run_json  # noqa: E402

EXAMPLES = pathlib.Path(os.environ["REMORA_EXAMPLES_DIR"])
MODELS = {family: pathlib.Path(os.environ["REMORA_TINY_DIR"]) / family
          for family in ("s2-pro", "s1-mini")}
TEXT = "Hello from remora."
LONG = " ".join(f"Sentence number {n} of a text that takes its time." for n in range(40))


def quantized(floats):
    """As remora_audio_to_s16 does it."""
    return [max(-32768, min(32767, math.floor(x * 32768))) for x in floats]


class ExampleTest(CliTest):
    def example(self, name, *args, check=0, stdout=subprocess.PIPE):
        """Runs a program in the test's folder; `check` is the exit code it must have."""
        result = subprocess.run([EXAMPLES / name, *map(str, args)], cwd=self.folder, stdout=stdout,
                                stderr=subprocess.PIPE, timeout=600, env=clean_environment())
        result.stderr = result.stderr.decode("utf-8", "replace")
        self.assertEqual(result.returncode, check, f"{name} {args}\n{result.stderr}")
        return result

    def spoken(self, model, text=TEXT):
        """Samples of 16 bits that hello.c makes of a text."""
        self.example("hello", model, text)
        return read_wave(self.folder / "hello.wav").samples

    def said(self, model, *options, text=TEXT):
        """The same from the remora command, which decodes all frames in one go."""
        report = run_json("say", "--model", model, text, "-o", self.folder / "said.wav", *options)
        wave = read_wave(self.folder / "said.wav")
        self.assertEqual(len(wave.samples), report["frames"] * 2048)
        return wave.samples

    def assert_same_sound(self, actual, expected):
        # Sums in another order move a sample by 2e-5 of full scale at most: 0.7 of a step.
        self.assertGreater(len(expected), 0)
        self.assert_close(actual, expected, 1)

    def assert_prefix(self, part, whole):
        self.assertLess(len(part), len(whole))
        self.assertEqual(len(part) % 2048, 0)
        self.assertEqual(part, whole[:len(part)])


class Hello(ExampleTest):
    def test_writes_what_the_command_says(self):
        for family, model in MODELS.items():
            with self.subTest(family):
                spoken = self.spoken(model)
                wave = read_wave(self.folder / "hello.wav")
                self.assertEqual((wave.tag, wave.bits, wave.channels, wave.rate), (1, 16, 1, 44100))
                self.assert_same_sound(spoken, self.said(model))

    def test_cut_speech_is_told(self):
        model = self.folder / "random"  # no trained end: it runs into the bound tied to the text
        shutil.copytree(DATA / "lm" / "s2pro_tiny", model)
        shutil.copy(DATA / "codec" / "codec.safetensors", model)
        shutil.copy(DATA / "codec" / "config.json", model / "codec.json")
        result = self.example("hello", model, "No.", check=3)
        self.assertIn("length limit", result.stderr)
        frames = 64 + 5 * len("No.")
        self.assertEqual(len(read_wave(self.folder / "hello.wav").samples), frames * 2048)

    def test_errors_come_with_their_text(self):
        for args, code, word in (((), 2, "usage"), (("no-such-model", TEXT), 1, "no-such-model"),
                                 ((MODELS["s2-pro"], "..."), 1, "say")):
            with self.subTest(args):
                self.assertIn(word, self.example("hello", *args, check=code).stderr)
        self.assertFalse((self.folder / "hello.wav").exists())


class Stream(ExampleTest):
    def stream(self, *args):
        """Samples of 16 bits, and how often the device got less than it wanted."""
        result = self.example("stream", *args)
        wave = Wave(result.stdout, strict=False)
        self.assertEqual((wave.tag, wave.bits, wave.channels, wave.rate), (3, 32, 1, 44100))
        told = re.search(r"first sound: ([\d.]+) ms, underruns: (\d+)", result.stderr)
        self.assertGreater(float(told.group(1)), 0)
        return quantized(wave.samples), int(told.group(2))

    def assert_same_but_for_gaps(self, streamed, whole, underruns):
        """Silence of less than a period each may be anywhere, nothing may be lost or changed."""
        gaps, at = 0, 0
        for sample in streamed:
            if at < len(whole) and sample == whole[at]:
                at += 1
            else:
                self.assertEqual(sample, 0, f"after {at} samples of sound")
                gaps += 1
        self.assertEqual(at, len(whole))
        self.assertEqual(gaps > 0, underruns > 0)
        self.assertLessEqual(gaps, 512 * underruns)

    def test_streamed_sound_is_the_whole_sound(self):
        for family, model in MODELS.items():
            with self.subTest(family):
                streamed, underruns = self.stream(model, TEXT)
                self.assert_same_but_for_gaps(streamed, self.spoken(model), underruns)

    def test_underruns_are_silence_and_nothing_is_lost(self):
        model = MODELS["s2-pro"]
        streamed, underruns = self.stream(model, TEXT, 2000)  # 90 million samples a second
        self.assertGreater(underruns, 0)
        self.assert_same_but_for_gaps(streamed, self.spoken(model), underruns)

    def test_an_output_that_fails_stops_the_model(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full here")
        with open("/dev/full", "wb") as full:
            result = self.example("stream", MODELS["s2-pro"], LONG, 50, check=1, stdout=full)
        self.assertIn("stopped by cancel", result.stderr)

    def test_errors_come_with_their_text(self):
        self.assertIn("no-such-model", self.example("stream", "no-such-model", TEXT, check=1).stderr)
        self.assertIn("usage", self.example("stream", "a", "b", "0", check=2).stderr)


class Callback(ExampleTest):
    def callback(self, *args, check=0):
        result = self.example("callback", MODELS["s2-pro"], *args, check=check)
        return read_wave(self.folder / args[1]).samples, result.stderr

    def test_gives_the_whole_sound_and_its_progress(self):
        began = time.monotonic()
        sound, told = self.callback(TEXT, "a.wav")
        self.assertLess(time.monotonic() - began, 300, "the deadline's thread ends with the speech")
        self.assertEqual(sound, self.spoken(MODELS["s2-pro"]))
        self.assertIn("loading: 100 %", told)
        self.assertIn(f"spoken: {len(sound) / 44100:.2f} s", told)

    def test_the_callback_stops_it(self):
        sound, told = self.callback(TEXT, "a.wav", "0.5", check=3)
        self.assertGreaterEqual(len(sound), 22050)
        self.assert_prefix(sound, self.spoken(MODELS["s2-pro"]))
        self.assertIn("stopped by the audio callback", told)

    def test_another_thread_cancels_it(self):
        for ms in (0, 300):
            with self.subTest(ms=ms):
                sound, told = self.callback(LONG, "a.wav", "100000", ms, check=3)
                self.assertIn("stopped by cancel", told)  # how far it got is the machine's affair
                self.assert_prefix(sound, self.spoken(MODELS["s2-pro"], LONG))

    def test_errors_come_with_their_text(self):
        model = MODELS["s2-pro"]
        for args, code, word in (((model, TEXT, "no/a.wav"), 1, "no/a.wav"),
                                 ((model, TEXT, "a.wav", "-1"), 2, "usage")):
            with self.subTest(args):
                self.assertIn(word, self.example("callback", *args, check=code).stderr)


class Voice(ExampleTest):
    def test_a_recording_becomes_a_voice_that_speaks(self):
        for family, model in MODELS.items():
            with self.subTest(family):
                plain = self.said(model)
                recording = (self.folder / "said.wav").rename(self.folder / "me.wav")
                self.example("voice", model, "me.wav", TEXT, "me.voice", TEXT, "out.wav")
                run("voice", recording, "--transcript", TEXT, "-o", self.folder / "cli.voice",
                    "--model", model, check=0)
                saved = (self.folder / "me.voice").read_bytes()
                self.assertEqual(saved[:8], b"RMRVOICE")
                self.assertEqual(saved, (self.folder / "cli.voice").read_bytes())
                sound = read_wave(self.folder / "out.wav").samples
                self.assert_same_sound(sound, self.said(model, "--voice", self.folder / "me.voice"))
                self.assertNotEqual(sound, plain, "the voice is in the prompt")

    def test_errors_come_with_their_text(self):
        self.said(MODELS["s2-pro"])
        for args, word in ((("no.wav", TEXT, "a.voice"), "no.wav"),
                           (("said.wav", "", "a.voice"), "script"),
                           (("said.wav", TEXT, "no/a.voice"), "no/a.voice")):
            with self.subTest(args):
                result = self.example("voice", MODELS["s2-pro"], *args, TEXT, "out.wav", check=1)
                self.assertIn(word, result.stderr)
        self.assertFalse((self.folder / "out.wav").exists())


class Reader(ExampleTest):
    def pack(self, model, without=""):
        path = self.folder / "voice.pack"
        with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as pack:
            pack.add(model, arcname=".",
                     filter=lambda entry: None if entry.name == f"./{without}" else entry)
        return path

    def test_a_packed_checkpoint_speaks_like_a_folder(self):
        for family, model in MODELS.items():
            with self.subTest(family):
                self.pack(model)
                result = self.example("reader", "voice.pack", TEXT)
                # Weights that were read lie elsewhere than mapped ones, and sums go by alignment.
                self.assert_same_sound(quantized(array.array("f", result.stdout)), self.spoken(model))

    def test_errors_come_with_their_text(self):
        good = self.pack(MODELS["s2-pro"]).read_bytes()
        self.write("cut.pack", good[:len(good) // 2])
        self.write("no.pack", b"This is no archive. " * 100)
        self.pack(MODELS["s2-pro"], without="config.json")
        for name, word in (("voice.pack", "config.json"), ("cut.pack", "(reader)"),
                           ("no.pack", "FORMAT"), ("missing.pack", "missing.pack")):
            with self.subTest(name):
                result = self.example("reader", name, TEXT, check=1)
                self.assertIn(word, result.stderr)
                self.assertEqual(result.stdout, b"")


class Threads(ExampleTest):
    def test_sessions_at_once_say_what_each_says_alone(self):
        for family, model in MODELS.items():
            with self.subTest(family):
                result = self.example("threads", model, TEXT, 3)
                told = result.stdout.decode().splitlines()
                self.assertEqual([line.split(", ")[1] for line in told], ["equal"] * 3)
                sounds = [read_wave(self.folder / f"threads-{i}.wav").samples for i in range(3)]
                for seed, sound in enumerate(sounds):
                    self.assert_same_sound(sound, self.said(model, "--seed", seed))
                self.assertNotEqual(sounds[0], sounds[1])

    def test_errors_come_with_their_text(self):
        for args, code, word in ((("no-such-model", TEXT, 2), 1, "no-such-model"),
                                 ((MODELS["s2-pro"], "", 2), 1, "say"),
                                 ((MODELS["s2-pro"], TEXT, 0), 2, "usage")):
            with self.subTest(args):
                self.assertIn(word, self.example("threads", *args, check=code).stderr)


if __name__ == "__main__":
    unittest.main()
