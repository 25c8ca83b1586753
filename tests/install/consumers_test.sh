#!/usr/bin/env bash
# Programs in C against the moved prefix, found by CMake and by pkg-config.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
cd "$area"
unset LD_LIBRARY_PATH

# check_program FILE: it runs, and links nothing but libremora and the C library itself.
check_program() {
  "$1" || complain "$1 failed with exit code $?"
  [[ -n "$SANITIZE" ]] && return
  expect "NEEDED of $1" "libremora.so.$ABI libc.so.6" "$(dynamic NEEDED "$1" | xargs)"
}

cmake -S "$here/cmake_consumer" -B by_cmake -DCMAKE_C_COMPILER="$CC" -DCMAKE_C_FLAGS="$SANITIZE" \
  -DCMAKE_PREFIX_PATH="$moved" >by_cmake.log 2>&1 || complain "$(cat by_cmake.log)"
cmake --build by_cmake >>by_cmake.log 2>&1 || complain "$(cat by_cmake.log)"
grep -q "^remora_DIR:PATH=$moved/" by_cmake/CMakeCache.txt || complain "found another remora"
check_program by_cmake/consumer

export PKG_CONFIG_PATH="$moved/$LIBDIR/pkgconfig"
expect "version by pkg-config" "$VERSION" "$(pkg-config --modversion remora)"
# pkg-config writes for a shell: blanks in a prefix come escaped.
eval "flags=($(pkg-config --cflags --libs remora))"
# shellcheck disable=SC2086
"$CC" $SANITIZE "$here/main.c" -o by_pkg_config "${flags[@]}" -Wl,-rpath,"$moved/$LIBDIR"
check_program ./by_pkg_config
echo "consumers_test: passed"
