# Sourced by ./dev for `./dev test` without arguments: every kind of test, then one summary.
# shellcheck shell=bash disable=SC2154

failed=0
summary=()

# What the tests use beyond the build. A language's tools only where its binding is there.
ensure_test_tools() {
  want_tools clang-format:clang-format abidiff:abigail-tools dpkg-shlibdeps:dpkg-dev file:file
  # The kernels for ARM run in an emulator.
  [[ "$(uname -m)" != x86_64 ]] ||
    want_tools aarch64-linux-gnu-g++:g++-aarch64-linux-gnu qemu-aarch64-static:qemu-user-static
  [[ ! -d "$root/bindings/csharp" ]] || want_tools mcs:mono-mcs mono:mono-runtime
  [[ ! -d "$root/bindings/rust" ]] || want_tools cargo:cargo
}

# The recogniser by which a test hears the voice that ships: for nothing else, so it may be missing.
want_recogniser() {
  local folder="$root/.deps/recogniser" log="$root/.deps/recogniser.log"
  python3 -c 'import pocketsphinx' 2>/dev/null && return
  if [[ ! -d "$folder" ]]; then
    note "fetching the recogniser pocketsphinx (about 30 MB) into .deps/"
    rm -rf "$folder.new"
    if ! python3 -m pip install --disable-pip-version-check --only-binary=:all: --no-deps \
      --progress-bar off --target "$folder.new" pocketsphinx==5.1.1 >"$log" 2>&1; then
      note "it could not be installed ($log): the words of the voice that ships are not checked"
      return
    fi
    mv "$folder.new" "$folder"
  fi
  export PYTHONPATH="$folder${PYTHONPATH:+:$PYTHONPATH}"
}

# run_ctest CTEST-ARGUMENT...: the presets hold the sanitizers' settings.
run_ctest() {
  (cd "$root" && ctest --preset "$preset" "$@")
}

# Keeps the lines in which a runner sums itself up: `ctest` and what `cargo test`, NUnit-like
# runners and `swift test` print at their ends.
summary_lines() {
  local counted='[0-9]+ passed, [0-9]+ failed|Executed [0-9]+ tests?|Test run with'
  grep -E "% tests passed|^test result:|$counted" "$1" || true
}

run_everything() {
  mkdir -p "$build/logs"
  ensure_test_tools
  with_lock_dir want_recogniser
  local log="$build/logs/ctest.log" status=0
  run_ctest 2>&1 | tee "$log" || status=$?
  record ctest "$status" "$log"
  if [[ "$preset" == release || "$preset" == dev ]]; then
    local script
    for script in "$root"/bindings/*/test.sh; do
      [[ -f "$script" ]] && run_binding "$script"
    done
  fi
  print_summary
}

# record NAME STATUS LOG
record() {
  local name="$1" status="$2" log="$3" line found=0
  (( status == 0 )) || failed=1
  while IFS= read -r line; do
    [[ -z "$line" ]] && continue
    summary+=("$name: $line")
    found=1
  done < <(summary_lines "$log")
  if (( ! found )); then
    summary+=("$name: no test was counted, exit code $status")
    failed=1
  fi
}

# A binding's test.sh gets the folders REMORA_LIBRARY_DIR (of libremora), REMORA_INCLUDE_DIR,
# REMORA_TORCH_LIB_DIR and REMORA_TINY_DIR (with the checkpoints s2-pro/ and s1-mini/ that the build
# makes), prints its runner's own summary, and exits with 77 after one line of reason when its tool
# chain is missing. That is a skip on a person's machine and a failure in CI.
run_binding() {
  local script="$1" name log status=0
  name="$(basename "$(dirname "$script")")"
  log="$build/logs/$name.log"
  note "testing bindings/$name"
  REMORA_LIBRARY_DIR="$build/src/c_api" REMORA_TORCH_LIB_DIR="$torch/lib" \
    REMORA_INCLUDE_DIR="$root/include" REMORA_TINY_DIR="$build/tests/tiny" \
    bash "$script" 2>&1 | tee "$log" || status=$?
  if (( status == 77 )); then
    summary+=("$name: skipped: $(tail -n 1 "$log")")
    [[ "${CI:-}" == true ]] && failed=1
  else
    record "$name" "$status" "$log"
  fi
  return 0
}

print_summary() {
  local line
  printf '\n== summary (%s)\n' "$preset"
  for line in "${summary[@]}"; do printf '%s\n' "$line"; done
  (( failed == 0 )) || fail "some tests failed or could not run"
}
