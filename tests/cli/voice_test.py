"""`encode`, `roundtrip`, `voice` and `say --voice`, with the reference codec and sounds."""
import array
import struct
import unittest

import support
from support import CODEC, S2, CliTest, run, run_json

TENSORS = support.Safetensors("codec/encode.safetensors")


def wav_bytes(samples, rate=44100, channels=1):
    """16-bit WAV of interleaved integer samples."""
    data = array.array("h", samples).tobytes()
    header = struct.pack("<IHHIIHH", 16, 1, channels, rate, rate * channels * 2, channels * 2, 16)
    return (b"RIFF" + struct.pack("<I", 36 + len(data)) + b"WAVEfmt " + header + b"data" +
            struct.pack("<I", len(data)) + data)


class Encode(CliTest):
    def test_codes_equal_the_reference(self):
        compared = 0
        for name in sorted(TENSORS.index):
            if not name.startswith("audio."):
                continue
            case = name.split(".", 1)[1]
            with self.subTest(case):
                sound = self.write("in.wav", wav_bytes(TENSORS.flat(name)))
                codes = self.folder / "codes.npy"
                report = run_json("encode", sound, "--codec", CODEC, "-o", codes)
                expected = TENSORS.rows(f"codes.{case}")
                self.assertEqual(support.read_npy(codes), expected)
                self.assertEqual((report["codebooks"], report["frames"]),
                                 (len(expected), len(expected[0])))
                compared += 1
        self.assertGreater(compared, 5)

    def test_RB_27_other_rates_and_channels_keep_the_length(self):
        for rate, channels in ((8000, 1), (22050, 2), (48000, 6), (96000, 1)):
            with self.subTest(rate=rate, channels=channels):
                samples = [i * 37 % 101 * 60 - 3000 for i in range(rate // 2 * channels)]
                sound = self.write("in.wav", wav_bytes(samples, rate, channels))
                report = run_json("roundtrip", sound, "--codec", CODEC)
                self.assertEqual(report["frames"], -(-44100 // 2 // 2048))
                self.assertEqual(report["samples"], report["frames"] * 2048)

    def test_roundtrip_equals_encode_and_decode(self):
        sound = self.write("in.wav", wav_bytes(TENSORS.flat("audio.speech")))
        codes, both, apart = (self.folder / n for n in ("c.npy", "both.wav", "apart.wav"))
        run("encode", sound, "--codec", CODEC, "-o", codes, check=0)
        run("decode", codes, "--codec", CODEC, "--float", "-o", apart, check=0)
        run("roundtrip", sound, "--codec", CODEC, "--float", "-o", both, check=0)
        self.assertEqual(both.read_bytes(), apart.read_bytes())

    def test_what_is_no_sound_is_named(self):
        for name, content in (("text.wav", "this is text"), ("empty.wav", b"")):
            path = self.write(name, content)
            self.assert_fails(run("encode", path, "--codec", CODEC, "--json"), 1, name)
        self.assert_fails(run("encode", self.folder / "no.wav", "--codec", CODEC, "--json"), 1,
                          "no.wav")
        self.assert_fails(run("encode", self.folder, "--codec", CODEC, "--json"), 1)


class Voices(CliTest):
    words = "The words that are spoken."

    def setUp(self):
        super().setUp()
        self.sound = self.write("voice.wav", wav_bytes(TENSORS.flat("audio.speech")))
        # The reference's language model has smaller code tables than the reference codec.
        run("make-tiny", self.folder / "tiny", check=0)
        self.model = ("--model", self.folder / "tiny")

    def prompt(self, *voice):
        return run_json("prompt", *self.model, "Hello there.", *voice)

    def test_recording_saved_voice_and_codes_give_the_same_prompt(self):
        saved, codes = self.folder / "v.voice", self.folder / "c.npy"
        run("voice", self.sound, *self.model, "--transcript", self.words, "-o", saved, check=0)
        run("encode", self.sound, *self.model, "-o", codes, check=0)
        from_sound = self.prompt("--voice", self.sound, "--transcript", self.words)
        self.assertEqual(self.prompt("--voice", saved), from_sound)
        self.assertEqual(self.prompt("--voice-codes", codes, "--transcript", self.words), from_sound)
        self.assertGreater(from_sound["columns"], self.prompt()["columns"] + 10)

    def test_speakers_keep_the_order_typed(self):
        codes = self.write("c.npy", support.npy_bytes([[row + 1] * 3 for row in range(4)]))
        first = self.prompt("--voice-codes", codes, "--transcript", "Codes.", "--voice",
                            self.sound, "--transcript", self.words)
        second = self.prompt("--voice", self.sound, "--transcript", self.words, "--voice-codes",
                             codes, "--transcript", "Codes.")
        self.assertEqual(first["columns"], second["columns"])
        self.assertNotEqual(first["tokens"], second["tokens"])

    def test_say_uses_the_voice(self):
        base = ("say", *self.model, "--greedy", "--max-frames", 8, "Hello there.", "--codes-out")
        plain, voiced = self.folder / "plain.npy", self.folder / "voiced.npy"
        run(*base, plain, check=3)
        result = run(*base, voiced, "--voice", self.sound, "--transcript", self.words)
        self.assertIn(result.returncode, (0, 3), result.stderr)
        self.assertNotEqual(plain.read_bytes(), voiced.read_bytes())

    def test_two_speakers_from_recordings_and_from_saved_voices_say_the_same(self):
        other = self.write("other.wav", wav_bytes(TENSORS.flat("audio.sweep")))
        saved = [self.folder / "a.voice", self.folder / "b.voice"]
        for sound, words, path in zip((self.sound, other), (self.words, "Others."), saved):
            run("voice", sound, *self.model, "--transcript", words, "-o", path, check=0)
        turns = "<|speaker:0|>Good morning!<|speaker:1|>Hello there."
        base = ("say", *self.model, "--greedy", "--max-frames", 8, turns, "--codes-out")
        frame = run_json("info", *self.model)["codec"]["samples_per_frame"]

        def codes(name, *voices):
            result = run(*base, self.folder / name, *voices, "--stream", "-o", self.folder / "a.wav")
            self.assertIn(result.returncode, (0, 3), result.stderr)
            spoken = support.read_npy(self.folder / name)
            self.assertEqual(len(support.read_wave(self.folder / "a.wav").samples),
                             len(spoken[0]) * frame)
            return spoken

        recorded = codes("recorded.npy", "--voice", self.sound, "--transcript", self.words,
                         "--voice", other, "--transcript", "Others.")
        self.assertEqual(codes("saved.npy", "--voice", saved[0], "--voice", saved[1]), recorded)
        self.assertEqual(codes("mixed.npy", "--voice", self.sound, "--voice", saved[1],
                               "--transcript", self.words), recorded)
        self.assertNotEqual(codes("turned.npy", "--voice", saved[1], "--voice", saved[0]), recorded)

    def test_voice_of_another_codec_is_named(self):
        saved = self.folder / "v.voice"
        run("voice", self.sound, *self.model, "--transcript", self.words, "-o", saved, check=0)
        run("make-tiny", self.folder / "two", "--seed", 2, check=0)
        result = run("say", *self.model, "--codec", self.folder / "two", "Hi", "--voice", saved, "-o",
                     self.folder / "a.wav")
        self.assert_fails(result, 1, "v.voice", "made with the codec", "the model has the codec")
        self.assertFalse((self.folder / "a.wav").exists())

    def test_damaged_voice_is_named(self):
        saved = self.folder / "v.voice"
        run("voice", self.sound, *self.model, "--transcript", self.words, "-o", saved, check=0)
        raw = bytearray(saved.read_bytes())
        raw[len(raw) // 2] ^= 1
        for content in (bytes(raw), bytes(raw[:50]), b"", b"no voice at all"):
            bad = self.write("bad.voice", content)
            self.assert_fails(run("prompt", *self.model, "Hi", "--voice", bad), 1, "bad.voice")

    def test_codes_outside_the_models_tables_are_refused(self):
        result = run("prompt", "--model", S2, "--codec", CODEC, "Hi", "--voice", self.sound,
                     "--transcript", self.words)
        self.assert_fails(result, 1, "codebook")

    def test_RB_29_half_filled_requests_say_which_half(self):
        self.assert_fails(run("prompt", *self.model, "Hi", "--voice", self.sound), 2, "transcript")
        self.assert_fails(run("voice", self.sound, *self.model, "--transcript", " ", "-o",
                              self.folder / "v.voice"), 1, "transcript")
        self.assertFalse((self.folder / "v.voice").exists())


if __name__ == "__main__":
    unittest.main()
