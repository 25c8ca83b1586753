"""Runs the remora program and reads what it writes. Standard library only."""
import array
import ast
import json
import os
import pathlib
import struct
import subprocess
import tempfile
import unittest

PROGRAM = os.environ["REMORA_PROGRAM"]
DATA = pathlib.Path(__file__).resolve().parent.parent / "data"
S2 = DATA / "lm" / "s2pro_tiny"
S1 = DATA / "lm" / "s1mini_tiny"
S1_PROJ = DATA / "lm" / "s1proj_tiny"
CODEC = DATA / "codec"

# Sums in another order than the reference's; the tiny codec's outputs reach 1.
WAVE_TOLERANCE = 2e-5


def run(*args, stdin=b"", env=None, check=None, timeout=120, cwd=None, program=PROGRAM):
    """One run of the program; `check` is the exit code it must have."""
    command = [str(program), *map(str, args)]
    result = subprocess.run(command, input=stdin, capture_output=True, timeout=timeout, cwd=cwd,
                            env=env if env is not None else clean_environment())
    result.stderr = result.stderr.decode("utf-8", "replace")
    if check is not None and result.returncode != check:
        raise AssertionError(f"{command} ended with {result.returncode}, expected {check}\n"
                             f"{result.stderr}")
    return result


def clean_environment(**extra):
    """Without settings of the person who runs the tests; one thread, as the references had."""
    env = {k: v for k, v in os.environ.items() if k != "REMORA_MODEL"}
    env.update(OMP_NUM_THREADS="1", MKL_NUM_THREADS="1", **extra)
    return env


def run_json(*args, **more):
    """The one JSON object of a run that must succeed."""
    result = run(*args, "--json", check=more.pop("check", 0), **more)
    lines = result.stdout.decode("utf-8").splitlines()
    if len(lines) != 1:
        raise AssertionError(f"stdout has {len(lines)} lines, expected one JSON object")
    return json.loads(lines[0])


class Safetensors:
    """Integer and float32 tensors of one file, flat, with their shapes."""

    def __init__(self, relative):
        raw = (DATA / relative).read_bytes()
        length, = struct.unpack("<Q", raw[:8])
        self.index = json.loads(raw[8:8 + length])
        self.data = raw[8 + length:]

    def shape(self, name):
        return self.index[name]["shape"]

    def flat(self, name):
        entry = self.index[name]
        begin, end = entry["data_offsets"]
        values = array.array({"I16": "h", "I32": "i", "F32": "f"}[entry["dtype"]])
        values.frombytes(self.data[begin:end])
        return values.tolist()

    def rows(self, name):
        """A matrix as a list of rows; axes in front must have size 1."""
        columns = self.shape(name)[-1]
        flat = self.flat(name)
        return [flat[i:i + columns] for i in range(0, len(flat), columns)]


def npy_bytes(rows, type_code="<i4", fortran=False, version=1):
    """A .npy file, written apart from the program's own writer."""
    n_rows, n_columns = len(rows), len(rows[0])
    header = (f"{{'descr': '{type_code}', 'fortran_order': {fortran}, "
              f"'shape': ({n_rows}, {n_columns}), }}").encode()
    prefix = 10 if version == 1 else 12
    header += b" " * (-(prefix + len(header) + 1) % 64) + b"\n"
    length = struct.pack("<H" if version == 1 else "<I", len(header))
    values = [rows[r][c] for c in range(n_columns) for r in range(n_rows)] if fortran else \
             [v for row in rows for v in row]
    letter = {"i1": "b", "u1": "B", "i2": "h", "u2": "H", "i4": "i", "u4": "I", "i8": "q",
              "u8": "Q", "f4": "f"}[type_code[1:]]
    order = ">" if type_code[0] == ">" else "<"
    return (b"\x93NUMPY" + bytes([version, 0]) + length + header +
            struct.pack(f"{order}{len(values)}{letter}", *values))


def read_npy(path):
    """Rows of an int32 .npy file, read apart from the program's own reader."""
    raw = pathlib.Path(path).read_bytes()
    if raw[:8] != b"\x93NUMPY\x01\x00":
        raise AssertionError("not .npy 1.0")
    length, = struct.unpack("<H", raw[8:10])
    if (10 + length) % 64 != 0 or raw[9 + length:10 + length] != b"\n":
        raise AssertionError("the header is not padded as the format asks")
    header = ast.literal_eval(raw[10:10 + length].decode())
    if header["descr"] != "<i4" or header["fortran_order"]:
        raise AssertionError(f"unexpected header {header}")
    n_rows, n_columns = header["shape"]
    data = raw[10 + length:]
    if len(data) != 4 * n_rows * n_columns:
        raise AssertionError("data and shape do not fit together")
    values = struct.unpack(f"<{n_rows * n_columns}i", data)
    return [list(values[r * n_columns:(r + 1) * n_columns]) for r in range(n_rows)]


class Wave:
    """A RIFF file, its chunks read strictly; `strict` also wants true sizes."""

    def __init__(self, raw, strict=True):
        if raw[:4] != b"RIFF" or raw[8:12] != b"WAVE":
            raise AssertionError("not a WAV file")
        self.riff_size, = struct.unpack("<I", raw[4:8])
        if strict and self.riff_size != len(raw) - 8:
            raise AssertionError(f"RIFF size {self.riff_size} in a file of {len(raw)} bytes")
        at, self.samples = 12, None
        while at < len(raw) and self.samples is None:
            name, (size,) = raw[at:at + 4], struct.unpack("<I", raw[at + 4:at + 8])
            body = raw[at + 8:at + 8 + size]
            if name == b"fmt ":
                self.tag, self.channels, self.rate, _, _, self.bits = \
                    struct.unpack("<HHIIHH", body[:16])
                if self.tag == 0xFFFE:
                    self.tag, = struct.unpack("<H", body[24:26])
            elif name == b"data":
                self.data_size = size
                self.samples = self.decode(body)
            at += 8 + size + size % 2
        if self.samples is None:
            raise AssertionError("no data chunk")

    def decode(self, body):
        kind = {(1, 16): "h", (3, 32): "f"}[self.tag, self.bits]
        values = array.array(kind)
        values.frombytes(body[:len(body) - len(body) % values.itemsize])
        return values.tolist()


def read_wave(path):
    return Wave(pathlib.Path(path).read_bytes())


def shared_folder(test_class):
    """A folder for all tests of a class, as `test_class.shared`; the caller cleans it up."""
    folder = tempfile.TemporaryDirectory(prefix="remora-cli-")
    test_class.shared = pathlib.Path(folder.name)
    return folder


class CliTest(unittest.TestCase):
    """Each test has a folder of its own, `self.folder`."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="remora-cli-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, content):
        path = self.folder / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def assert_close(self, actual, expected, tolerance):
        self.assertEqual(len(actual), len(expected))
        worst = max((abs(a - e) for a, e in zip(actual, expected)), default=0)
        self.assertLessEqual(worst, tolerance)

    def assert_fails(self, result, code, *words):
        """One clear line on stderr, nothing on stdout."""
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertEqual(result.stdout, b"")
        lines = result.stderr.strip().splitlines()
        self.assertTrue(lines and lines[-1].startswith("remora: "), result.stderr)
        for word in words:
            self.assertIn(word, lines[-1])
