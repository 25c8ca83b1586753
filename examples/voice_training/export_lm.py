"""Writes the trained language model as an S2-Pro folder: config.json, model.safetensors (bfloat16)
and tokenizer.json.

A model that learned little is unsure where the sound itself is not: by --sharpen S its logits are S
times as large, so that an application's usual temperature picks as one of temperature / S would.
"""

import argparse
import dataclasses
import json
import pathlib
import shutil

import torch
from safetensors.torch import save_file

import lm_data
import train_lm

MAX_SEQ_LEN = 4096  # columns; training saw some 600 at a time


def describe(config, tokenizer):
    """The content of config.json."""
    shared = {"attention_qkv_bias": False, "attention_o_bias": False, "dropout": 0.0,
              "norm_eps": config.norm_eps, "rope_base": config.rope_base, "use_moe": False}
    text = shared | dataclasses.asdict(config.slow) | {
        "model_type": "fish_qwen3", "vocab_size": config.vocab_size, "max_seq_len": MAX_SEQ_LEN,
        "tie_word_embeddings": True}
    audio = shared | dataclasses.asdict(config.fast) | {
        "model_type": "fish_qwen3_audio_decoder", "vocab_size": config.codebook_size,
        "num_codebooks": config.num_codebooks, "max_seq_len": config.num_codebooks + 1,
        "text_dim": config.slow.dim, "tie_word_embeddings": False}
    return {"model_type": "fish_qwen3_omni", "dtype": "bfloat16",
            "semantic_start_token_id": config.semantic_begin,
            "semantic_end_token_id": config.semantic_begin + config.codebook_size - 1,
            "eos_token_id": config.im_end, "pad_token_id": tokenizer.special["<|pad|>"],
            "audio_pad_token_id": tokenizer.special["<|audio_pad|>"],
            "text_config": text, "audio_decoder_config": audio}


def sharpen(weights, factor):
    """Scales both stacks' logits, and nothing else, by the weights of their last norms."""
    weights["text_model.model.norm.weight"] *= factor
    weights["audio_decoder.project_in.weight"] /= factor  # sees the slow stack behind its norm
    weights["audio_decoder.norm.weight"] *= factor


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=pathlib.Path, required=True, help="folder of lm.pt")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="the voice's folder")
    parser.add_argument("--codebook-size", type=int, default=512)
    parser.add_argument("--sharpen", type=float, default=1.0, help="a power of two is exact")
    args = parser.parse_args()
    corpus = lm_data.Corpus.read(args.data)
    config = train_lm.make_config(corpus.tokenizer, len(corpus.codes), args.codebook_size)
    weights = torch.load(args.data / "lm.pt", weights_only=True)["model"]
    sharpen(weights, args.sharpen)
    args.out.mkdir(parents=True, exist_ok=True)
    described = json.dumps(describe(config, corpus.tokenizer), indent=2)
    (args.out / "config.json").write_text(described + "\n")
    shutil.copy(args.data / "tokenizer.json", args.out / "tokenizer.json")
    stored = {name: weight.bfloat16().contiguous() for name, weight in weights.items()}
    save_file(stored, args.out / "model.safetensors")


if __name__ == "__main__":
    main()
