"""What a recogniser hears: pocketsphinx with its own English model, and the word errors of it.

    pip install pocketsphinx
"""

import re
import wave

import pocketsphinx

RATE = 16000  # Hz, of the recogniser's model


def words(text: str) -> list[str]:
    """Lower case, no punctuation; hyphens part words, apostrophes stay in them."""
    return re.sub(r"[^a-z' ]", "", re.sub(r"[-\u2013\u2014\n\t]", " ", text.lower())).split()


def word_errors(expected: list[str], heard: list[str]) -> int:
    """The fewest words to put in, take out or replace."""
    row = list(range(len(heard) + 1))
    for i, word in enumerate(expected, 1):
        diagonal, row[0] = row[0], i
        for j, other in enumerate(heard, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (word != other))
    return row[-1]


def read_wave(path) -> bytes:
    """The samples of a mono 16-bit file at the recogniser's rate, little-endian."""
    with wave.open(str(path)) as file:
        form = (file.getnchannels(), file.getsampwidth(), file.getframerate())
        if form != (1, 2, RATE):
            raise SystemExit(f"{path}: has {form[0]} channels, {8 * form[1]} bit, {form[2]} Hz; "
                             f"the recogniser takes mono, 16 bit, {RATE} Hz")
        return file.readframes(file.getnframes())


class Recogniser:
    """One decoder for many files; each is heard as if it were the first."""

    def __init__(self) -> None:
        self._decoder = pocketsphinx.Decoder(samprate=RATE, loglevel="FATAL")

    def heard(self, pcm: bytes) -> list[str]:
        """The words in 16-bit samples."""
        self._decoder.reinit_feat()  # forgets the loudness and colour of the file before
        self._decoder.start_utt()
        self._decoder.process_raw(pcm, full_utt=True)
        self._decoder.end_utt()
        hypothesis = self._decoder.hyp()
        return words(hypothesis.hypstr) if hypothesis else []
