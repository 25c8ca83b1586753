"""Mel-spectrograms of one sentence as PNG: flite, through the codec, and remora.

    PYTHONPATH=... python3 pictures.py --sounds DIR/measured --sentence 7 --out ../../docs/pictures

Reads what measure.py left in --sounds and writes voice-{flite,codec,remora}.png: time from left to
right, 50 columns a second; 80 mel bands from 0 to 8 kHz from bottom to top; brightness over 70 dB.
"""

import argparse
import struct
import zlib
from pathlib import Path

import numpy as np

from recognise import RATE, read_wave

KINDS = ("flite", "codec", "remora")
BANDS, WINDOW, HOP = 80, 800, 160   # samples: 50 ms, 10 ms
RANGE_DB = 70.0
ROW_PIXELS, COLUMN_PIXELS = 3, 4
# Black, violet, orange, pale yellow: brighter is louder.
STOPS = np.array([[0, 0, 4], [100, 26, 110], [230, 93, 47], [252, 253, 191]], dtype=float)


def mel_filters(bins: int) -> np.ndarray:
    """Triangles of equal width in mel: [BANDS, bins]."""
    def mel(hz):
        return 2595 * np.log10(1 + hz / 700)
    edges = 700 * (10 ** (np.linspace(0, mel(RATE / 2), BANDS + 2) / 2595) - 1)
    hz = np.linspace(0, RATE / 2, bins)
    low, middle, high = (edges[i:i + BANDS, None] for i in range(3))
    return np.maximum(0, np.minimum((hz - low) / (middle - low), (high - hz) / (high - middle)))


def mel_spectrogram(samples: np.ndarray) -> np.ndarray:
    """Power in dB: [BANDS, columns], the lowest band first."""
    padded = np.pad(samples, WINDOW // 2)
    frames = np.lib.stride_tricks.sliding_window_view(padded, WINDOW)[::HOP]  # [columns, WINDOW]
    power = np.abs(np.fft.rfft(frames * np.hanning(WINDOW), 2048)) ** 2       # [columns, bins]
    return 10 * np.log10(mel_filters(power.shape[1]) @ power.T + 1e-10)


def palette() -> np.ndarray:
    """256 colours: [256, 3]."""
    at = np.linspace(0, len(STOPS) - 1, 256)
    return np.stack([np.interp(at, range(len(STOPS)), STOPS[:, c]) for c in range(3)], 1)


def write_png(path: Path, indices: np.ndarray) -> None:
    """An image of palette entries, [rows, columns], the top row first."""
    def chunk(name: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + name + body + struct.pack(
            ">I", zlib.crc32(name + body))
    rows, columns = indices.shape
    lines = b"".join(b"\0" + row.tobytes() for row in indices.astype(np.uint8))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" +
                     chunk(b"IHDR", struct.pack(">IIBBBBB", columns, rows, 8, 3, 0, 0, 0)) +
                     chunk(b"PLTE", palette().round().astype(np.uint8).tobytes()) +
                     chunk(b"IDAT", zlib.compress(lines, 9)) + chunk(b"IEND", b""))


def picture(decibels: np.ndarray, loudest: float) -> np.ndarray:
    """Palette entries of an image, `loudest` brightest: [rows, columns], the top row first."""
    level = np.clip((decibels - loudest) / RANGE_DB + 1, 0, 1)
    level = level[:, :level.shape[1] // 2 * 2].reshape(BANDS, -1, 2).mean(2)  # 20 ms a column
    image = np.round(255 * level[::-1]).astype(np.uint8)
    return image.repeat(ROW_PIXELS, 0).repeat(COLUMN_PIXELS, 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sounds", type=Path, required=True, help="measure.py's --out")
    parser.add_argument("--sentence", type=int, default=0, help="its number there")
    parser.add_argument("--out", type=Path, required=True, help="folder for the pictures")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    for kind in KINDS:
        pcm = read_wave(args.sounds / kind / f"{args.sentence:03}.wav")
        decibels = mel_spectrogram(np.frombuffer(pcm, "<i2") / 32768)
        image = picture(decibels, decibels.max())
        write_png(args.out / f"voice-{kind}.png", image)
        print(f"{args.out / f'voice-{kind}.png'}: {image.shape[1]} x {image.shape[0]}")


if __name__ == "__main__":
    main()
