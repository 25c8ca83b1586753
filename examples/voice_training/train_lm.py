"""Trains the language model on text.txt and the codes of its sound, on one CPU thread.

Needs tokenizer.json, text.txt, codes.npy [N, frames] and code_offsets.npy in --data; writes lm.pt
there, every ten minutes and at the end, from which --resume goes on.
"""

import argparse
import math
import pathlib
import time

import numpy
import torch
import torch.nn.functional as F
from torch._inductor import config as inductor_config

import lm_data
import lm_model

HELD_OUT = 100
WARM_UP = 100  # steps
MINUTES_BETWEEN_SAVES = 10
SECONDS_BETWEEN_EXCHANGES = 30


def make_config(tokenizer, num_codebooks, codebook_size):
    slow = lm_model.Stack(dim=256, n_layer=5, n_head=4, n_local_heads=4, head_dim=64,
                          intermediate_size=768, attention_qk_norm=True)
    fast = lm_model.Stack(dim=192, n_layer=2, n_head=6, n_local_heads=6, head_dim=32,
                          intermediate_size=576, attention_qk_norm=False)
    return lm_model.Config(slow, fast, tokenizer.size, codebook_size, num_codebooks,
                           tokenizer.semantic_begin, tokenizer.special["<|im_end|>"],
                           rope_base=10000.0, norm_eps=1e-6)


@torch.no_grad()
def initialise(model):
    """Small residual branches; embeddings such that the tied head starts with small logits."""
    for name, weight in model.named_parameters():
        if weight.dim() < 2:
            continue
        last = name.endswith(("wo.weight", "w2.weight"))
        std = (0.2 if last else 0.5) / math.sqrt(weight.shape[1])
        if "embeddings" in name:
            std = 0.5 if name == "audio_decoder.embeddings.weight" else 0.06
        weight.normal_(std=std)


def corrupt(columns, config, share):
    """Replaces `share` of the frames by random others: the model learns to go on after an error."""
    main = columns[:, 0]
    semantic = (main >= config.semantic_begin) & (main < config.semantic_begin
                                                  + config.codebook_size)
    chosen = semantic & (torch.rand(main.shape) < share)
    rows = columns.transpose(1, 2)  # [batch, T, 1+N]
    frames = rows[semantic]
    changed = rows.clone()
    changed[chosen] = frames[torch.randint(len(frames), (int(chosen.sum()),))]
    return changed.transpose(1, 2)


def compile_layers(model):
    """Fuses the small operators between the matrix products: a third more columns/s."""
    inductor_config.compile_threads = 1
    for stack in (model.text_model.model, model.audio_decoder):
        for layer in stack.layers:
            layer.compile(dynamic=True)


