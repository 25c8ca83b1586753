#!/usr/bin/env bash
# Builds the fuzz targets with Clang and runs them one after the other. See README.md.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: tests/fuzz/run.sh [--seconds N] [--out FOLDER] [TARGET...]

  --seconds N   for each target (default 600)
  --out FOLDER  corpus that grew, logs and findings (default build/fuzz/found)
  TARGET        such as session; all of them when none is named

Prints a line for each target: executions, executions a second, findings. Exit code 1 when there was
a finding; its input lies in FOLDER/TARGET/ and is run again by build/fuzz/tests/fuzz/fuzz_TARGET FILE.
TEXT
}

root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)"
programs="$root/build/fuzz/tests/fuzz"
seconds=600
out="$root/build/fuzz/found"
targets=()
while (( $# > 0 )); do
  case "$1" in
    --seconds) seconds="${2:?--seconds needs a number}"; shift 2 ;;
    --out) out="${2:?--out needs a folder}"; shift 2 ;;
    -h | --help) usage; exit 0 ;;
    -*) usage >&2; exit 2 ;;
    *) targets+=("$1"); shift ;;
  esac
done
if (( ${#targets[@]} == 0 )); then
  targets=(safetensors pth config tokenizer pattern text voice session sound)
fi
command -v clang++-14 >/dev/null ||
  { echo "run.sh: clang++-14 is missing: apt-get install clang-14 libclang-rt-14-dev" >&2; exit 2; }
"$root/dev" --preset fuzz build remora_fuzz_corpus "${targets[@]/#/fuzz_}"

# LibTorch keeps what it allocates while it starts, and its threads: see tests/ci/lsan.supp.
export ASAN_OPTIONS="detect_stack_use_after_return=1:strict_string_checks=1:${ASAN_OPTIONS:-}"
export LSAN_OPTIONS="suppressions=$root/tests/ci/lsan.supp:print_suppressions=0:${LSAN_OPTIONS:-}"
export UBSAN_OPTIONS="print_stacktrace=1:halt_on_error=1:${UBSAN_OPTIONS:-}"

# run_target NAME: its own folder takes what libFuzzer finds worth keeping.
run_target() {
  local name="$1" corpus="$out/$1.corpus" findings="$out/$1" log="$out/$1.log" kept=()
  mkdir -p "$corpus" "$findings"
  [[ ! -d "$root/tests/fuzz/corpus/$name" ]] || kept=("$root/tests/fuzz/corpus/$name")
  # A single input may take 10 s, one allocation 1 GiB, and all together 4 GiB.
  "$programs/fuzz_$name" -max_total_time="$seconds" -timeout=10 -malloc_limit_mb=1024 \
    -rss_limit_mb=4096 -print_final_stats=1 -artifact_prefix="$findings/" \
    "$corpus" "$programs/corpus/$name" "${kept[@]}" >"$log" 2>&1 || true
  local runs found
  runs="$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")"
  found="$(find "$findings" -type f | wc -l)"
  printf '%-12s %12s executions %8s a second %4s findings\n' "$name" "${runs:-none}" \
    "$(sed -n 's/^stat::average_exec_per_sec: *//p' "$log")" "$found"
  [[ -n "$runs" ]] && (( found == 0 ))
}

status=0
for target in "${targets[@]}"; do
  run_target "$target" || status=1
done
exit "$status"
