"""Compares an exported voice in remora with the modules that were trained: prompts and greedy codes
must be equal, logits within TOLERANCE. Both compute in float32 from the exported weights."""

import argparse
import json
import pathlib

import torch

import engine
import generate
import tokenizer

TOLERANCE = 1e-3  # float32 sums in another order, through seven layers


class Comparison:
    def __init__(self, folder, library):
        self.model = generate.load(folder)
        described = json.loads((folder / "tokenizer.json").read_text())
        self.tokenizer = tokenizer.Tokenizer(described)
        self.engine = engine.Engine(library, folder, self.model.config.num_codebooks)
        self.largest = 0.0

    def near(self, got, expected):
        """`got`, the engine's, may be shorter: codes that the codec lacks are never drawn."""
        got = torch.tensor(got)
        self.largest = max(self.largest, float((got - expected[:len(got)]).abs().max()))

    def main_logits(self, hidden):
        """In the engine's order: semantic tokens and the end token by ascending id."""
        config = self.model.config
        ids = sorted([*range(config.semantic_begin, config.semantic_begin + config.codebook_size),
                      config.im_end])
        return self.model.main_logits(hidden)[0, ids]

    @torch.no_grad()
    def sentence(self, text, most_frames):
        """Frames that were compared; an error names the first that differs."""
        ids = self.tokenizer.system() + self.tokenizer.request(text)
        if self.engine.prompt_tokens(text) != ids:
            raise SystemExit(f"the prompts of '{text}' differ")
        prompt = generate.prompt_columns(self.tokenizer, text, self.model.config.num_codebooks)
        session = generate.Generator(self.model, top_k=1)
        hidden = session.start(prompt)
        self.engine.start(text)
        for count in range(most_frames):
            self.near(self.engine.logits(0), self.main_logits(hidden))
            frame, codes = session.frame(hidden), self.engine.step()
            if codes is None or frame[0] == self.model.config.im_end:
                if codes is not None or frame[0] != self.model.config.im_end:
                    raise SystemExit(f"'{text}': one ends at frame {count}, the other does not")
                return count
            if codes != frame[1:].tolist():
                raise SystemExit(f"'{text}': frame {count} is {codes} in the engine, "
                                 f"{frame[1:].tolist()} here")
            for codebook in range(1, len(codes)):
                self.near(self.engine.logits(codebook), session.fast_logits[codebook])
            hidden = session.advance(frame[:, None])
        return most_frames


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--voice", type=pathlib.Path, required=True, help="the exported folder")
    parser.add_argument("--library", type=pathlib.Path, required=True, help="libremora.so")
    parser.add_argument("--text", type=pathlib.Path, required=True, help="one sentence a line")
    parser.add_argument("--count", type=int, default=20, help="its last lines, compared")
    parser.add_argument("--frames", type=int, default=120, help="at most so many of a sentence")
    args = parser.parse_args()
    torch.set_num_threads(1)
    comparison = Comparison(args.voice, args.library)
    lines = args.text.read_text().splitlines()[-args.count:]
    frames = sum(comparison.sentence(text, args.frames) for text in lines)
    comparison.engine.close()
    print(f"{len(lines)} sentences, {frames} frames: prompts and greedy codes equal, "
          f"largest difference of logits {comparison.largest:.1e}")
    if comparison.largest > TOLERANCE:
        raise SystemExit(f"more than {TOLERANCE} apart")


if __name__ == "__main__":
    main()
