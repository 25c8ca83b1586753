#!/usr/bin/env bash
# cpack's archive and Debian packages: their contents, their dependencies, and the program in them.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
for tool in dpkg-deb dpkg-shlibdeps file; do
  command -v "$tool" >/dev/null || { echo "skipped: no $tool here" && exit 77; }
done
packages="$area/packages"
root="$area/root"
rm -rf "$packages" "$root"
mkdir -p "$packages" "$root" "$area/unpacked"
(cd "$BUILD" && cpack -G TGZ -B "$packages" && cpack -G DEB -B "$packages") \
  >"$area/cpack.log" 2>&1 || complain "$(tail -n 30 "$area/cpack.log")"

has_voice=0
[[ ! -f "$SOURCE/examples/voices/slt/model.safetensors" ]] || has_voice=1

# use_program PREFIX: the command of that tree finds its library, LibTorch and voice by itself.
use_program() {
  local prefix="$1"
  local library_dir
  library_dir="$(dirname "$(find "$prefix" -name "libremora.so.$ABI")")"
  ln -s "$TORCH_LIB" "$library_dir/remora"
  (unset LD_LIBRARY_PATH && cd / && "$prefix/bin/remora" --version) ||
    complain "the program in $prefix does not start"
  (( has_voice )) || return 0
  expect "the model of $prefix" "$prefix/$VOICES/slt" \
    "$(unset LD_LIBRARY_PATH REMORA_MODEL && "$prefix/bin/remora" info | sed -n 's/^model: //p')"
}

tar -xzf "$packages"/remora-"$VERSION"-*.tar.gz -C "$area/unpacked"
use_program "$(echo "$area/unpacked"/remora-*)"

names=("libremora$ABI" libremora-dev remora)
(( has_voice )) && names+=(remora-voice-slt)
for name in "${names[@]}"; do
  package="$(echo "$packages/${name}_${VERSION}_"*.deb)"
  [[ -f "$package" ]] || complain "cpack made no package $name"
  dpkg-deb -x "$package" "$root"
done
use_program "$root/usr"
depends="$(dpkg-deb -f "$packages/libremora${ABI}_${VERSION}_"*.deb Depends)"
for name in libsndfile1 libpcre2-8-0 libutf8proc2 libstdc++6 libc6; do
  [[ "$depends" == *"$name"* ]] || complain "libremora$ABI does not depend on $name but on: $depends"
done
library="$root/usr/lib/libremora.so.$VERSION"
expect "RUNPATH in the package" "\$ORIGIN:\$ORIGIN/remora" "$(dynamic RUNPATH "$library")"
expect_no_build_path "$root"
echo "packages_test: passed"
