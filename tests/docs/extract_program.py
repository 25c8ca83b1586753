"""Writes the one complete C program of a document to a file, so that the compiler reads it too.

usage: extract_program.py DOCUMENT OUTPUT.c
In Markdown it is made of all blocks fenced as c, in their order; in a header it stands in the first
comment, from its first #include to the closing brace of main.
"""

import re
import sys
from pathlib import Path


def from_markdown(text: str) -> str:
    blocks = re.findall(r"^```c\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    if not blocks:
        raise SystemExit("no block fenced as c")
    return "\n".join(blocks)


def from_header(text: str) -> str:
    comment = text[text.index("/*"):text.index("*/")]
    lines = [re.sub(r"^ \* ?", "", line) for line in comment.split("\n")]
    indent = "  "
    first = next(i for i, line in enumerate(lines) if line.startswith(f"{indent}#include"))
    last = next(i for i, line in enumerate(lines) if i > first and line == f"{indent}}}"
                and any("main(" in before for before in lines[first:i]))
    return "\n".join(line.removeprefix(indent) for line in lines[first:last + 1]) + "\n"


def main() -> None:
    document, output = Path(sys.argv[1]), Path(sys.argv[2])
    text = document.read_text(encoding="utf-8")
    program = from_markdown(text) if document.suffix == ".md" else from_header(text)
    output.write_text(program, encoding="utf-8")


if __name__ == "__main__":
    main()
