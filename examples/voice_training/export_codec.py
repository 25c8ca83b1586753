"""Writes the trained codec as a checkpoint's codec.safetensors and codec.json.

    python3 export_codec.py --data FOLDER --out VOICE

Numbers are stored as float16: half the bytes, and exact to 11 bits. The engine computes in float32.
"""

import argparse
import pathlib
import shutil

import torch
from safetensors.torch import save_file

import codec_model
from encode_corpus import load_codec


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder of the voice")
    parser.add_argument("--config", type=pathlib.Path,
                        default=pathlib.Path(__file__).with_name("codec.json"))
    options = parser.parse_args()
    tensors = codec_model.to_checkpoint(load_codec(options.data, options.config))
    stored = {name: value.to(torch.float16).contiguous() for name, value in tensors.items()}
    if not all(value.isfinite().all() for value in stored.values()):
        raise ValueError(f"{options.data}/codec.pt: a weight is beyond float16; did it diverge?")
    options.out.mkdir(parents=True, exist_ok=True)
    save_file(stored, options.out / "codec.safetensors")
    shutil.copyfile(options.config, options.out / "codec.json")
    print(f"{sum(value.numel() for value in stored.values())} numbers in {len(stored)} tensors")


if __name__ == "__main__":
    main()
