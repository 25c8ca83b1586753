"""The checker is checked: each rule has a sample that breaks it and one that does not."""

import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
CHECKS = Path(__file__).resolve().parents[2] / ".ci"
sys.path.insert(0, str(CHECKS))
import code_scan  # noqa: E402
from importlib.machinery import SourceFileLoader  # noqa: E402
from importlib.util import module_from_spec, spec_from_loader  # noqa: E402

_loader = SourceFileLoader("check_layout", str(CHECKS / "check_layout"))
check_layout = module_from_spec(spec_from_loader("check_layout", _loader))
_loader.exec_module(check_layout)

CPP = '''#include <x>
namespace a {
// void not_code() {
const char* kText = "void neither() {";
constexpr int kTable[] = {1, 2};
#define REMORA_LOOP(x) \\
  for (;;) {
Type::Type(int n)
    : a_{n},
      b_(n) {
  if (n) {
    run([&] { return R"(}})"; });
  }
}
template <class T>
auto twice(T x) -> T {
  return {x, '{'};
}
class alignas(16) Box : public Base<int> {
 public:
  int size() const noexcept {
    return 1;
  }
  Box& operator=(const Box& other) {
    return *this;
  }
  std::vector<int> values = {1, 2};
};
TEST(Suite, Case) {
  f({1});
}
}  // namespace a
'''

RUST = '''#[derive(Debug, Clone)]
pub struct Session<'a> { raw: &'a Raw }
impl<'a> Session<'a> {
    pub fn step(&mut self) -> Result<(), Error> {
        match self.raw { _ => Ok(()) }
    }
}
'''

CSHARP = '''[StructLayout(LayoutKind.Sequential)]
public struct Stats {
    public int Length { get; set; }
    public Stats(int x) : this() {
        Length = x;
    }
}
'''

SWIFT = '''@available(macOS 13, *)
public final class Session {
  var isOpen: Bool { handle != nil }
  public func step(
    count: Int
  ) throws -> Frame {
    guard isOpen else { throw RemoraError.closed }
  }
}
'''


def spans(text, suffix):
    return [(f.name, f.first, f.last) for f in code_scan.functions(text, suffix)]


class FunctionFinder(unittest.TestCase):
    def test_cpp(self):
        self.assertEqual(spans(CPP, ".cpp"), [
            ("Type::Type", 8, 14), ("twice", 15, 18), ("size", 21, 23), ("operator=", 24, 26),
            ("TEST(Suite, Case)", 29, 31)])

    def test_rust(self):
        self.assertEqual(spans(RUST, ".rs"), [("step", 4, 6)])

    def test_csharp(self):
        self.assertEqual(spans(CSHARP, ".cs"), [("Stats", 4, 6)])

    def test_swift(self):
        self.assertEqual(spans(SWIFT, ".swift"), [("step", 4, 8)])

    def test_python_and_shell(self):
        self.assertEqual(spans("def f():\n    return 1\n", ".py"), [("f", 1, 2)])
        self.assertEqual(spans("go() {\n  echo }\n}\n", ".sh"), [("go", 1, 3)])

    def test_a_long_function_is_measured_in_full(self):
        body = "  if (x) {\n    y();\n  }\n" * 30
        report = check_layout.Report()
        check_layout.check_sizes("a.cpp", f"int f() {{\n{body}}}\n", ".cpp", report)
        self.assertEqual(report.errors, ["a.cpp:1: f has 92 lines, 80 is the limit"])


class Rules(unittest.TestCase):
    def errors(self, check, name, text):
        report = check_layout.Report()
        check(name, text, report)
        return len(report.errors)

    def test_file_size_counts_only_code_in_the_public_header(self):
        for name, expected in (("src/a.h", 1), ("include/remora/remora.h", 0)):
            report = check_layout.Report()
            check_layout.check_sizes(name, "// why\n" * 501, ".h", report)
            self.assertEqual(len(report.errors), expected, name)

    def test_c_examples_are_short(self):
        for name, lines, expected in (("examples/c/a.c", 120, 0), ("examples/c/a.c", 121, 1),
                                      ("examples/cli/a.cpp", 121, 0)):
            report = check_layout.Report()
            check_layout.check_sizes(name, "// why\n" * lines, Path(name).suffix, report)
            self.assertEqual(len(report.errors), expected, name)

    def test_includes_point_down(self):
        up, down = '#include "engine/model.h"\n', '#include "io/byte_source.h"\n'
        check = check_layout.check_includes
        self.assertEqual(self.errors(check, "src/lm/a.cpp", up), 1)
        self.assertEqual(self.errors(check, "src/lm/a.cpp", down), 0)
        self.assertEqual(self.errors(check, "src/codec/a.cpp", '#include "lm/x.h"\n'), 1)
        self.assertEqual(self.errors(check, "examples/cli/a.cpp", down), 1)
        public = "#include <remora/remora.h>\n"
        self.assertEqual(self.errors(check, "examples/cli/a.cpp", public), 0)
        self.assertEqual(self.errors(check, "tests/lm/a.cpp", up), 0)

    def test_library_code(self):
        check = check_layout.check_library_code
        for bad in ("std::cout << 1;", "printf(\"x\");", "std::exit(1);", "::abort();",
                    "std::stod(text);", "std::to_string(1);", "#include <torch/torch.h>",
                    "at::manual_seed(1);"):
            self.assertEqual(self.errors(check, "src/a.cpp", bad), 1, bad)
        for good in ("// printf(1)", 'f("abort()");', "scope.exit();", "my_abort();",
                     "#include <ATen/ops/add.h>", "std::from_chars(a, b, c);"):
            self.assertEqual(self.errors(check, "src/a.cpp", good), 0, good)
        self.assertEqual(self.errors(check, "src/a.h", "using namespace std;"), 1)

    def test_words(self):
        check = check_layout.check_words
        for bad in ("// TO" "DO: later", "see /ho" "me/someone/x", '"/wor' 'k/data"'):
            self.assertEqual(self.errors(check, "a.cpp", bad), 1, bad)
        for good in ("TODOS", "src/work/x.h", "$ORIGIN/../home/x", "https://a.org/home/x"):
            self.assertEqual(self.errors(check, "a.cpp", good), 0, good)


if __name__ == "__main__":
    unittest.main()
