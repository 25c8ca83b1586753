#!/usr/bin/env bash
# What the installed tree holds, and what its library says about itself.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
library="$moved/$LIBDIR/libremora.so.$VERSION"

for file in include/remora/remora.h "$LIBDIR/pkgconfig/remora.pc" bin/remora \
  "$LIBDIR/cmake/remora/remoraConfig.cmake" "$LIBDIR/cmake/remora/remoraConfigVersion.cmake" \
  "$LIBDIR/cmake/remora/remoraTargets.cmake" share/doc/remora/LICENSE; do
  [[ -f "$moved/$file" ]] || complain "$file was not installed"
done
[[ ! -e "$moved/$LIBDIR/libtorch_cpu.so" ]] || complain "LibTorch was installed unasked"
expect "the links to the library" "libremora.so.$ABI libremora.so.$VERSION" \
  "$(readlink "$moved/$LIBDIR/libremora.so") $(readlink "$moved/$LIBDIR/libremora.so.$ABI")"

expect "SONAME" "libremora.so.$ABI" "$(dynamic SONAME "$library")"
expect "RUNPATH" "\$ORIGIN:\$ORIGIN/remora" "$(dynamic RUNPATH "$library")"
readelf -dW "$library" | grep -q 'FLAGS_1.*NODELETE' || complain "not linked -z nodelete"
# LibTorch's two files, our private libraries, and the language's run time.
allowed='^(libtorch_cpu|libc10|libsndfile|libpcre2-8|libutf8proc|libstdc\+\+|libm|libgcc_s|libc)\.so'
allowed+='(\.[0-9]+)*$|^ld-linux.*$'
strangers="$(dynamic NEEDED "$library" | grep -vE "$allowed" || true)"
[[ -n "$SANITIZE" || -z "$strangers" ]] || complain "NEEDED names $strangers"
for file in libtorch_cpu.so libc10.so; do
  dynamic NEEDED "$library" | grep -qx "$file" || complain "NEEDED lacks $file"
done

expect "exported symbols" "$(<"$SOURCE/tests/abi/symbols.txt")" \
  "$(nm -D --defined-only "$library" |
    awk '$2 != "A" {sub(/@.*/, "", $3); print $3}' | LC_ALL=C sort)"
expect_no_build_path "$moved/$LIBDIR/cmake" "$moved/$LIBDIR/pkgconfig" "$moved/include"
# Debug information and sanitizers name sources on purpose.
[[ -n "$SANITIZE" ]] || expect_no_build_path "$library" "$moved/bin"
! grep -qi torch "$moved/$LIBDIR/cmake/remora/remoraTargets"*.cmake ||
  complain "the CMake package leaks LibTorch to its users"
echo "files_test: passed"
