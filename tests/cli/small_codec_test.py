"""A checkpoint whose codec is not the released one: 16 kHz, frames of 800 samples, tables of 512 and
256 entries, six codebooks. Every size in files and reports must be the checkpoint's own."""
import math
import struct
import unittest

import support
from support import CliTest, npy_bytes, run, run_json

RATE, FRAME, ROWS, SEMANTIC, RESIDUAL = 16000, 800, 6, 512, 256
TEXT = "Hello from a small voice."


def tone_file(rate, seconds):
    samples = [int(9000 * math.sin(2 * math.pi * 220 * i / rate)) for i in range(int(rate * seconds))]
    data = struct.pack(f"<{len(samples)}h", *samples)
    return (b"RIFF" + struct.pack("<I", 36 + len(data)) + b"WAVEfmt " +
            struct.pack("<IHHIIHH", 16, 1, 1, rate, 2 * rate, 2, 16) + b"data" +
            struct.pack("<I", len(data)) + data)


class SmallCodec(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.addClassCleanup(support.shared_folder(cls).cleanup)
        run("make-tiny", cls.shared / "model", "--family", "s2-pro-16k", check=0)
        cls.model = ("--model", cls.shared / "model")

    def test_info_has_its_sizes(self):
        info = run_json("info", *self.model)
        self.assertEqual((info["lm"]["n_codebooks"], info["lm"]["codebook_size"]), (ROWS, SEMANTIC))
        self.assertEqual((info["codec"]["sample_rate"], info["codec"]["samples_per_frame"]),
                         (RATE, FRAME))
        self.assertEqual(info["codec"]["frames_per_second"], RATE / FRAME)

    def test_speech_has_its_rate_and_length_and_ends_by_itself(self):
        wave_file, codes_file = self.folder / "a.wav", self.folder / "a.npy"
        for seed in (1, 2, 3):
            report = run_json("say", *self.model, TEXT, "--seed", seed, "-o", wave_file,
                              "--codes-out", codes_file)
            wave, frames = support.read_wave(wave_file), report["frames"]
            self.assertEqual((report["finish"], report["sample_rate"]), ("end_token", RATE))
            self.assertEqual((wave.rate, len(wave.samples)), (RATE, frames * FRAME))
            self.assertEqual((report["samples"], report["duration_s"]),
                             (frames * FRAME, frames * FRAME / RATE))
            self.assert_codes(support.read_npy(codes_file), frames)
            self.assertGreater(max(map(abs, wave.samples)), 500)

    def assert_codes(self, codes, frames):
        self.assertEqual((len(codes), len(codes[0])), (ROWS, frames))
        # Both halves of the semantic table are drawn from, and no code that the codec lacks.
        self.assertTrue(RESIDUAL <= max(codes[0]) < SEMANTIC)
        self.assertLess(max(map(max, codes[1:])), RESIDUAL)
        self.assertGreaterEqual(min(map(min, codes)), 0)

    def test_streamed_speech_equals_whole(self):
        for name, extra in (("whole", ()), ("pieces", ("--stream",))):
            run("say", *self.model, TEXT, "--float", "-o", self.folder / f"{name}.wav", *extra,
                check=0)
        whole = support.read_wave(self.folder / "whole.wav")
        pieces = support.read_wave(self.folder / "pieces.wav")
        self.assertEqual(pieces.rate, RATE)
        self.assert_close(pieces.samples, whole.samples, support.WAVE_TOLERANCE)

    def test_a_stream_names_its_rate(self):
        wave = support.Wave(run("say", *self.model, TEXT, "-o", "-", check=0).stdout, strict=False)
        self.assertEqual(wave.rate, RATE)

    def test_opus_is_made_at_its_own_rate(self):
        run("say", *self.model, TEXT, "-o", self.folder / "a.ogg", check=0)
        self.assertEqual((self.folder / "a.ogg").read_bytes()[:4], b"OggS")

    def test_sound_of_any_rate_becomes_its_codes_and_back(self):
        for rate in (16000, 44100, 48000, 8000):
            with self.subTest(rate=rate):
                sound = self.write("in.wav", tone_file(rate, 1.03))
                codes, out = self.folder / "c.npy", self.folder / "out.wav"
                report = run_json("encode", sound, *self.model, "-o", codes)
                self.assertEqual(report["frames"], math.ceil(1.03 * RATE / FRAME))
                self.assertEqual(len(support.read_npy(codes)), ROWS)
                run("decode", codes, *self.model, "-o", out, check=0)
                wave = support.read_wave(out)
                self.assertEqual((wave.rate, len(wave.samples)), (RATE, report["frames"] * FRAME))
                run("roundtrip", sound, *self.model, "-o", self.folder / "both.wav", check=0)
                self.assertEqual(support.read_wave(self.folder / "both.wav").samples, wave.samples)

    def test_decoding_in_pieces_equals_whole(self):
        rows = [[(7 * row + 31 * i) % RESIDUAL for i in range(23)] for row in range(ROWS)]
        rows[0] = [(97 * i) % SEMANTIC for i in range(23)]
        codes = self.write("c.npy", npy_bytes(rows))
        run("decode", codes, *self.model, "--float", "-o", self.folder / "whole.wav", check=0)
        run("decode", codes, *self.model, "--float", "--stream", 5, "-o", self.folder / "p.wav",
            check=0)
        self.assert_close(support.read_wave(self.folder / "p.wav").samples,
                          support.read_wave(self.folder / "whole.wav").samples,
                          support.WAVE_TOLERANCE)

    def test_codes_past_a_residual_table_are_its_last_entry(self):
        def sound(code):
            codes = self.write("c.npy", npy_bytes([[5, 6, 7]] + [[code] * 3] * (ROWS - 1)))
            return run("decode", codes, *self.model, "--raw", check=0).stdout
        self.assertEqual(sound(RESIDUAL + 40), sound(RESIDUAL - 1))
        self.assertNotEqual(sound(RESIDUAL - 2), sound(RESIDUAL - 1))

    def test_a_voice_of_it_is_refused_by_another_codec(self):
        sound = self.write("in.wav", tone_file(RATE, 1))
        voice = self.folder / "v.voice"
        run("voice", sound, *self.model, "--transcript", "A tone.", "-o", voice, check=0)
        run_json("say", *self.model, "--voice", voice, TEXT, "-o", self.folder / "a.wav")
        run("make-tiny", self.folder / "other", check=0)
        result = run("say", "--model", self.folder / "other", "--voice", voice, TEXT, "-o",
                     self.folder / "b.wav")
        self.assert_fails(result, 1, "v.voice")

    def test_it_speaks_with_quantised_weights(self):
        for weights in ("int8", "int4"):
            report = run_json("say", *self.model, "--weights", weights, TEXT, "--codes-out",
                              self.folder / "c.npy", "-o", self.folder / "a.wav")
            self.assertEqual(report["finish"], "end_token")
            self.assertLess(max(map(max, support.read_npy(self.folder / "c.npy")[1:])), RESIDUAL)

    def test_bench_counts_in_its_frames(self):
        report = run_json("bench", *self.model, "--prompts", 32, "--repeat", 1, "--threads", 1)
        self.assertGreater(report["codec"]["rtf"], 0)
        self.assertGreater(report["bytes_per_frame"], 0)


if __name__ == "__main__":
    unittest.main()
