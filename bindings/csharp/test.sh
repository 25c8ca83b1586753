#!/usr/bin/env bash
# Builds the binding, the README's example and the tests with Mono, and runs the tests. The last
# line is "N passed, N failed"; the exit code is 77 when the tool chain is missing. What is not set
# in the environment is taken from the release build of this repository:
#   REMORA_LIBRARY_DIR    the folder of libremora.so (or REMORA_LIB_DIR)
#   REMORA_INCLUDE_DIR    the folder of remora/remora.h
#   REMORA_TORCH_LIB_DIR  LibTorch's libraries
#   REMORA_TINY_DIR       the tiny checkpoints: a folder with s2-pro/
# usage: test.sh [PART-OF-A-TEST'S-NAME]
set -euo pipefail

here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)"
REMORA_ROOT="$(cd "$here/../.." && pwd -P)"
REMORA_LIBRARY_DIR="${REMORA_LIBRARY_DIR:-${REMORA_LIB_DIR:-$REMORA_ROOT/build/release/src/c_api}}"
REMORA_INCLUDE_DIR="${REMORA_INCLUDE_DIR:-$REMORA_ROOT/include}"
REMORA_TORCH_LIB_DIR="${REMORA_TORCH_LIB_DIR:-$REMORA_ROOT/.deps/python/torch/lib}"
REMORA_TINY_DIR="${REMORA_TINY_DIR:-$REMORA_LIBRARY_DIR/../../tests/tiny}"
export REMORA_ROOT REMORA_LIBRARY_DIR REMORA_INCLUDE_DIR REMORA_TORCH_LIB_DIR REMORA_TINY_DIR
out="$REMORA_ROOT/build/bindings/csharp"

for tool in mcs mono; do
  if ! command -v "$tool" >/dev/null; then
    echo "the C# binding is not tested: $tool is missing (Debian: mono-mcs, mono-runtime)"
    exit 77
  fi
done
for file in "$REMORA_LIBRARY_DIR/libremora.so" "$REMORA_TINY_DIR/s2-pro/config.json"; do
  if [[ ! -e "$file" ]]; then
    echo "csharp: $file is missing; build the repository first" >&2
    exit 1
  fi
done

# compile OUTPUT MCS-ARGUMENT...
compile() {
  local output="$1"
  shift
  mcs -unsafe -langversion:7.2 -debug -warn:4 -warnaserror -out:"$out/$output" "$@"
}

rm -rf "$out"
mkdir -p "$out/fake-abi" "$out/fake-name"
"$here/build.sh" "$out"

awk '/^[`]+csharp$/ {inside = 1; next} /^[`]+$/ {inside = 0} inside' "$here/README.md" \
  >"$out/Say.cs"
compile readme.exe -r:"$out/Remora.dll" "$out/Say.cs"
compile probe.exe -r:"$out/Remora.dll" "$here/Tests~/Probe/Probe.cs"
# 436: the stand-ins hide types that Mono has; 1685 says the same of types in two assemblies.
compile net5.exe -nowarn:436,1685 -define:NET5_0_OR_GREATER "$here"/Runtime/*.cs \
  "$here"/Runtime/Native/*.cs "$here"/Tests~/Net5/*.cs
compile remora-tests.exe -r:"$out/Remora.dll" "$here"/Tests~/*.cs "$here"/Tests~/Unity/*.cs \
  "$here"/Samples~/Speaker/*.cs

cc="${CC:-cc}"
echo 'unsigned remora_abi_version(void) { return 99; }' |
  "$cc" -shared -fPIC -x c - -o "$out/fake-abi/libremora.so"
echo 'int another_library;' | "$cc" -shared -fPIC -x c - -o "$out/fake-name/libremora.so"
"$cc" -std=c99 -Wall -Wextra -Werror -I"$REMORA_INCLUDE_DIR" "$here/Tests~/reference.c" \
  -L"$REMORA_LIBRARY_DIR" -lremora -Wl,--allow-shlib-undefined -o "$out/reference"

LD_LIBRARY_PATH="$REMORA_LIBRARY_DIR:$REMORA_TORCH_LIB_DIR${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" \
  mono --debug "$out/remora-tests.exe" "$@"
