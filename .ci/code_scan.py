"""Finds functions and plain code in C, C++, C#, Rust, Swift, Python and shell sources.

No parser: it blanks comments and literals, then matches braces. That is enough for code that a
formatter has been over, and tests/ci holds it to samples of each language.
"""

import ast
import re
from typing import NamedTuple

BRACED = {".c", ".cpp", ".h", ".cs", ".rs", ".swift"}

_TOKEN = re.compile(
    r"""//[^\n]* | /\*.*?\*/ | R"(?P<tag>[^()\s]{0,16})\(.*?\)(?P=tag)" """
    r"""| r(?P<rust>\#+)".*?"(?P=rust) | \"\"\".*?\"\"\" | "(?:\\.|[^"\\\n])*" """
    r"""| (?<![0-9A-Za-z_])'(?:\\[^\n]{1,10}?|[^'\\\n])'""",
    re.DOTALL | re.VERBOSE)
_DIRECTIVE = re.compile(r"\s*#\s*(if|ifdef|ifndef|else|elif|endif|define|include|undef|pragma|error"
                        r"|line|region|endregion|nullable)\b")
# What may stand in front of a declaration and hold parentheses or the word `class`.
_DECORATION = re.compile(r"template\s*<[^{}]*?>(?=\s*[\w:\[])|\#?\[[^\]]*\]|@\w+(\([^)]*\))?"
                         r"|\balignas\s*\([^)]*\)|\b__attribute__\s*\(\(.*?\)\)", re.DOTALL)
_CONTROL = re.compile(
    r"^\s*(if|for|foreach|while|switch|do|else|try|catch|return|using|static_assert)\b")
_ACCESS = {"public", "protected", "private"}
# `Type::Type(...) : member_` and `, member_` open an initialiser, not the body.
_MEMBER_INITIALISER = re.compile(r"\)\s*:(?!:)\s*.*[\w>]\s*$", re.DOTALL)


class Function(NamedTuple):
    name: str
    first: int  # line numbers from 1, both included
    last: int

    @property
    def lines(self) -> int:
        return self.last - self.first + 1


class _Scope(NamedTuple):
    is_function: bool
    is_initialiser: bool
    header: str
    first: int  # line
    parens: int  # open parentheses around the brace


def blank_literals(text: str) -> str:
    """The same text with comments and literals blanked; every line keeps its number."""
    return _TOKEN.sub(lambda match: re.sub(r"[^\n]", " ", match.group(0)), text)


def without_comment_lines(text: str) -> str:
    """The text without blank lines and lines that hold nothing but comment."""
    code = blank_literals(text).split("\n")
    return "".join(f"{line}\n" for line in code if line.strip())


def functions(text: str, suffix: str) -> list[Function]:
    if suffix == ".py":
        return _python_functions(text)
    if suffix == ".sh":
        return _shell_functions(text)
    if suffix in BRACED:
        return _braced_functions(_without_directives(blank_literals(text)))
    return []


def _without_directives(code: str) -> str:
    """Blanks preprocessor lines with their continuations: their braces need not pair up."""
    lines, continued = [], False
    for line in code.split("\n"):
        blanked = continued or bool(_DIRECTIVE.match(line))
        continued = blanked and line.endswith("\\")
        lines.append("" if blanked else line)
    return "\n".join(lines)


def _is_function(header: str) -> bool:
    return ("(" in _DECORATION.sub(" ", header) and not _CONTROL.match(header)
            and not re.search(r"=\s*$", header))


def _name(header: str) -> str:
    match = re.search(r"([\w:~]*\boperator\s*[^\s(]+|[\w:~]+)\s*\(\s*([^()]*)", header)
    if not match:
        return " ".join(header.split())[:60]
    name, arguments = match.groups()
    is_test_macro = name.startswith("TEST") or name.endswith("_TEST")
    return f"{name}({' '.join(arguments.split())})" if is_test_macro else name


def _open(header: str, line: int, parens: int, stack: list[_Scope]) -> _Scope:
    nested = parens > 0 or any(scope.is_function or scope.is_initialiser for scope in stack)
    initialiser = nested or bool(_MEMBER_INITIALISER.search(header))
    is_function = not initialiser and _is_function(header)
    first = line - header.lstrip().count("\n")
    return _Scope(is_function, initialiser and not is_function, header, first, parens)


def _braced_functions(code: str) -> list[Function]:
    found: list[Function] = []
    stack: list[_Scope] = []
    header, line, parens = "", 1, 0
    for char in code:
        line += char == "\n"
        if char == "{":
            stack.append(_open(header, line, parens, stack))
            header, parens = "", 0
        elif char == "}" and stack:
            scope = stack.pop()
            parens = scope.parens
            if scope.is_function:
                found.append(Function(_name(scope.header), scope.first, line))
            # Behind an initialiser the same header goes on, with a `}` where its value was.
            header = scope.header + "()" if scope.is_initialiser else ""
        elif char in ";:" and parens == 0 and (char == ";" or header.strip() in _ACCESS):
            header = ""
        else:
            parens += (char == "(") - (char == ")")
            header += char
    return sorted(found, key=lambda function: function.first)


def _python_functions(text: str) -> list[Function]:
    return [Function(node.name, node.lineno, node.end_lineno)
            for node in ast.walk(ast.parse(text))
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]


def _shell_functions(text: str) -> list[Function]:
    found, name, first = [], "", 0
    for number, line in enumerate(text.split("\n"), 1):
        match = re.match(r"(?:function\s+)?([\w-]+)\s*\(\)\s*\{", line)
        if match:
            name, first = match.group(1), number
        elif line == "}" and name:
            found.append(Function(name, first, number))
            name = ""
    return found
