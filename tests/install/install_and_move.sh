#!/usr/bin/env bash
# Installs to one prefix, moves it, and puts LibTorch where libremora looks for it.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
rm -rf "$area"
mkdir -p "$area"
cmake --install "$BUILD" --prefix "$area/first" >"$area/install.log"
mv "$area/first" "$moved"
ln -s "$TORCH_LIB" "$moved/$LIBDIR/remora"
