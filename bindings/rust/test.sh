#!/usr/bin/env bash
# Tests the Rust binding; `./dev test` calls it. Everything that is built goes below build/.
#   REMORA_LIBRARY_DIR     where libremora is         (default: build/release/src/c_api)
#   REMORA_INCLUDE_DIR     where remora/remora.h is   (default: include)
#   REMORA_TINY_DIR        the tiny checkpoints       (default: those of the library's build)
#   REMORA_TORCH_LIB_DIR   LibTorch's libraries, where the library does not find them itself
# Exit code 77 with one line of reason: the tool chain is missing.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)"
root="$(cd "$here/../.." && pwd -P)"

if ! command -v cargo >/dev/null || ! command -v rustc >/dev/null; then
  echo "no Rust tool chain: cargo and rustc are not in PATH"
  exit 77
fi

export REMORA_LIB_DIR="${REMORA_LIBRARY_DIR:-$root/build/release/src/c_api}"
export REMORA_INCLUDE_DIR="${REMORA_INCLUDE_DIR:-$root/include}"
export REMORA_TINY_DIR="${REMORA_TINY_DIR:-$REMORA_LIB_DIR/../../tests/tiny}"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$root/build/rust}"
if [[ -n "${REMORA_TORCH_LIB_DIR:-}" ]]; then
  export LD_LIBRARY_PATH="$REMORA_TORCH_LIB_DIR${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
fi
if [[ ! -e "$REMORA_LIB_DIR/libremora.so" && ! -e "$REMORA_LIB_DIR/libremora.dylib" ]]; then
  echo "no libremora in $REMORA_LIB_DIR: build it first (./dev build)" >&2
  exit 1
fi

cd "$here"
if cargo clippy --version >/dev/null 2>&1; then
  cargo clippy --quiet --locked --offline --all-targets -- -D warnings
else
  echo "clippy is not installed: lints not checked"
fi
if cargo fmt --version >/dev/null 2>&1; then
  cargo fmt --check
else
  echo "rustfmt is not installed: format not checked"
fi
RUSTDOCFLAGS="-D warnings" cargo doc --quiet --locked --offline --no-deps
cargo test --locked --offline
