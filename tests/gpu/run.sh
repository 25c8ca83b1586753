#!/usr/bin/env bash
# Builds remora for CUDA, runs the tests that need a GPU, compares a tiny model on the GPU with the
# CPU, and measures attention and the A/B matrix. Made for one go of at most ten minutes on a machine
# with a GPU and without a network.
#   tests/gpu/run.sh [--build-only] [--torch DIR] [--deps DIR] [--out DIR]
# --torch: a LibTorch 2.11 to 2.13 with CUDA; without it that of `python3 -c 'import torch'`.
# --deps: what tests/gpu/fetch.sh gathered (.deps/gpu); without such a folder the system's packages.
# --out: where the reports go (build/gpu/reports).
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)"
cd "$root"

build_only=false torch="" deps="$root/.deps/gpu" build="$root/build/gpu" out=""
while (( $# > 0 )); do
  case "$1" in
    --build-only) build_only=true ;;
    --torch) torch="$2"; shift ;;
    --deps) deps="$(realpath "$2")"; shift ;;
    --out) out="$2"; shift ;;
    *) echo "usage: tests/gpu/run.sh [--build-only] [--torch DIR] [--deps DIR] [--out DIR]" >&2
       exit 2 ;;
  esac
  shift
done
out="${out:-$build/reports}"
mkdir -p "$out"
say() { printf '\n== %s (%s s)\n' "$1" "$SECONDS"; }

# --- build ------------------------------------------------------------------------------------

configure_options=()
if [[ -d "$deps/usr" ]]; then
  libraries="$deps/usr/lib/$(uname -m)-linux-gnu"
  export PATH="$PATH:$deps/usr/bin"
  export PKG_CONFIG="$deps/usr/bin/pkgconf" PKG_CONFIG_SYSROOT_DIR="$deps"
  export PKG_CONFIG_LIBDIR="$libraries/pkgconfig:$deps/usr/share/pkgconfig"
  export LD_LIBRARY_PATH="$libraries${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
  configure_options+=("-DCMAKE_PREFIX_PATH=$deps/usr")
fi
if [[ -z "$torch" ]]; then
  torch="$(python3 -c 'import os, torch; print(os.path.dirname(torch.__file__))')"
fi
if command -v ninja >/dev/null; then configure_options+=(-G Ninja); fi
command -v ccache >/dev/null && configure_options+=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
targets=(remora remora_cli test_nn test_lm attention_bench)

say "building against $torch"
# Programs are linked without the CUDA libraries that LibTorch's own need: those come with the driver
# and with torch where it runs, and are not there where it is only built.
cmake -S . -B "$build" -DCMAKE_BUILD_TYPE=Release -DREMORA_RELOCATABLE=ON -DREMORA_CUDA=ON "-DREMORA_TORCH_DIR=$torch" \
  -DCMAKE_EXE_LINKER_FLAGS=-Wl,--unresolved-symbols=ignore-in-shared-libs \
  "${configure_options[@]}" >"$out/configure.log" 2>&1 || { tail -n 40 "$out/configure.log"; exit 1; }
cmake --build "$build" --parallel "$(nproc)" --target "${targets[@]}" >"$out/build.log" 2>&1 ||
  { tail -n 60 "$out/build.log"; exit 1; }
remora="$build/examples/cli/remora"
readelf -d "$build"/src/c_api/libremora.so | grep NEEDED
echo "built: $(tail -n 1 "$out/build.log")"
if "$build_only"; then exit 0; fi

# --- tests ------------------------------------------------------------------------------------

failures=0
check() {
  echo "-- $1"
  shift
  "$@" || { echo "FAILED: $*"; failures=$((failures + 1)); }
}

say "tests"
check "tests that need a GPU" "$build/tests/lm/test_lm" --gtest_filter='Cuda*'
check "the language model's and the cache's tests" "$build/tests/nn/test_nn" --gtest_brief=1

tiny="$out/tiny" text="One after the other, as on the processor."
for family in s2-pro s1-mini; do
  rm -rf "${tiny:?}/$family"
  "$remora" make-tiny "$tiny/$family" --family "$family" >/dev/null
  speak() { "$remora" say "$text" --model "$tiny/$family" --greedy --max-frames 40 --dtype f32 "$@"; }
  speak --device cpu --codes-out "$out/cpu.npy" -o "$out/cpu.wav"
  for kv in active full graph; do
    speak --device cuda --kv "$kv" --capacity 512 --codes-out "$out/$kv.npy" -o "$out/$kv.wav"
    check "$family, $kv: codes equal the processor's" cmp "$out/cpu.npy" "$out/$kv.npy"
  done
done

# --- figures ----------------------------------------------------------------------------------

say "one layer's attention"
timeout 60 "$build/tests/nn/attention_bench" --benchmark_filter=cuda \
  --benchmark_repetitions=5 --benchmark_report_aggregates_only --benchmark_min_time=0.05 |
  tee "$out/attention.txt" || failures=$((failures + 1))

say "A/B matrix"
timeout 200 "$remora" bench --matrix --device cuda --random s2-pro --dtype bf16 --repeat 10 \
  --markdown "$out/matrix.md" --json >"$out/matrix.json" || failures=$((failures + 1))
cat "$out/matrix.md" || true

say "speed"
timeout 60 "$remora" bench --device cuda --random s1-mini --dtype bf16 --repeat 10 --kv graph \
  --capacity 4096 | tee "$out/speed.txt" || failures=$((failures + 1))

say "done, $failures failures"
(( failures == 0 ))
