"""Draws frames from the language model, one sentence at a time: the loop and the sampler of S2.

As a program it writes the codes [N, frames] of the last lines of a text with an exported model.
"""

import argparse
import json
import pathlib

import numpy
import torch
from safetensors.torch import load_file

import lm_model
import tokenizer as tokenizer_module


def load(folder):
    """The model of a checkpoint folder, in float32."""
    model = lm_model.DualAR(lm_model.read_config(folder))
    tensors = {}
    for file in sorted(folder.glob("model*.safetensors")):
        tensors |= load_file(file)
    model.load_state_dict({name: tensor.float() for name, tensor in tensors.items()})
    return model.eval()


def draw(logits, temperature, top_p, top_k, generator):
    """One index of a logit vector; top_k 1 takes the most likely."""
    if top_k == 1:
        return int(logits.argmax())
    logits, order = logits.float().sort(descending=True)
    removed = logits.softmax(-1).cumsum(-1) > top_p
    removed |= torch.arange(len(logits)) >= top_k
    removed[0] = False
    share = (logits.masked_fill(removed, -torch.inf) / max(temperature, 1e-5)).softmax(-1)
    return int(order[torch.multinomial(share, 1, generator=generator)])


class Generator:
    """A session: the columns so far are in the caches."""

    def __init__(self, model, temperature=0.7, top_p=0.8, top_k=30, seed=0):
        self.model, self.config = model, model.config
        self.sampling = (temperature, top_p, top_k)
        self.random = torch.Generator().manual_seed(seed)

    def start(self, prompt):
        """prompt [1+N, T] -> the hidden vector [1, dim] that the first frame is drawn from."""
        self.caches = [[] for _ in self.model.text_model.model.layers]
        self.position, self.recent = 0, []
        return self.advance(prompt)

    def advance(self, columns):
        hidden = self.model.slow(columns[None], self.position, self.caches)
        self.position += columns.shape[1]
        return hidden[:, -1]

    def main_token(self, hidden):
        config = self.config
        semantic = self.model.main_logits(hidden, config.semantic_begin, config.codebook_size)
        end = self.model.main_logits(hidden, config.im_end, 1)
        logits = torch.cat([semantic, end], -1)[0]
        first = draw(logits, *self.sampling, self.random)
        temperature, top_p, top_k = self.sampling
        if first in self.recent and first < config.codebook_size:  # no repetition within 10 frames
            first = draw(logits, 1.0, 0.9, top_k, self.random)
        return config.im_end if first == config.codebook_size else config.semantic_begin + first

    def frame(self, hidden):
        """The next column [1+N]."""
        config, fast = self.config, self.model.audio_decoder
        main = self.main_token(hidden)
        code = min(max(main - config.semantic_begin, 0), config.codebook_size - 1)
        column, caches = [main, code], [[] for _ in fast.layers]
        self.fast_logits = [self.model.fast(fast.project_in(hidden)[:, None], 0, caches)[0, 0]]
        for position in range(1, config.num_codebooks):
            x = fast.embeddings(torch.tensor([[code]])).to(hidden.dtype)
            self.fast_logits.append(self.model.fast(x, position, caches)[0, 0])
            code = draw(self.fast_logits[-1], *self.sampling, self.random)
            column.append(code)
        return torch.tensor(column)

    @torch.no_grad()
    def codes(self, prompt, most_frames):
        """Codes [N, frames] up to the end token, which is not among them."""
        hidden, frames = self.start(prompt), []
        while len(frames) < most_frames:
            frame = self.frame(hidden)
            if frame[0] == self.config.im_end:
                break
            if frames:  # the first frame never enters the window
                self.recent = (self.recent + [int(frame[0]) - self.config.semantic_begin])[-10:]
            frames.append(frame)
            hidden = self.advance(frame[:, None])
        return torch.stack(frames, 1)[1:] if frames else prompt.new_zeros((len(prompt) - 1, 0))


def prompt_columns(tokenizer, text, num_codebooks):
    """The prompt [1+N, T] that a text is spoken from."""
    ids = torch.tensor(tokenizer.system() + tokenizer.request(text))
    return torch.cat([ids[None], ids.new_zeros((num_codebooks, len(ids)))])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--voice", type=pathlib.Path, required=True, help="the exported folder")
    parser.add_argument("--text", type=pathlib.Path, required=True, help="one sentence a line")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder for 0.npy, ...")
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--temperature", type=float, default=0.7)
    parser.add_argument("--top-p", type=float, default=0.8)
    parser.add_argument("--top-k", type=int, default=30, help="1: greedy")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    torch.set_num_threads(1)
    model = load(args.voice)
    described = json.loads((args.voice / "tokenizer.json").read_text())
    tokenizer = tokenizer_module.Tokenizer(described)
    session = Generator(model, args.temperature, args.top_p, args.top_k, args.seed)
    args.out.mkdir(parents=True, exist_ok=True)
    for i, text in enumerate(args.text.read_text().splitlines()[-args.count:]):
        prompt = prompt_columns(tokenizer, text, model.config.num_codebooks)
        codes = session.codes(prompt, 64 + 5 * len(text))
        numpy.save(args.out / f"{i}.npy", codes.numpy().astype(numpy.int32))
        print(f"{i}: {codes.shape[1]} frames  {text}")


if __name__ == "__main__":
    main()
