"""Holds docs/field-reports.md to the truth: all 36 reports, and exactly the tests that there are.

usage: field_reports_test.py ROOT [unittest arguments]
"""

import re
import sys
import unittest
from pathlib import Path

ROOT = Path(sys.argv.pop(1))
REPORTS = ("01 04 06 08 09 11 12 14 15 16 17 19 20 22 23 25 26 27 29 31 33 35 36 40 41 43 45 47 48 49 "
           "51 52 54 56 57 59").split()
TEST_FILES = ("tests/**/*_test.cpp", "tests/**/*_test.c", "tests/**/*_test.py",
              "tests/**/CMakeLists.txt", "bindings/**/*.cs", "bindings/**/tests/**/*.rs",
              "bindings/**/Tests/**/*.swift")
# How a test is written down in each language -> its name here.
DEFINITIONS = (
    r"\bTEST(?:_F|_P)?\(\s*(?P<suite>\w+),\s*(?P<name>\w+)\s*\)",  # GoogleTest: Suite.Name
    r"\bdef (?P<name>test_RB_\w+)\(",                              # unittest
    r"\badd_test\(\s*NAME (?P<name>[\w.]+)",                        # ctest
    r"\bpublic static \w+ (?P<name>RB_\w+)\(",                     # C#
    r"\bf(?:n|unc) (?P<name>RB_\w+)\(",                            # Rust, Swift
)


def tests_in(text: str) -> set[str]:
    """Names of the tests that belong to a report."""
    found = set()
    for pattern in DEFINITIONS:
        for match in re.finditer(pattern, text):
            parts = match.groupdict()
            name = ".".join(filter(None, (parts.get("suite"), parts["name"])))
            if re.search(r"\bRB_\d|_RB_\d|\.RB_\d", name):
                found.add(name)
    return found


def all_tests(root: Path) -> set[str]:
    found = set()
    for pattern in TEST_FILES:
        for path in root.glob(pattern):
            if path.name != Path(__file__).name:  # its examples are no tests
                found |= tests_in(path.read_text(encoding="utf-8"))
    return found


def rows(document: str) -> list[tuple[str, str, set[str]]]:
    """(number, what remora does, tests) of each line of the table."""
    out = []
    for line in document.splitlines():
        match = re.match(r"\| RB-(\d\d) \| (.+?) \| (.+) \| (.*) \|$", line)
        if match:
            number, _, does, tests = match.groups()
            out.append((number, does, set(re.findall(r"`([\w.]+)`", tests))))
    return out


def faults(document: str, tests: set[str]) -> list[str]:
    table = rows(document)
    out = []
    numbers = [number for number, _, _ in table]
    if numbers != REPORTS:
        out.append(f"the table has {numbers}, expected {REPORTS}")
    listed = set()
    for number, does, names in table:
        listed |= names
        if len(does) < 20:
            out.append(f"RB-{number}: no word about what remora does")
        if not names:
            out.append(f"RB-{number}: no test")
        out += [f"RB-{number}: no test is called {name}" for name in sorted(names - tests)]
        out += [f"RB-{number}: {name} is of another report" for name in sorted(names)
                if f"RB_{number}" not in name]
    out += [f"{name} is not in the table" for name in sorted(tests - listed)]
    return out


class FieldReports(unittest.TestCase):
    document = (ROOT / "docs" / "field-reports.md").read_text(encoding="utf-8")
    tests = all_tests(ROOT)

    def test_the_document_tells_the_truth(self):
        self.assertEqual(faults(self.document, self.tests), [])

    def test_every_kind_of_definition_is_seen(self):
        text = ("TEST(A, RB_01_x) TEST_F(B,\n RB_02_y) TEST(RB_03_z, W) TEST(C, Other)\n"
                "  def test_RB_04_v(self):\nadd_test(NAME q.RB_05_u)\nfn RB_06_t() {}\n"
                "public static void RB_07_s() {}\n@Test func RB_08_r() {}\nfn other() {}")
        self.assertEqual(tests_in(text), {"A.RB_01_x", "B.RB_02_y", "RB_03_z.W", "test_RB_04_v",
                                          "q.RB_05_u", "RB_06_t", "RB_07_s", "RB_08_r"})

    def test_every_kind_of_lie_is_found(self):
        line = "| RB-{} | what happened | what remora does in this case | {} |\n"
        good = "".join(line.format(n, f"`A.RB_{n}_x`") for n in REPORTS)
        tests = {f"A.RB_{n}_x" for n in REPORTS}
        self.assertEqual(faults(good, tests), [])
        for lie, fault in (
                (good.replace(line.format("31", "`A.RB_31_x`"), ""), "the table has"),
                (good.replace("`A.RB_31_x`", ""), "RB-31: no test"),
                (good.replace("`A.RB_31_x`", "`A.RB_31_y`"), "RB-31: no test is called A.RB_31_y"),
                (good.replace("`A.RB_31_x`", "`A.RB_29_x`"), "RB-31: A.RB_29_x is of another"),
                (good.replace("what remora does in this case", "works"), "RB-01: no word")):
            self.assertTrue(any(found.startswith(fault) for found in faults(lie, tests)), fault)
        self.assertIn("B.RB_01_new is not in the table", faults(good, tests | {"B.RB_01_new"}))


if __name__ == "__main__":
    unittest.main()
