#!/usr/bin/env bash
# usage: build.sh FOLDER: compiles Remora.dll, with Remora.xml for editors, into FOLDER.
# Needs Mono's mcs.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)"
out="${1:?a folder for Remora.dll}"
mkdir -p "$out"
# 1591: members whose names say all have no comment.
mcs -unsafe -langversion:7.2 -optimize -debug -warn:4 -warnaserror -nowarn:1591 -target:library \
  -doc:"$out/Remora.xml" -out:"$out/Remora.dll" "$here"/Runtime/*.cs "$here"/Runtime/Native/*.cs
