#!/usr/bin/env bash
# Gathers in one folder what a build on a GPU machine without a network needs beside CMake, a
# compiler and torch: headers and libraries of our dependencies, pkg-config and ninja, unpacked from
# Debian packages (about 15 MB).
#   tests/gpu/fetch.sh [--torch] [DIR]      DIR: .deps/gpu
# --torch also fetches LibTorch with CUDA and the CUDA run time's headers into .deps/cuda (about
# 1.5 GB unpacked), for a build without a GPU.
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)"
# shellcheck source=../../.ci/setup.sh
source "$root/.ci/setup.sh"

packages=(libsndfile1-dev libpcre2-dev libutf8proc-dev nlohmann-json3-dev libcli11-dev
  libgtest-dev libgmock-dev libbenchmark-dev pkgconf-bin ninja-build)

# The packages and those of our dependencies among what they depend on: the C library, compilers and
# the like are the other machine's own.
ours='^(lib(sndfile|flac|ogg|vorbis|opus|mpg123|out123|syn123|mp3lame|pcre2|utf8proc|cli11|gtest|gmock|benchmark|pkgconf)|nlohmann-json|googletest|pkgconf|ninja)'
with_dependencies() {
  apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks \
    --no-replaces --no-enhances "$@" | grep -E "$ours" | sort -u
}

fetch_packages() {
  local folder="$1" downloads
  downloads="$(mktemp -d)"
  mkdir -p "$folder"
  note "fetching packages into $folder"
  # shellcheck disable=SC2046
  (cd "$downloads" && chmod 755 . && apt-get -q download $(with_dependencies "${packages[@]}")) \
    >"$downloads/apt.log" 2>&1 || fail_with_log "apt-get could not download" "$downloads/apt.log"
  local package
  for package in "$downloads"/*.deb; do dpkg -x "$package" "$folder"; done
  rm -rf "$downloads" "$folder"/usr/share/{doc,man,lintian,bug,locale,bash-completion,zsh}
}

fetch_torch() {
  local python="$root/.deps/cuda" log="$root/.deps/cuda.log" version
  [[ ! -e "$python/torch/lib/libtorch_cuda.so" ]] || return 0
  mkdir -p "$root/.deps"
  note "fetching LibTorch $torch_version with CUDA (about 600 MB) into .deps/cuda"
  local pip=(python3 -m pip install --disable-pip-version-check --no-deps --progress-bar off
    --target "$python")
  # ===: the CPU build has the same version but for its label.
  "${pip[@]}" "torch===$torch_version" >"$log" 2>&1 || fail_with_log "no torch with CUDA" "$log"
  version="$(sed -n '/^Requires-Dist: cuda-toolkit\[/ s/[^=]*==\([0-9.]*\).*/\1/p' \
    "$python/torch-$torch_version.dist-info/METADATA")"
  python3 -m pip install --disable-pip-version-check --progress-bar off --target "$python" \
    "cuda-toolkit[cudart,crt]==$version" >>"$log" 2>&1 || fail_with_log "no CUDA $version headers" "$log"
}

want_torch=false
if [[ "${1:-}" == --torch ]]; then
  want_torch=true
  shift
fi
fetch_packages "${1:-$root/.deps/gpu}"
if "$want_torch"; then fetch_torch; fi
