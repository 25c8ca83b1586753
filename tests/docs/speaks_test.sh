#!/usr/bin/env bash
# usage: speaks_test.sh PROGRAM REMORA: a document's program speaks with a model folder; what it
# writes to stdout are float samples.
set -euo pipefail
program="$1" remora="$2"
scratch="$(mktemp -d)"
trap 'rm -rf "$scratch"' EXIT
"$remora" make-tiny "$scratch/model" 2>/dev/null
"$program" "$scratch/model" "Hello." >"$scratch/samples"
bytes="$(wc -c <"$scratch/samples")"
echo "$bytes bytes of samples"
(( bytes > 0 && bytes % 4 == 0 ))
