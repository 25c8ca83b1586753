"""Writes two C files from remora.h for the build: the layout program and the stub library.

usage: write_programs.py HEADER LAYOUT.c STUBS.c

LAYOUT.c prints what a C compiler makes of every struct and constant, in the format of layout.txt.
STUBS.c defines every function with an empty body; compiled with debug information it is all that
abidiff needs to know, without LibTorch's types around it.
"""

import sys
from pathlib import Path

from public_header import Header


def layout_program(header: Header) -> str:
    lines = ['#include <remora/remora.h>', '#include <stdio.h>', '',
             '#define MEMBER(s, type, m) \\',
             '  printf("  %zu %zu %s %s\\n", offsetof(s, m), sizeof(((s *)0)->m), type, #m)', '',
             'int main(void) {']
    for name in header.constants:
        lines.append(f'  printf("constant {name} %d\\n", (int){name});')
    for name, members in header.structs.items():
        lines.append(f'  printf("struct {name} %zu\\n", sizeof({name}));')
        lines += [f'  MEMBER({name}, "{member.type.replace(" ", "_")}", {member.name});'
                  for member in members]
    return "\n".join(lines + ["  return 0;", "}", ""])


def stub_library(header: Header) -> str:
    lines = ["#include <remora/remora.h>", ""]
    for function in header.functions:
        body = "" if function.result == "void" else " return 0; "
        lines.append(f"{function.result} REMORA_CALL {function.name}({function.arguments}) "
                     f"{{{body}}}")
    return "\n".join(lines + [""])


def main() -> None:
    header = Header(Path(sys.argv[1]).read_text(encoding="utf-8"))
    Path(sys.argv[2]).write_text(layout_program(header), encoding="utf-8")
    Path(sys.argv[3]).write_text(stub_library(header), encoding="utf-8")


if __name__ == "__main__":
    main()
