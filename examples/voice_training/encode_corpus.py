"""Codes of all sentences by the codec in FOLDER/codec.pt: codes.npy and code_offsets.npy.

    python3 encode_corpus.py --data FOLDER [--threads 1]

codes.npy is int16 [rows, frames of all sentences]; sentence i has the frames code_offsets[i] to
code_offsets[i + 1]. Each is encoded from the start as the engine does it; the last frame is filled
up with zeros. Also prints how evenly each table is used.
"""

import argparse
import pathlib
import time

import numpy as np
import torch

import codec_model

BATCH = 16  # sentences of about one length at a time


def load_codec(folder, config):
    """The trained codec; the running average of the weights where one was kept."""
    model = codec_model.Codec(codec_model.load_config(config)).eval()
    state = torch.load(folder / "codec.pt", weights_only=False)
    model.load_state_dict(state["model"])
    for name, value in state["average"].items():
        model.get_parameter(name).data.copy_(value)
    model.decoder.output_scale = state["output_scale"]
    return model


@torch.no_grad()
def encode_all(model, sound, offsets):
    """A list of int16 arrays [rows, frames], one for each sentence."""
    lengths = np.diff(offsets)
    order = np.argsort(lengths, kind="stable")
    out = [None] * len(lengths)
    for first in range(0, len(order), BATCH):
        batch = order[first : first + BATCH]
        clips = np.zeros((len(batch), 1, lengths[batch].max()), np.float32)
        for row, sentence in enumerate(batch):
            clip = sound[offsets[sentence] : offsets[sentence + 1]]
            clips[row, 0, : len(clip)] = clip.astype(np.float32) / 32768
        codes = model.encode(torch.from_numpy(clips)).numpy().astype(np.int16)
        for row, sentence in enumerate(batch):
            out[sentence] = codes[row, :, : -(-lengths[sentence] // model.frame)]
    return out


def print_use(codes):
    for row, values in enumerate(codes):
        share = np.bincount(values)
        share = share[share > 0] / share.sum()
        entropy = -(share * np.log2(share)).sum()
        print(f"row {row}: {len(share)} entries used, {entropy:.2f} bits")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--config", type=pathlib.Path,
                        default=pathlib.Path(__file__).with_name("codec.json"))
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    begun = time.time()
    offsets = np.load(options.data / "offsets.npy")
    sound = np.load(options.data / "audio.npy", mmap_mode="r")
    codes = encode_all(load_codec(options.data, options.config), sound, offsets)
    counts = [code.shape[1] for code in codes]
    joined = np.concatenate(codes, 1)
    np.save(options.data / "codes.npy", joined)
    np.save(options.data / "code_offsets.npy", np.cumsum([0, *counts]))
    print(f"{joined.shape[1]} frames in {time.time() - begun:.0f} s")
    print_use(joined)


if __name__ == "__main__":
    main()
