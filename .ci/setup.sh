# Sourced by ./dev: messages, locks, and everything that installs something.
# shellcheck shell=bash disable=SC2154

torch_version=2.13.0

# --- messages ---------------------------------------------------------------------------------

note() { printf 'dev: %s\n' "$1" >&2; }

# fail TEXT [EXIT CODE]
fail() {
  printf 'dev: error: %s\n' "$1" >&2
  exit "${2:-1}"
}

fail_with_log() {
  tail -n 40 "$2" >&2 || true
  fail "$1 (whole log: $2)"
}

# with_lock FILE COMMAND...: two calls of ./dev at once wait for each other.
with_lock() {
  local file="$1" status=0
  shift
  if ! command -v flock >/dev/null; then
    "$@"
    return
  fi
  exec 9>"$file"
  if ! flock -n 9; then
    note "waiting for another ./dev"
    flock 9
  fi
  "$@" || status=$?
  exec 9>&-
  return "$status"
}

# --- system packages --------------------------------------------------------------------------

as_root() {
  if [[ "$(id -u)" == 0 ]]; then
    "$@"
  elif command -v sudo >/dev/null; then
    sudo "$@"
  else
    fail "not root, and no sudo, to run: $*"
  fi
}

# install_packages PACKAGE...: by apt; on other systems says what is needed.
install_packages() {
  command -v apt-get >/dev/null ||
    fail "this is no Debian-like system; please install what these Debian packages hold: $*"
  local log="$root/.deps/apt.log"
  local apt=(env DEBIAN_FRONTEND=noninteractive apt-get -y -q -o DPkg::Lock::Timeout=300)
  mkdir -p "$root/.deps"
  note "installing system packages: $*"
  as_root "${apt[@]}" install --no-install-recommends "$@" >"$log" 2>&1 && return
  note "refreshing the package lists"
  as_root "${apt[@]}" update >>"$log" 2>&1 ||
    note "apt-get update reported errors; trying all the same"
  as_root "${apt[@]}" install --no-install-recommends "$@" >>"$log" 2>&1 ||
    fail_with_log "apt-get could not install: $* (is the network reachable?)" "$log"
}

# ensure_tool COMMAND PACKAGE
ensure_tool() {
  command -v "$1" >/dev/null || install_packages "$2"
}

