"""Distances between sounds by their spectra: what the codec is trained to make small."""

import functools
import math

import torch
from torch.nn import functional as F

SAMPLE_RATE = 16000  # Hz
SCALES = ((1024, 80), (512, 64), (256, 40), (128, 20))  # window in samples, mel bands
FLOOR = 1e-3  # magnitudes below count as silence; 16-bit sound has nothing beneath it


def _mel(hertz):
    return 2595 * math.log10(1 + hertz / 700)


@functools.lru_cache
def mel_filters(window, bands):
    """Triangles from 20 Hz to half the sample rate, [bands, window / 2 + 1]."""
    low, high = _mel(20.0), _mel(SAMPLE_RATE / 2)
    marks = torch.linspace(low, high, bands + 2, dtype=torch.float64)
    corners = (700 * (10 ** (marks / 2595) - 1)).float()
    bins = torch.linspace(0, SAMPLE_RATE / 2, window // 2 + 1)
    rising = (bins - corners[:-2, None]) / (corners[1:-1] - corners[:-2])[:, None]
    falling = (corners[2:, None] - bins) / (corners[2:] - corners[1:-1])[:, None]
    return torch.minimum(rising, falling).clamp(min=0) / math.sqrt(window)


@functools.lru_cache
def _hann(window):
    return torch.hann_window(window)


def magnitudes(sound, window):
    """[batch, window / 2 + 1, steps] of sound [batch, samples], a quarter window apart."""
    return torch.stft(sound, window, window // 4, window, _hann(window), return_complex=True).abs()


def log_mel(spectrum, window, bands):
    return torch.log10((mel_filters(window, bands) @ spectrum).clamp(min=FLOOR))


def distances(made, wanted):
    """Mean difference of log10 mel spectra, and of spectra relative to the wanted ones' mean."""
    mel = linear = 0.0
    for window, bands in SCALES:
        a = magnitudes(made, window)
        with torch.no_grad():
            b = magnitudes(wanted, window)
            target = log_mel(b, window, bands)
        mel = mel + F.l1_loss(log_mel(a, window, bands), target)
        linear = linear + F.l1_loss(a, b) / (b.mean() + FLOOR)
    return mel / len(SCALES), linear / len(SCALES)
