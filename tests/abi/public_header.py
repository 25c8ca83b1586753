"""Reads remora.h: its functions, structs and constants. Not a C parser; remora.h is written so that
this suffices (one declaration for each member), and what is read here is checked by a C compiler."""

import re
from typing import NamedTuple


class Member(NamedTuple):
    type: str  # as written, a callback as "callback"
    name: str


class Function(NamedTuple):
    result: str
    name: str
    arguments: str


class Header:
    def __init__(self, text: str) -> None:
        code = re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL)
        code = re.sub(r"^\s*#.*$", "", code, flags=re.MULTILINE)
        self.includes = re.findall(r"^\s*#\s*include\s*(\S+)", text, re.MULTILINE)
        self.functions = [
            Function(" ".join(result.split()), name, " ".join(arguments.split()))
            for result, name, arguments in re.findall(
                r"\bREMORA_API\s+([\w\s*]+?)\s*REMORA_CALL\s+(remora_\w+)\s*\(([^;]*)\)\s*;", code)]
        self.structs = {
            name: [_member(line) for line in body.split(";") if line.strip()]
            for name, body in re.findall(r"typedef\s+struct\s+(\w+)\s*\{(.*?)\}\s*\w+\s*;", code,
                                         re.DOTALL)}
        self.constants = [name for body in re.findall(r"\benum\s*\{(.*?)\}", code, re.DOTALL)
                          for name in re.findall(r"\b(REMORA_\w+)\s*=", body)]
        # A declaration without REMORA_API would be hidden in the library.
        declared = re.findall(r"REMORA_CALL\s+(remora_\w+)\s*\(", code)
        exported = {function.name for function in self.functions}
        self.not_exported = [name for name in declared if name not in exported]


def _member(declaration: str) -> Member:
    declaration = " ".join(declaration.split())
    callback = re.search(r"\(\s*REMORA_CALL\s*\*\s*(\w+)\s*\)", declaration)
    if callback:
        return Member("callback", callback.group(1))
    match = re.fullmatch(r"(.*?[\s*])(\w+)\s*(\[\d+\])?", declaration)
    if not match:
        raise ValueError(f"remora.h: cannot read the member `{declaration}`")
    kind, name, array = match.groups()
    return Member(re.sub(r"\s*\*\s*", "*", kind).strip() + (array or ""), name)
