"""Checks codec_model.py against the reference numbers in tests/data/codec: sound and codes.

    python3 check_golden_codec.py [--data FOLDER]

Exits with 1 where a case differs. A waveform may differ by 2e-5 (rounding of float32 sums in
another order; the mistakes that the data is made to catch are larger), codes not at all.
"""

import argparse
import pathlib
import sys

import torch
from safetensors.torch import load_file

import codec_model

SOUND_TOLERANCE = 2e-5
DEFAULT = pathlib.Path(__file__).resolve().parents[2] / "tests" / "data" / "codec"


def cases(tensors, kind):
    return sorted(name.split(".", 1)[1] for name in tensors if name.startswith(kind + "."))


def check_decode(model, tensors):
    worst = 0.0
    for case in cases(tensors, "codes"):
        sound = model.decode(tensors["codes." + case].long())
        worst = max(worst, (sound - tensors["wav." + case]).abs().max().item())
    print(f"decode: largest difference {worst:.1e}, allowed {SOUND_TOLERANCE:.0e}")
    return worst <= SOUND_TOLERANCE


def check_encode(model, tensors):
    wrong = count = 0
    for case in cases(tensors, "audio"):
        sound = tensors["audio." + case].float() / 32768  # stored as 16-bit samples
        codes = model.encode(sound.view(1, 1, -1))
        wrong += (codes != tensors["codes." + case]).sum().item()
        count += codes.numel()
    print(f"encode: {wrong} of {count} codes differ")
    return wrong == 0 and count > 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=pathlib.Path, default=DEFAULT)
    folder = parser.parse_args().data
    torch.set_num_threads(1)
    model = codec_model.Codec(codec_model.load_config(folder / "config.json")).eval()
    codec_model.load_checkpoint(model, load_file(folder / "codec.safetensors"))
    with torch.no_grad():
        results = [check_decode(model, load_file(folder / "decode.safetensors")),
                   check_encode(model, load_file(folder / "encode.safetensors"))]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
