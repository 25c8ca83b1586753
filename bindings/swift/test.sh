#!/usr/bin/env bash
# Builds the package, its example and the README's program, and runs the tests, all below build/.
# Takes REMORA_LIBRARY_DIR, REMORA_INCLUDE_DIR, REMORA_TORCH_LIB_DIR and REMORA_TINY_DIR, each with
# its place in a release build as the default. Exit code 77: no Swift 6 here.
set -euo pipefail

package="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)"
root="$(cd "$package/../.." && pwd -P)"
library="${REMORA_LIBRARY_DIR:-$root/build/release/src/c_api}"
export REMORA_INCLUDE_DIR="${REMORA_INCLUDE_DIR:-$root/include}"
export REMORA_TINY_DIR="${REMORA_TINY_DIR:-$library/../../tests/tiny}"
torch="${REMORA_TORCH_LIB_DIR:-$root/.deps/python/torch/lib}"
work="$root/build/swift"

skip() {
  echo "swift: $*"
  exit 77
}

find_swift() {
  local candidate
  for candidate in "$(command -v swift || true)" /opt/swift/usr/bin/swift /usr/libexec/swift/bin/swift; do
    [[ -x "$candidate" ]] && echo "$candidate" && return
  done
  return 1
}

# The build tree as pkg-config sees an installed one.
write_pc() {
  mkdir -p "$work/pkgconfig"
  sed -e "s|@REMORA_PC_PREFIX@|$root|; s|@REMORA_PC_LIBDIR@|$library|" \
    -e "s|@REMORA_PC_INCLUDEDIR@|$REMORA_INCLUDE_DIR|" \
    -e "s|@PROJECT_DESCRIPTION@|remora of the build tree|; s|@PROJECT_VERSION@|0|" \
    -e '/@REMORA_/d' "$root/pkgconfig/remora.pc.in" >"$work/pkgconfig/remora.pc"
  export PKG_CONFIG_PATH="$work/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}"
}

# A package that depends on this one, as a user's would; its program is the README's.
write_readme_package() {
  mkdir -p "$work/readme/Sources/readme"
  awk '/^```swift$/ {inside = 1; next} /^```$/ {exit} inside' "$package/README.md" \
    >"$work/readme/Sources/readme/main.swift"
  cat >"$work/readme/Package.swift" <<MANIFEST
// swift-tools-version: 6.0
import PackageDescription

let package = Package(
  name: "readme",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "Remora", path: "$package")],
  targets: [
    .executableTarget(name: "readme", dependencies: [.product(name: "Remora", package: "Remora")])
  ]
)
MANIFEST
}

# build FOLDER-OF-PACKAGE FOLDER-OF-RESULT ARGUMENT...: one job, and a warning is an error.
build() {
  "$swift" build -j 1 --package-path "$1" --scratch-path "$2" -Xswiftc -warnings-as-errors "${@:3}"
}

swift="$(find_swift)" || skip "no Swift tool chain was found (swift 6, see https://swift.org/install)"
"$swift" --version 2>&1 | grep -qE 'Swift version ([6-9]|[1-9][0-9])\.' || skip "Swift 6 is needed"
command -v pkg-config >/dev/null || skip "pkg-config is missing"
[[ -e "$library/libremora.so" || -e "$library/libremora.dylib" ]] || {
  echo "swift: no libremora in $library; build it first with ./dev build" >&2
  exit 1
}

write_pc
write_readme_package
build "$package" "$work/package" --build-tests
build "$work/readme" "$work/readme/build"

export LD_LIBRARY_PATH="$library:$torch${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export REMORA_SWIFT_SAY="$work/package/debug/say"
export REMORA_SWIFT_README="$work/readme/build/debug/readme"
"$swift" test --package-path "$package" --scratch-path "$work/package" --skip-build \
  -Xswiftc -warnings-as-errors --disable-xctest --no-parallel
