"""Writes tests/data/pth: small checkpoints in every form in which Python saves one.

usage: make_pth_files.py OUTPUT_DIR      (needs the torch package)
Each tensor holds 0, 1, 2, ... so that the tests know its numbers.
"""

import collections
import os
import sys
import zipfile
from pathlib import Path

import torch


class CallsAFunction:
    """Unpickling this in Python would make a folder."""

    def __reduce__(self):
        return os.mkdir, ("a_pickle_ran",)


def count(*shape: int) -> torch.Tensor:
    return torch.arange(torch.Size(shape).numel(), dtype=torch.float32).reshape(shape)


def forms() -> dict:
    a, b = count(2, 3), count(4)
    shared = count(6)
    return {
        "dict": {"a": a, "b": b},
        "ordered": collections.OrderedDict(a=a, b=b),
        "one_entry": {"a": a},
        "state_dict": {"state_dict": {"a": a, "b": b}, "epoch": 3},
        "generator": {"generator": collections.OrderedDict(a=a, b=b), "step": 12, "rate": 1e-4,
                      "note": "text", "done": True, "nothing": None, "list": [1, 2]},
        "half": {"a": a.half(), "b": b.bfloat16()},
        "shared": {"a": shared[:4].reshape(2, 2), "b": shared[2:]},
        "transposed": {"a": count(3, 2).t()},
        "parameter": {"a": torch.nn.Parameter(a)},
        "calls_a_function": {"a": a, "x": CallsAFunction()},
    }


def main() -> None:
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    for name, value in forms().items():
        torch.save(value, out / f"{name}.pth")
    torch.save(forms()["dict"], out / "old_form.pth", _use_new_zipfile_serialization=False)
    with zipfile.ZipFile(out / "dict.pth") as plain, zipfile.ZipFile(
            out / "compressed.pth", "w", zipfile.ZIP_DEFLATED) as packed:
        for name in plain.namelist():
            packed.writestr(name, plain.read(name))


if __name__ == "__main__":
    main()
