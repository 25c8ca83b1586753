#!/usr/bin/env bash
# The other kind of install, into a prefix that does not move: it may name LibTorch's own folder, so
# that it runs at once. Only its rules are made here; building everything twice would prove no more.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
fixed="$area/fixed"
rm -rf "$fixed"
cmake -S "$SOURCE" -B "$fixed" -DREMORA_TORCH_DIR="$(dirname "$TORCH_LIB")" \
  -DREMORA_RELOCATABLE=OFF -DREMORA_BUILD_TESTS=OFF -DCMAKE_INSTALL_PREFIX=/opt/remora \
  >"$area/fixed.log" 2>&1 || complain "$(tail -n 20 "$area/fixed.log")"

expect "prefix in remora.pc" "prefix=/opt/remora" "$(grep '^prefix=' "$fixed/remora.pc")"
expect "RUNPATH of the library" "\$ORIGIN:\$ORIGIN/remora:$TORCH_LIB" \
  "$(sed -n 's/.*NEW_RPATH "\(.*\)").*/\1/p' "$fixed/cmake_install.cmake" | sort -u | tr -d '\\')"
if (cd "$fixed" && cpack -G TGZ) >"$area/fixed.log" 2>&1; then
  complain "cpack makes packages of a build that names this machine's folders"
fi
grep -q REMORA_RELOCATABLE "$area/fixed.log" || complain "cpack does not say what to do"
echo "fixed_install_test: passed"
