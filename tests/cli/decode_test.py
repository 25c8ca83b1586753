"""`decode` against the reference's waveforms, and the .npy files it takes."""
import unittest

import support
from support import CODEC, S2, CliTest, npy_bytes, run, run_json

TENSORS = support.Safetensors("codec/decode.safetensors")


class ReferenceWaveforms(CliTest):
    def decode(self, case, *options):
        codes = self.write("codes.npy", npy_bytes(TENSORS.rows(f"codes.{case}")))
        wave = self.folder / "out.wav"
        report = run_json("decode", codes, "--codec", CODEC, "--float", "-o", wave, *options)
        samples = support.read_wave(wave).samples
        self.assertEqual(report["samples"], len(samples))
        self.assertEqual(report["frames"] * 2048, len(samples))
        return samples

    def test_whole_clips(self):
        for case in ("f1", "f2", "f17", "f100", "clamp_f4"):
            with self.subTest(case=case):
                self.assert_close(self.decode(case), TENSORS.flat(f"wav.{case}"),
                                  support.WAVE_TOLERANCE)

    def test_pieces(self):
        for frames in (1, 3, 4, 7, 25):
            with self.subTest(frames=frames):
                self.assert_close(self.decode("f100", "--stream", frames),
                                  TENSORS.flat("wav.f100"), support.WAVE_TOLERANCE)


class CodeFiles(CliTest):
    rows = TENSORS.rows("codes.f2")

    def raw(self, content):
        path = self.write("codes.npy", content)
        return run("decode", path, "--codec", CODEC, "--raw", "--float")

    def test_every_integer_type_and_order_is_read(self):
        small = [[value % 100 for value in row] for row in self.rows]
        expected = self.raw(npy_bytes(small))
        self.assertEqual(len(expected.stdout), 2 * 2048 * 4)
        for type_code in ("|i1", "|u1", "<i2", "<u2", ">i2", ">i4", "<u4", "<i8", ">i8", "<u8"):
            for fortran in (False, True):
                with self.subTest(type=type_code, fortran=fortran):
                    got = self.raw(npy_bytes(small, type_code, fortran))
                    self.assertEqual((got.returncode, got.stdout), (0, expected.stdout))
        self.assertEqual(self.raw(npy_bytes(small, version=2)).stdout, expected.stdout)

    def test_damaged_files_are_named(self):
        good = npy_bytes(self.rows)
        cases = {
            "empty": (b"", "not a .npy"),
            "text": (b"hello there, this is no array", "not a .npy"),
            "cut in the header": (good[:40], "cut"),
            "cut in the data": (good[:-3], "cut"),
            "floats": (npy_bytes(self.rows, "<f4"), "f4"),
            "three dimensions": (good.replace(b"(10, 2), ", b"(10, 2,1)"), "dimensions"),
            "huge shape": (good.replace(b"(10, 2), }      ", b"(99999999, 99999)"), "more than"),
            "no shape": (good.replace(b"'shape'", b"'shade'"), "shape"),
            "outside 32 bits": (npy_bytes([[2**40, 1]] * 10, "<i8"), "32 bits"),
            "no frames": (good.replace(b"(10, 2)", b"(10, 0)"), "no codes"),
        }
        for name, (content, word) in cases.items():
            with self.subTest(name):
                self.assertNotEqual(content, good)
                self.assert_fails(self.raw(content), 1, "codes.npy", word)

    def test_wrong_number_of_rows_names_both(self):
        self.assert_fails(self.raw(npy_bytes(self.rows[:6])), 1, "6", "10")

    def test_negative_code_is_an_error(self):
        rows = [row[:] for row in self.rows]
        rows[3][1] = -1
        self.assert_fails(self.raw(npy_bytes(rows)), 1)

    def test_codes_of_a_model_with_fewer_codebooks(self):
        codes = self.write("six.npy", npy_bytes([row[:] for row in self.rows[:6]]))
        result = run("decode", codes, "--model", S2, "--codec", CODEC, "--raw", check=0)
        self.assertEqual(len(result.stdout), 2 * 2048 * 2)


if __name__ == "__main__":
    unittest.main()
