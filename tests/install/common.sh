# Sourced by the scripts of this folder. ctest sets: BUILD, SOURCE, TORCH_LIB (folders), CC, VERSION,
# ABI, LIBDIR and VOICES (the folders of libraries and of voices below a prefix), SANITIZE (flags for
# the consumers, or empty).
# shellcheck shell=bash disable=SC2034,SC2154
set -euo pipefail
: "${BUILD:?}" "${SOURCE:?}" "${TORCH_LIB:?}" "${CC:?}" "${VERSION:?}" "${ABI:?}" "${LIBDIR:?}" \
  "${VOICES:?}"
area="$BUILD/install_test"
moved="$area/moved"  # where the installed tree lies after its move

complain() {
  echo "error: $1" >&2
  exit 1
}

# expect WHAT EXPECTED ACTUAL
expect() {
  [[ "$2" == "$3" ]] || complain "$1
  expected: $2
  actual:   $3"
}

# The entries of one kind in a file's dynamic section, one for each line: dynamic NEEDED FILE
dynamic() {
  readelf -dW "$2" | sed -n "s/^.*($1).*\[\(.*\)\]$/\1/p"
}

# Nothing below a folder may name the folders it was built in.
expect_no_build_path() {
  local found
  found="$(grep -rlF -e "$BUILD" -e "$SOURCE" "$@" || true)"
  [[ -z "$found" ]] || complain "these files name a folder of the build: $found"
}
