#!/usr/bin/env bash
# The command of a moved tree speaks with the voice beside it: the one that was installed, or, where
# the sources have none, a tiny checkpoint in its place.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
voice="$VOICES/slt"
tree="$area/with voice"
rm -rf "$tree"
mkdir -p "$tree/bin" "$(dirname "$tree/$LIBDIR")" "$tree/$VOICES"
cp "$moved/bin/remora" "$tree/bin/"
ln -s "$moved/$LIBDIR" "$tree/$LIBDIR"

if [[ -f "$SOURCE/examples/voices/slt/model.safetensors" ]]; then
  diff -r "$SOURCE/examples/voices/slt" "$moved/$voice" || complain "the voice was not installed whole"
  cp -r "$moved/$voice" "$tree/$voice"
else
  [[ ! -e "$moved/$voice" ]] || complain "half a voice was installed"
  cp -r "$BUILD/tests/tiny/s2-pro" "$tree/$voice"
fi

cd "$area"
unset LD_LIBRARY_PATH REMORA_MODEL
rm -f spoken.wav
message="$("$tree/bin/remora" say "Hello from an installed tree." -o spoken.wav 2>&1)" ||
  complain "the command does not speak: $message"
expect "the first bytes of the sound" RIFF "$(head -c 4 spoken.wav)"
expect "the model" "$(cd "$tree" && pwd -P)/$voice" \
  "$("$tree/bin/remora" info | sed -n 's/^model: //p')"
echo "voice_test: passed"