class Losses(torch.nn.Module):
    """Cross entropies of a batch, in nats."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, inputs, columns, mask, fast_share):
        """`inputs`: the columns as the model sees them. Returns the mean of the main tokens, that
        of each code 1..N-1 over `fast_share` of the frames, and how many tokens were right."""
        config = self.model.config
        hidden = self.model.slow(inputs[:, :, :-1])[mask[:, 1:]]  # [predicted, dim]
        wanted = columns.transpose(1, 2)[:, 1:][mask[:, 1:]]  # [predicted, 1+N]
        end = wanted[:, 0] == config.im_end
        logits = torch.cat([
            self.model.main_logits(hidden, config.semantic_begin, config.codebook_size),
            self.model.main_logits(hidden, config.im_end, 1)], -1).float()
        target = torch.where(end, config.codebook_size, wanted[:, 0] - config.semantic_begin)
        right = (logits.argmax(-1) == target).float().mean()
        chosen = ~end & (torch.rand(len(end)) < fast_share)
        codes = wanted[chosen, 1:]
        x = self.model.fast_input(hidden[chosen], codes[:, :-1])
        fast = self.model.fast(x)[:, 1:].float()
        fast = F.cross_entropy(fast.flatten(0, 1), codes[:, 1:].flatten(), reduction="none")
        return F.cross_entropy(logits, target), fast.view(len(codes), -1).mean(0), right


class Exchange:
    """Two processes that train one model, each on sentences in its own order: every half minute
    each writes its weights and takes the mean of both, weighted by the steps made since."""

    def __init__(self, folder, worker):
        self.own, self.other = (folder / f"worker{k}.pt" for k in (worker, 1 - worker))
        self.leads = worker == 0  # the other one follows its clock, and so its learning rate
        self.steps, self.due = 0, 0.0
        self.seen = self.written()  # of an earlier run, if there is any

    def written(self):
        return self.other.stat().st_mtime_ns if self.other.exists() else 0

    @torch.no_grad()
    def step(self, model, seconds):
        """Call after each step; returns the seconds of training to go on from."""
        self.steps += 1
        if time.monotonic() < self.due:
            return seconds
        self.due = time.monotonic() + SECONDS_BETWEEN_EXCHANGES
        written = self.written()
        other = torch.load(self.other, weights_only=True) if written > self.seen else None
        if other and other["steps"]:
            share = other["steps"] / (other["steps"] + self.steps)
            for name, weight in model.state_dict().items():
                weight.lerp_(other["model"][name], share)
            seconds = seconds if self.leads else other["seconds"]
        self.seen = written
        new = self.own.with_suffix(".new")
        torch.save({"model": model.state_dict(), "steps": self.steps, "seconds": seconds}, new)
        new.replace(self.own)
        self.steps = 0
        return seconds


class Training:
    def __init__(self, args):
        self.args, self.step, self.seconds = args, 0, 0.0
        self.corpus = lm_data.Corpus.read(args.data)
        torch.manual_seed(args.seed)
        self.random = numpy.random.default_rng(args.seed)
        config = make_config(self.corpus.tokenizer, len(self.corpus.codes), args.codebook_size)
        self.model = lm_model.DualAR(config, dropout=0.1)
        initialise(self.model)
        if args.compile:
            compile_layers(self.model)
        self.losses = Losses(self.model)
        self.exchange = None if args.worker is None else Exchange(args.data, args.worker)
        matrices = [p for p in self.model.parameters() if p.dim() > 1]
        others = [p for p in self.model.parameters() if p.dim() < 2]
        self.optimizer = torch.optim.AdamW(
            [{"params": matrices, "weight_decay": 0.05}, {"params": others, "weight_decay": 0.0}],
            betas=(0.9, 0.98), fused=True)

    def save(self):
        if self.args.worker == 1:
            return  # the other's weights are its own, half a minute ago
        target = self.args.data / "lm.pt"
        torch.save({"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict(),
                    "step": self.step, "seconds": self.seconds,
                    "torch_random": torch.get_rng_state(),
                    "random": self.random.bit_generator.state}, target.with_suffix(".new"))
        target.with_suffix(".new").replace(target)  # a stop while writing leaves the older one

    def load(self):
        saved = torch.load(self.args.data / "lm.pt", weights_only=True)
        self.model.load_state_dict(saved["model"])
        self.optimizer.load_state_dict(saved["optimizer"])
        self.step, self.seconds = saved["step"], saved["seconds"]
        torch.set_rng_state(saved["torch_random"])
        self.random.bit_generator.state = saved["random"]
        if self.args.worker == 1:  # other sentences first, other dropout
            self.random = numpy.random.default_rng(self.step)
            torch.manual_seed(self.step)

    def learning_rate(self):
        done = min(1.0, self.seconds / (60 * self.args.minutes))
        cosine = 0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * done))
        return self.args.learning_rate * min(1.0, (self.step + 1) / WARM_UP) * cosine

    def train_batch(self, batch):
        """One step; the figures that are reported."""
        columns, mask = lm_data.collate(batch)
        for group in self.optimizer.param_groups:
            group["lr"] = self.learning_rate()
        inputs = corrupt(columns, self.model.config, self.args.corruption)
        with torch.autocast("cpu", torch.bfloat16):
            main, fast, right = self.losses(inputs, columns, mask, self.args.fast_share)
        (main + fast.mean()).backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.step += 1
        return numpy.array([main.item(), right.item(), fast.mean().item(), mask.numel()])

    @torch.no_grad()
    def validate(self):
        """The held-out sentences: main cross entropy, share of right tokens, codes 1..N-1."""
        self.model.eval()
        count, results = len(self.corpus.lines), []
        for first in range(count - HELD_OUT, count, 25):
            examples = [self.corpus.columns([[i]]) for i in range(first, first + 25)]
            columns, mask = lm_data.collate(examples)
            with torch.autocast("cpu", torch.bfloat16):
                main, fast, right = self.losses(columns, columns, mask, 1.0)
            results.append([main.item(), right.item(), *fast.tolist()])
        self.model.train()
        return numpy.mean(results, 0)

    def report(self, figures, seconds):
        main, right, fast, _ = numpy.mean(figures, 0)
        held = self.validate()
        codes = " ".join(f"{value:.2f}" for value in held[2:])
        columns = sum(row[3] for row in figures) / seconds
        print(f"{self.seconds / 60:.1f} min, step {self.step}: trained {main:.3f} ({right:.3f} "
              f"right) codes {fast:.3f}; held out {held[0]:.3f} ({held[1]:.3f} right) "
              f"codes {codes}; {columns:.0f} columns/s", flush=True)

    def run(self):
        count = len(self.corpus.lines) - HELD_OUT
        batches, figures, warm = [], [], not self.args.compile
        reported = saved = self.seconds
        while self.seconds < 60 * self.args.minutes:
            started = time.process_time()  # of the processor: pauses do not count
            batches = batches or self.corpus.epoch(count, self.args.batch, self.random)
            figures.append(self.train_batch(batches.pop()))
            if warm:  # the first step compiles, which is no training
                self.seconds += time.process_time() - started
            warm = True
            if self.exchange:
                self.seconds = self.exchange.step(self.model, self.seconds)
            if self.seconds - reported >= 60:
                self.report(figures, self.seconds - reported)
                figures, reported = [], self.seconds
            if self.seconds - saved >= 60 * MINUTES_BETWEEN_SAVES:
                self.save()
                saved = self.seconds
        if figures:
            self.report(figures, self.seconds - reported)
        self.save()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--batch", type=int, default=32, help="usual sentences in a batch")
    parser.add_argument("--codebook-size", type=int, default=512)
    parser.add_argument("--learning-rate", type=float, default=1.5e-3)
    parser.add_argument("--corruption", type=float, default=0.15, help="share of replaced frames")
    parser.add_argument("--fast-share", type=float, default=0.3, help="frames of the fast stage")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--worker", type=int, choices=[0, 1],
                        help="one of two processes that share the training; give both --resume")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--compile", action="store_true", help="needs g++; half a minute of work")
    args = parser.parse_args()
    torch.set_num_threads(1)
    training = Training(args)
    if args.resume:
        training.load()
    print(f"{sum(p.numel() for p in training.model.parameters()) / 1e6:.2f} million parameters")
    training.run()


if __name__ == "__main__":
    main()
