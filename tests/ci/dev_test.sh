#!/usr/bin/env bash
# ./dev's own command line, as far as it can be seen without installing or building anything.
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)"
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT

complain() {
  echo "dev_test: $1" >&2
  exit 1
}

# A copy in a folder with blanks, called from elsewhere, with a program that is already built.
copy="$scratch/a folder"
program="$copy/build/release/examples/cli/remora"
mkdir -p "$copy" "$(dirname "$program")" "$copy"/{cmake,include,src,examples}
cp -r "$root/dev" "$root/.ci" "$copy/"
cp "$root/CMakeLists.txt" "$root/CMakePresets.json" "$copy/"
printf '#!/bin/sh\nfor a in "$@"; do printf "[%%s]" "$a"; done; exit 3\n' >"$program"
chmod +x "$program"
# The stamp of the last build; it names the LibTorch that was built against.
printf '%s' "$copy/torch" >"$copy/build/release/.dev-program"
cd /
export REMORA_TORCH_DIR="$copy/torch"
unset REMORA_PRESET

status=0
output="$("$copy/dev" remora info "two words" 2>"$scratch/err")" || status=$?
[[ "$output" == "[info][two words]" ]] || complain "arguments arrived as $output"
(( status == 3 )) || complain "the program's exit code 3 became $status"
[[ ! -s "$scratch/err" ]] || complain "a current program is not run in silence"
[[ "$("$copy/dev" say hi || true)" == "[say][hi]" ]] || complain "say is not remora say"

status=0
"$copy/dev" frobnicate >"$scratch/out" 2>"$scratch/err" || status=$?
(( status == 2 )) || complain "an unknown command exits with $status, not 2"
[[ ! -s "$scratch/out" ]] || complain "an error went to stdout"
grep -q "no command 'frobnicate'" "$scratch/err" || complain "the unknown command is not named"
"$copy/dev" help | grep -q REMORA_TORCH_DIR || complain "help is silent about REMORA_TORCH_DIR"

# A changed source makes the program stale, and a LibTorch that is not there is named.
touch "$copy/src/new.cpp"
status=0
"$copy/dev" remora info >"$scratch/out" 2>"$scratch/err" || status=$?
(( status == 1 )) || complain "a missing LibTorch exits with $status, not 1"
[[ ! -s "$scratch/out" ]] || complain "a build message went to stdout"
grep -q "REMORA_TORCH_DIR=$copy/torch holds no" "$scratch/err" ||
  complain "the missing LibTorch is not named: $(cat "$scratch/err")"
echo "dev_test: passed"