# want_tools COMMAND:PACKAGE...: for checks that say so when they cannot run. Where nothing can be
# installed the tests go on without them, except in CI.
want_tools() {
  local pair missing=()
  for pair in "$@"; do
    command -v "${pair%%:*}" >/dev/null || missing+=("${pair#*:}")
  done
  (( ${#missing[@]} > 0 )) || return 0
  if [[ "${CI:-}" == true || "$(id -u)" == 0 ]] || sudo -n true 2>/dev/null; then
    with_lock_dir install_packages "${missing[@]}"
  else
    note "some checks will be skipped without: ${missing[*]}"
  fi
}

# Prints the Debian packages of what the build needs and this machine lacks. Asks for the thing
# itself, not for the package: it may have come another way.
missing_packages() {
  local pair
  for pair in cmake:cmake ninja:ninja-build c++:g++ cc:gcc pkg-config:pkg-config \
    ccache:ccache python3:python3 git:git readelf:binutils flock:util-linux; do
    command -v "${pair%%:*}" >/dev/null || echo "${pair#*:}"
  done
  for pair in sndfile:libsndfile1-dev libpcre2-8:libpcre2-dev libutf8proc:libutf8proc-dev \
    nlohmann_json:nlohmann-json3-dev CLI11:libcli11-dev gtest:libgtest-dev gmock:libgmock-dev \
    benchmark:libbenchmark-dev; do
    pkg-config --exists "${pair%%:*}" 2>/dev/null || echo "${pair#*:}"
  done
}

ensure_build_tools() {
  local missing
  missing="$(missing_packages)"
  if [[ -n "$missing" ]]; then
    # shellcheck disable=SC2086
    with_lock_dir install_packages $missing
    hash -r
    missing="$(missing_packages)"
    [[ -z "$missing" ]] || note "still not found after installing: ${missing//$'\n'/ }"
  fi
  local version
  version="$(cmake --version | awk 'NR == 1 {print $3}')"
  [[ "$(printf '3.25\n%s\n' "$version" | sort -V | head -n 1)" == 3.25 ]] ||
    fail "cmake $version is too old, 3.25 is needed"
}

with_lock_dir() {
  mkdir -p "$root/.deps"
  with_lock "$root/.deps/.lock" "$@"
}

# --- LibTorch ---------------------------------------------------------------------------------

torch_is_usable() {
  [[ -e "$torch/include/ATen/core/Tensor.h" ]] &&
    { [[ -e "$torch/lib/libtorch_cpu.so" ]] || [[ -e "$torch/lib/libtorch_cpu.dylib" ]]; }
}

ensure_torch() {
  torch_is_usable && return
  [[ -z "${REMORA_TORCH_DIR:-}" ]] ||
    fail "REMORA_TORCH_DIR=$REMORA_TORCH_DIR holds no include/ATen and lib/libtorch_cpu"
  python3 -m pip --version >/dev/null 2>&1 || with_lock_dir install_packages python3-pip
  with_lock_dir install_torch
}

# pip_torch LOG REQUIREMENT: unpacks one wheel, without its dependencies, into .deps/python.new.
pip_torch() {
  local log="$1" requirement="$2"
  local pip=(python3 -m pip install --disable-pip-version-check --only-binary=:all: --no-deps
    --target "$root/.deps/python.new")
  rm -rf "$root/.deps/python.new"
  if [[ -t 2 ]]; then  # a person is watching: show pip's progress bar
    "${pip[@]}" "$requirement" 2>&1 | tee "$log" >&2
  else
    "${pip[@]}" --progress-bar off "$requirement" >"$log" 2>&1
  fi
}

# True when the new libtorch_cpu finds every library it needs.
new_torch_is_complete() {
  local library="$root/.deps/python.new/torch/lib/libtorch_cpu.so"
  [[ ! -e "$library" ]] || ! ldd "$library" 2>/dev/null | grep -q 'not found'
}

# The standard build has CUDA in it, and its libtorch_cpu needs two small CUDA libraries even to
# load on the CPU. Only these are fetched, not the gigabytes that the CUDA kernels need.
install_cuda_runtime() {
  local metadata="$root/.deps/python.new/torch-$torch_version.dist-info/METADATA" version
  version="$(sed -n '/^Requires-Dist: cuda-toolkit\[/ s/[^=]*==\([0-9.]*\).*/\1/p' "$metadata")"
  [[ -n "$version" ]] || return 0
  note "fetching the CUDA $version run time that this build loads (about 15 MB)"
  python3 -m pip install --disable-pip-version-check --only-binary=:all: --progress-bar off \
    --target "$root/.deps/python.new" "cuda-toolkit[cudart,cupti]==$version" >>"$1" 2>&1 ||
    fail_with_log "pip could not install the CUDA run time" "$1"
}

# The wheel carries headers and libraries; Python itself is not used afterwards. The CPU build is a
# quarter of the size, but only some package indexes have it.
install_torch() {
  torch_is_usable && return  # another ./dev was quicker
  local log="$root/.deps/pip.log"
  note "fetching LibTorch $torch_version (CPU build, about 200 MB) into .deps/"
  if ! pip_torch "$log" "torch==$torch_version+cpu"; then
    note "this package index has no CPU build; fetching the standard one (about 600 MB)"
    pip_torch "$log" "torch==$torch_version" ||
      fail_with_log "pip could not install torch==$torch_version (is the network reachable?); \
a LibTorch of your own can be used through REMORA_TORCH_DIR" "$log"
    new_torch_is_complete || install_cuda_runtime "$log"
  fi
  new_torch_is_complete || fail "the LibTorch in the wheel lacks libraries: see \
ldd $root/.deps/python.new/torch/lib/libtorch_cpu.so"
  rm -rf "$root/.deps/python"
  mv "$root/.deps/python.new" "$root/.deps/python"
  torch_is_usable || fail "the torch wheel holds no LibTorch; see $log"
  note "LibTorch is in .deps/python/torch"
}
