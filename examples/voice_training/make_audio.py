"""Reads text.txt aloud with flite's 'slt' voice (16 kHz): audio.npy (int16) and offsets.npy.

flite begins and ends with silence; a sentence starts LEAD seconds before its first sample above
THRESHOLD and ends TRAIL seconds after its last one, so that frames are not spent on silence.

The voice speaks on one tone, of PITCH. flite excites its filters with a pulse for each period, and
a voiced stretch begins at one of its 5 ms steps. At 200 Hz period and step are equal: all pulses of
all sentences lie on one grid, of PERIOD samples, and a frame of the codec holds a whole number of
them. So the decoder need not be told where the pulses are, which a few bits a frame cannot say and which
took most of the training when the tone moved. A sentence is cut on the grid and filled with silence
to whole frames; `--pitch 0` keeps flite's own melody.
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
PITCH = 200  # Hz
PERIOD = 80  # samples, of PITCH and of flite's steps
FRAME = 800  # samples, of the codec


def trim(sound, threshold=THRESHOLD):
    """The part from the first to the last loud sample, with margins; both ends on the grids."""
    loud = numpy.flatnonzero(numpy.abs(sound.astype(numpy.int32)) > threshold)
    lead, trail = int(LEAD * RATE), int(TRAIL * RATE)  # lead is a multiple of PERIOD
    first = loud[0] // PERIOD * PERIOD
    length = -(-(lead + loud[-1] + 1 - first + trail) // FRAME) * FRAME
    return numpy.pad(sound, (lead, length))[first : first + length]


def speak(sentence, voice="slt", pitch=PITCH):
    """int16 samples of one sentence."""
    tone = ["--setf", f"int_f0_target_mean={pitch}", "--setf", "int_f0_target_stddev=0"]
    with tempfile.NamedTemporaryFile(suffix=".wav") as file:
        command = ["flite", "-voice", voice, *(tone if pitch else []), "-t", sentence]
        subprocess.run([*command, "-o", file.name], check=True)
        with wave.open(file.name) as sound:
            if sound.getframerate() != RATE or sound.getnchannels() != 1:
                raise ValueError(f"flite's voice {voice} is not {RATE} Hz mono; use slt")
            return trim(numpy.frombuffer(sound.readframes(sound.getnframes()), numpy.int16))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=pathlib.Path, required=True, help="folder of text.txt")
    parser.add_argument("--voice", default="slt")
    parser.add_argument("--pitch", type=int, default=PITCH, help="Hz; 0: as flite would speak")
    parser.add_argument("--processes", type=int, default=2)
    args = parser.parse_args()
    lines = (args.data / "text.txt").read_text().splitlines()
    with multiprocessing.Pool(args.processes) as pool:
        read = functools.partial(speak, voice=args.voice, pitch=args.pitch)
        sounds = pool.map(read, lines, chunksize=20)
    offsets = numpy.cumsum([0] + [len(sound) for sound in sounds])
    numpy.save(args.data / "audio.npy", numpy.concatenate(sounds))
    numpy.save(args.data / "offsets.npy", offsets.astype(numpy.int64))
    print(f"{len(lines)} sentences, {offsets[-1] / RATE / 3600:.2f} hours")


if __name__ == "__main__":
    main()
