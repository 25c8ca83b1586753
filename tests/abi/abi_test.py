"""Compares the public interface as built with the golden files beside this script.

usage: abi_test.py CHECK [ARGUMENT...]
  header HEADER                 what it includes and exports
  symbols HEADER LIBRARY        header, symbols.txt and `nm -D` name the same functions
  layout PROGRAM                the compiler's offsets and sizes are those of layout.txt
  abidiff STUB_LIBRARY          no difference to baseline.abi (skipped without abidiff)
  update HEADER PROGRAM STUB_LIBRARY    writes the three golden files anew

A change of a golden file is a change of the interface: it is reviewed as one, gets a line under ABI
in CHANGELOG.md, and never alters a line of a released struct (members are only appended).
"""

import shutil
import subprocess
import sys
from pathlib import Path

sys.dont_write_bytecode = True
from public_header import Header  # noqa: E402

HERE = Path(__file__).resolve().parent
SKIPPED = 77


def run(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def read_header(path: str) -> Header:
    return Header(Path(path).read_text(encoding="utf-8"))


def golden_lines(name: str) -> list[str]:
    return (HERE / name).read_text(encoding="utf-8").splitlines()


def same(expected: list[str], actual: list[str], what: str) -> bool:
    for line in sorted(set(expected) - set(actual)):
        print(f"{what}: missing: {line}")
    for line in sorted(set(actual) - set(expected)):
        print(f"{what}: new: {line}")
    if expected != actual and sorted(expected) == sorted(actual):
        print(f"{what}: the same lines in another order")
    return expected == actual


def check_header(header: str) -> bool:
    parsed = read_header(header)
    print(f"includes {parsed.includes}, {len(parsed.functions)} functions")
    for name in parsed.not_exported:
        print(f"{name} is declared without REMORA_API")
    return parsed.includes == ["<stddef.h>", "<stdint.h>"] and not parsed.not_exported


def exported_symbols(library: str) -> list[str]:
    """Defined dynamic symbols without the version script's own node."""
    lines = [line.split() for line in run("nm", "-D", "--defined-only", library).splitlines()]
    return sorted(name.split("@")[0] for *_, kind, name in lines if kind != "A")


def check_symbols(header: str, library: str) -> bool:
    golden = golden_lines("symbols.txt")
    declared = sorted(function.name for function in read_header(header).functions)
    in_header = same(golden, declared, "header against symbols.txt")
    return same(golden, exported_symbols(library), "library against symbols.txt") and in_header


def check_layout(program: str) -> bool:
    return same(golden_lines("layout.txt"), run(program).splitlines(), "layout")


def check_abidiff(stubs: str) -> bool:
    if shutil.which("abidiff") is None:
        print("skipped: abidiff is not there (Debian package abigail-tools)")
        sys.exit(SKIPPED)
    diff = subprocess.run(["abidiff", "--no-show-locs", str(HERE / "baseline.abi"), stubs],
                          check=False, capture_output=True, text=True)
    print(diff.stdout + diff.stderr)
    return diff.returncode == 0


def update(header: str, program: str, stubs: str) -> bool:
    names = sorted(function.name for function in read_header(header).functions)
    (HERE / "symbols.txt").write_text("\n".join(names) + "\n", encoding="utf-8")
    (HERE / "layout.txt").write_text(run(program), encoding="utf-8")
    run("abidw", "--no-corpus-path", "--no-comp-dir-path", "--no-show-locs", "--out-file",
        str(HERE / "baseline.abi"), stubs)
    return True


CHECKS = {"header": check_header, "symbols": check_symbols, "layout": check_layout,
          "abidiff": check_abidiff, "update": update}

if __name__ == "__main__":
    sys.exit(0 if CHECKS[sys.argv[1]](*sys.argv[2:]) else 1)
