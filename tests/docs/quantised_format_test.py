"""Reads a quantised checkpoint as docs/quantised-format.md says, and with nothing else.

usage: quantised_format_test.py ROOT PROGRAM [unittest arguments]
"""

import json
import re
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT, PROGRAM = Path(sys.argv.pop(1)), sys.argv.pop(1)
DOCUMENT = (ROOT / "docs" / "quantised-format.md").read_text(encoding="utf-8")
ROWS, PAD = 16, 64


class File:
    """A safetensors file: names to (dtype, shape, bytes)."""

    def __init__(self, path: Path) -> None:
        raw = path.read_bytes()
        length, = struct.unpack("<Q", raw[:8])
        header = json.loads(raw[8:8 + length])
        self.data_start = 8 + length
        self.about = header.pop("__metadata__", {})
        self.tensors = {}
        for name, entry in header.items():
            begin, end = entry["data_offsets"]
            self.tensors[name] = (entry["dtype"], entry["shape"],
                                  raw[self.data_start + begin:self.data_start + end])

    def floats(self, name: str) -> list[float]:
        dtype, _, raw = self.tensors[name]
        if dtype == "BF16":
            return [struct.unpack("<f", b"\0\0" + raw[i:i + 2])[0] for i in range(0, len(raw), 2)]
        kind = {"F32": "f", "F16": "e"}[dtype]
        return list(struct.unpack(f"<{len(raw) // struct.calcsize(kind)}{kind}", raw))


def up(n: int, multiple: int) -> int:
    return (n + multiple - 1) // multiple * multiple


def int8_rows(file: File, name: str, rows: int, columns: int) -> list[list[float]]:
    weight, scales = file.tensors[name + ".weight"][2], file.floats(name + ".scales")
    out = [[0.0] * columns for _ in range(rows)]
    for row in range(rows):
        b, r = divmod(row, ROWS)
        for column in range(columns):
            q, j = divmod(column, 4)
            at = ((b * (up(columns, PAD) // 4) + q) * ROWS + r) * 4 + j
            out[row][column] = (weight[at] - 128) * scales[b * ROWS + r]
    return out


def int4_rows(file: File, name: str, rows: int, columns: int, group: int) -> list[list[float]]:
    weight, scales = file.tensors[name + ".weight"][2], file.floats(name + ".scales")
    groups = up(columns, PAD) // group
    out = [[0.0] * columns for _ in range(rows)]
    for row in range(rows):
        b, r = divmod(row, ROWS)
        for column in range(columns):
            q, j = divmod(column, 8)
            byte = weight[((b * (up(columns, PAD) // 8) + q) * ROWS + r) * 4 + j % 4]
            stored = byte & 15 if j < 4 else byte >> 4
            out[row][column] = (stored - 8) * scales[(b * groups + column // group) * ROWS + r]
    return out


class Format(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="remora-format-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.run_program("make-tiny", cls.folder / "tiny", "--family", "s1-mini")
        cls.original = File(cls.folder / "tiny" / "model.safetensors")
        cls.files = {}
        for name, options in (("int8", ()), ("int4", ("--weights", "int4", "--group", "32"))):
            cls.run_program("quantize", cls.folder / "tiny", cls.folder / name, *options)
            cls.files[name] = File(cls.folder / name / "model.safetensors")

    @staticmethod
    def run_program(*args):
        subprocess.run([PROGRAM, *map(str, args)], check=True, capture_output=True)

    def rows(self, name: str) -> list[list[float]]:
        columns = self.original.tensors[name + ".weight"][1][1]
        flat = self.original.floats(name + ".weight")
        return [flat[i:i + columns] for i in range(0, len(flat), columns)]

    def assert_near(self, kept, original, step):
        for kept_row, row in zip(kept, original):
            bound = step * max(map(abs, row)) + 1e-9
            self.assertLessEqual(max(abs(a - b) for a, b in zip(kept_row, row)), bound)

    def test_int8_numbers_are_the_originals_within_half_a_step(self):
        for name in ("layers.0.attention.wqkv", "fast_layers.1.feed_forward.w2"):
            rows = self.rows(name)
            kept = int8_rows(self.files["int8"], name, len(rows), len(rows[0]))
            self.assert_near(kept, rows, 0.5001 / 127)

    def test_int4_numbers_are_the_originals_within_a_step(self):
        for name in ("layers.0.attention.wo", "layers.2.feed_forward.w2"):
            rows = self.rows(name)
            kept = int4_rows(self.files["int4"], name, len(rows), len(rows[0]), 32)
            self.assert_near(kept, rows, 1.01 / 8)
        # What the table calls 8 bit at int4.
        rows = self.rows("fast_layers.0.attention.wo")
        kept = int8_rows(self.files["int4"], "fast_layers.0.attention.wo", len(rows), len(rows[0]))
        self.assert_near(kept, rows, 0.5001 / 127)

    def test_the_head_has_the_rows_that_the_document_names(self):
        file, about = self.files["int8"], self.files["int8"].about
        begin, end = int(about["remora.semantic_begin"]), int(about["remora.semantic_end"])
        tokens = sorted([*range(begin, end + 1), int(about["remora.end_token"])])
        name = "output" if "output.weight" in self.original.tensors else "embeddings"
        table = self.rows(name)
        kept = int8_rows(file, "output", len(tokens), len(table[0]))
        self.assert_near(kept, [table[token] for token in tokens], 0.5001 / 127)

    def test_every_tensor_and_key_is_in_the_document_and_lies_as_it_says(self):
        named = set(re.findall(r"`([a-zN_.0-9]+)`", DOCUMENT))
        for file in self.files.values():
            self.assertEqual(set(file.about) - named, set())
            self.assertEqual(file.about["remora.quantised"], "1")
            self.assertEqual(file.data_start % 64, 0)
            order = [("U8", "F32", "F16", "BF16").index(t[0]) for t in file.tensors.values()]
            self.assertEqual([min(n, 2) for n in order], sorted(min(n, 2) for n in order))
            for name in file.tensors:
                general = re.sub(r"\.\d+\.", ".N.", name)
                stem = re.sub(r"\.(weight|scales|bias)$", "", general)
                inside = re.sub(r"^(fast_)?layers\.N\.", "", general)
                self.assertTrue({general, stem, inside} & named, name)


if __name__ == "__main__":
    unittest.main()
