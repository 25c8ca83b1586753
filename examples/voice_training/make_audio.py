"""Reads text.txt aloud with flite's 'slt' voice (16 kHz): audio.npy (int16) and offsets.npy.

flite begins and ends with silence; a sentence starts LEAD seconds before its first sample above
THRESHOLD and ends TRAIL seconds after its last one, so that frames are not spent on silence.
"""

import argparse
import functools
import multiprocessing
import pathlib
import subprocess
import tempfile
import wave

import numpy

RATE = 16000
LEAD, TRAIL = 0.050, 0.150  # seconds
THRESHOLD = 200  # of 32768, -44 dB: above flite's noise floor, below a final s or f


def trim(sound, threshold=THRESHOLD):
    """The part from the first to the last loud sample, with the fixed margins around it."""
    loud = numpy.flatnonzero(numpy.abs(sound.astype(numpy.int32)) > threshold)
    lead, trail = int(LEAD * RATE), int(TRAIL * RATE)
    padded = numpy.pad(sound, (lead, trail))
    return padded[loud[0]:loud[-1] + 1 + lead + trail]


def speak(sentence, voice="slt"):
    """int16 samples of one sentence."""
    with tempfile.NamedTemporaryFile(suffix=".wav") as file:
        subprocess.run(["flite", "-voice", voice, "-t", sentence, "-o", file.name], check=True)
        with wave.open(file.name) as sound:
            if sound.getframerate() != RATE or sound.getnchannels() != 1:
                raise ValueError(f"flite's voice {voice} is not {RATE} Hz mono; use slt")
            return trim(numpy.frombuffer(sound.readframes(sound.getnframes()), numpy.int16))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=pathlib.Path, required=True, help="folder of text.txt")
    parser.add_argument("--voice", default="slt")
    parser.add_argument("--processes", type=int, default=2)
    args = parser.parse_args()
    lines = (args.data / "text.txt").read_text().splitlines()
    with multiprocessing.Pool(args.processes) as pool:
        sounds = pool.map(functools.partial(speak, voice=args.voice), lines, chunksize=20)
    offsets = numpy.cumsum([0] + [len(sound) for sound in sounds])
    numpy.save(args.data / "audio.npy", numpy.concatenate(sounds))
    numpy.save(args.data / "offsets.npy", offsets.astype(numpy.int64))
    print(f"{len(lines)} sentences, {offsets[-1] / RATE / 3600:.2f} hours")


if __name__ == "__main__":
    main()
