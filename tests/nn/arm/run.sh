#!/usr/bin/env bash
# Tests the kernels for 64-bit ARM on a machine of another kind. See README.md.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: tests/nn/arm/run.sh [FOLDER]

Builds the kernels and their test for 64-bit ARM in FOLDER (default build/arm) and runs them in an
emulator, as a processor without byte dot products and as one with them. Exit code 77 after one line
when something that this needs is missing.
TEXT
}

skip() {
  echo "skipped: $1" >&2
  exit 77
}

fail() {
  echo "run.sh: error: $1" >&2
  exit 1
}

case "${1:-}" in
  -h | --help) usage; exit 0 ;;
  -*) usage >&2; exit 2 ;;
esac
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)"
build="${1:-$here/../../../build/arm}"
compiler="${REMORA_ARM_CXX:-aarch64-linux-gnu-g++}"
gtest="${REMORA_GTEST_SOURCE:-/usr/src/googletest/googletest}"
emulator="$(command -v qemu-aarch64-static || command -v qemu-aarch64 || true)"

command -v "$compiler" >/dev/null ||
  skip "no compiler $compiler (REMORA_ARM_CXX): apt-get install g++-aarch64-linux-gnu"
[[ -n "$emulator" ]] || skip "no qemu-aarch64: apt-get install qemu-user-static"
[[ -f "$gtest/src/gtest-all.cc" ]] ||
  skip "no sources of GoogleTest in $gtest (REMORA_GTEST_SOURCE): apt-get install googletest"
for tool in cmake ninja; do
  command -v "$tool" >/dev/null || skip "no $tool here"
done

launcher=()
! command -v ccache >/dev/null || launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
mkdir -p "$build"
{
  cmake -S "$here" -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_SYSTEM_NAME=Linux \
    -DCMAKE_SYSTEM_PROCESSOR=aarch64 "-DCMAKE_CXX_COMPILER=$compiler" \
    "-DREMORA_GTEST_SOURCE=$gtest" ${launcher[@]+"${launcher[@]}"} &&
    ninja -C "$build" -j "${REMORA_JOBS:-1}"
} >"$build/build.log" 2>&1 || {
  tail -n 40 "$build/build.log" >&2
  fail "the build stopped (whole log: $build/build.log)"
}

# run_as PROCESSOR SETS: all tests as that processor, which must have found just these sets.
run_as() {
  local processor="$1" expected="$2" report="$build/$1.xml" sets
  rm -f "$report"
  "$emulator" -cpu "$processor" "$build/cpu_kernels_test" --gtest_brief=1 \
    "--gtest_output=xml:$report" || fail "as $processor: tests failed"
  sets="$(sed -n 's/.*name="kernel_sets" value="\([^"]*\)".*/\1/p' "$report")"
  [[ "$sets" == "$expected" ]] ||
    fail "as $processor: kernel sets '$sets', expected '$expected'; see features_arm.cpp"
  echo "as $processor: $sets"
}

run_as cortex-a53 "portable neon"
run_as max "portable neon neon-dotprod"
