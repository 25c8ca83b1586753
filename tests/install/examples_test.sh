#!/usr/bin/env bash
# The installed sources of the examples, each built by the very line in its head.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
rm -rf "$area/examples"
mkdir -p "$area/examples"
cp "$moved"/share/doc/remora/examples/*.c "$area/examples"
cd "$area/examples"
# A way from here: a blank in a prefix would need a quoting that no one writes in a comment.
export PKG_CONFIG_PATH="../moved/$LIBDIR/pkgconfig" LD_LIBRARY_PATH="$moved/$LIBDIR"
cc() {
  # shellcheck disable=SC2086
  "$CC" $SANITIZE -Wall -Wextra -pedantic -Werror "$@"
}
built=0
for source in *.c; do
  program="${source%.c}"
  line="$(sed -n 's/^ \*  *\(cc .*\)$/\1/p' "$source")"
  [[ "$line" == "cc -std=c99 $source -o $program "* ]] || complain "$source: how is it built?"
  eval "$line" || complain "$source: its own line does not build it: $line"
  status=0
  message="$("./$program" 2>&1)" || status=$?
  expect "exit code and message of $program without arguments" "2 usage: $program" \
    "$status $(cut -d' ' -f1,2 <<<"$message")"
  built=$((built + 1))
done
expect "examples installed" "$(find "$SOURCE/examples/c" -name '*.c' | wc -l)" "$built"
echo "examples_test: $built programs, passed"
