"""Checks lm_model.py and generate.py against the reference numbers in tests/data/lm (s2pro_tiny):
logits and hidden vectors of every frame, greedy codes equal, the embedding of semantic columns."""

import argparse
import json
import pathlib

import torch
from safetensors.torch import load_file

import generate

HERE = pathlib.Path(__file__).resolve().parent
TOLERANCE = 3e-5  # float32 sums in another order; logits reach 7


class Differences:
    def __init__(self):
        self.largest = {}

    def add(self, what, got, expected):
        difference = float((got.float() - expected.float()).abs().max())
        self.largest[what] = max(self.largest.get(what, 0.0), difference)


@torch.no_grad()
def check_batch(model, batch, data, found):
    """One prompt and its greedy frames; True if all frames are equal."""
    session = generate.Generator(model, top_k=1)
    hidden = session.start(data[batch["prompt"]].long())
    frames = data[batch["frames"]].long()  # [1+N, S]
    equal = True
    for i in range(frames.shape[1]):
        found.add("slow logits", model.main_logits(hidden)[0], data[batch["slow_logits"]][i])
        found.add("hidden", hidden[0], data[batch["slow_hidden"]][i])
        frame = session.frame(hidden)
        found.add("fast logits", torch.stack(session.fast_logits), data[batch["fast_logits"]][i])
        main = int(frames[0, i]) - model.config.semantic_begin
        if i:
            session.recent = (session.recent + [main])[-10:]
        equal &= torch.equal(frame, frames[:, i])
        hidden = session.advance(frames[:, i:i + 1])
    return equal


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--golden", type=pathlib.Path, default=HERE.parents[1] / "tests/data/lm")
    folder = parser.parse_args().golden
    torch.set_num_threads(1)
    model = generate.load(folder / "s2pro_tiny")
    index = json.loads((folder / "s2pro_cases.json").read_text())
    data = load_file(folder / index.get("tensors", "s2pro_cases.safetensors"))
    found, batches, equal = Differences(), 0, 0
    for case in index["cases"]:
        for batch in case["batches"]:
            batches += 1
            equal += check_batch(model, batch, data, found)
    print(f"greedy frames equal in {equal} of {batches} batches; largest differences:",
          ", ".join(f"{what} {value:.1e}" for what, value in found.largest.items()))
    if equal < batches or max(found.largest.values()) > TOLERANCE:
        raise SystemExit("lm_model.py does not reproduce the reference")


if __name__ == "__main__":
    main()
