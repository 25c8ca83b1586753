"""Trains the codec of the shipped voice on audio.npy; goes on where a checkpoint ends.

    python3 train_codec.py --data FOLDER --minutes 90 [--resume] [--decoder-only]

The whole codec learns from random clips. With --decoder-only encoder and tables stay as they are
and what follows them learns from codes.npy (encode_corpus.py), so that a language model trained on
these codes stays valid. FOLDER/codec.pt is written every ten minutes and at the end.
"""

import argparse
import math
import os
import pathlib
import time

import numpy as np
import torch
from torch.nn import functional as F

import codec_model
import spectra
from quantizer_training import QuantizerTrainer

OUTPUT_SCALE = 0.03
BETAS = (0.8, 0.99)
AVERAGE = 0.999  # of the weights that are exported, a step
HELD_OUT = 100  # sentences at the end that training never sees
SAVE_SECONDS = 600
UNHEARD = 2  # frames at the start of a coded clip: what they build on is not in the clip
GRID = 80  # samples between places where a clip may begin: the pulses' period, see make_audio.py


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--config", type=pathlib.Path,
                        default=pathlib.Path(__file__).with_name("codec.json"))
    parser.add_argument("--minutes", type=float, default=90, help="of this run")
    parser.add_argument("--batch", type=int, default=4, help="clips a step")
    parser.add_argument("--frames", type=int, default=12, help="of a clip")
    parser.add_argument("--rate", type=float, default=6e-4, help="largest learning rate")
    parser.add_argument("--last-rate", type=float, default=3e-5, help="at the end of the run")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--quantise-after", type=float, default=90, help="seconds of training")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--decoder-only", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


class Clips:
    """Random clips of the sentences that are not held out."""

    def __init__(self, folder, length, generator, codes=False):
        self.sound = np.load(folder / "audio.npy", mmap_mode="r")
        self.offsets = np.load(folder / "offsets.npy")
        self.length, self.generator = length, generator
        if codes:
            self.codes = np.load(folder / "codes.npy")
            self.code_offsets = np.load(folder / "code_offsets.npy")

    def sounds(self, count):
        """[count, 1, length], from anywhere on the grid."""
        places = (self.offsets[-1 - HELD_OUT] - self.length) // GRID
        starts = self.generator.integers(0, places, count) * GRID
        clips = np.stack([self.sound[start : start + self.length] for start in starts])
        return torch.from_numpy(clips.astype(np.float32) / 32768)[:, None]

    def coded(self, count, frame):
        """Codes [count, rows, frames] and their sound; a clip starts at a frame of a sentence."""
        frames = self.length // frame
        codes, sounds = [], []
        while len(codes) < count:
            sentence = int(self.generator.integers(0, len(self.offsets) - 1 - HELD_OUT))
            first, last = self.code_offsets[sentence : sentence + 2]
            if last - first < frames:
                continue
            start = int(self.generator.integers(0, last - first - frames + 1))
            codes.append(self.codes[:, first + start : first + start + frames])
            from_, to = self.offsets[sentence] + start * frame, self.offsets[sentence + 1]
            piece = self.sound[from_ : min(from_ + self.length, to)]
            sounds.append(np.pad(piece, (0, self.length - len(piece))))
        sound = torch.from_numpy(np.stack(sounds).astype(np.float32) / 32768)[:, None]
        return torch.from_numpy(np.stack(codes).astype(np.int64)), sound


class Training:
    def __init__(self, options):
        self.options = options
        torch.manual_seed(options.seed)
        self.generator = np.random.default_rng(options.seed)
        self.model = codec_model.Codec(codec_model.load_config(options.config))
        self.model.decoder.output_scale = OUTPUT_SCALE
        self.quantizer = QuantizerTrainer(self.model.quantizer)
        self.quantising, self.seconds, self.steps = False, 0.0, 0
        length = options.frames * self.model.frame
        self.clips = Clips(options.data, length, self.generator, options.decoder_only)
        if options.decoder_only:
            self._freeze()
        learning = [p for p in self.model.parameters() if p.requires_grad]
        self.learning = learning
        self.optimiser = torch.optim.AdamW(learning, betas=BETAS, weight_decay=0.0, fused=True)
        self.average = {name: p.detach().clone()
                        for name, p in self.model.named_parameters() if p.requires_grad}
        if options.resume or options.decoder_only:
            self.load()

    def _freeze(self):
        quantizer = self.model.quantizer
        for part in (self.model.encoder, quantizer.downsample, quantizer.pre_module,
                     quantizer.semantic_quantizer, quantizer.quantizer):
            part.requires_grad_(False)

    def start_quantising(self):
        """Tables from the latents of some clips."""
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
            latents = [self.model.latents(self.clips.sounds(16)).float() for _ in range(24)]
        flat = torch.cat(latents).transpose(1, 2).flatten(0, 1)
        left = self.quantizer.start(flat)
        self.quantising = True
        print("quantising; variance left:", " ".join(f"{v:.3f}" for v in left), flush=True)

    def sound_of_clips(self, sound):
        """What the codec makes of sound [batch, 1, samples], and the commitment loss."""
        latents = self.model.latents(sound)
        if not self.quantising:
            return self.model.decoder(self.model.quantizer.to_decoder(latents)), 0.0
        tables = len(self.quantizer.books)
        kept = torch.full((len(sound),), tables)
        fewer = torch.rand(len(sound)) < 0.2  # each table must help without those behind it
        kept[fewer] = torch.randint(0, tables, (int(fewer.sum()),))
        with torch.autocast("cpu", enabled=False):
            quantised, commitment = self.quantizer(latents, kept)
        return self.model.decoder(self.model.quantizer.to_decoder(quantised)), commitment

    def step(self, rate):
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        batch, commitment = self.options.batch, 0.0
        with torch.autocast("cpu", torch.bfloat16):
            if self.options.decoder_only:
                codes, sound = self.clips.coded(batch, self.model.frame)
                made = self.model.decode(codes)[..., UNHEARD * self.model.frame :]
                sound = sound[..., UNHEARD * self.model.frame :]
            else:
                sound = self.clips.sounds(batch)
                made, commitment = self.sound_of_clips(sound)
        mel, linear = spectra.distances(made[:, 0], sound[:, 0])
        wave = F.l1_loss(made, sound) / (sound.abs().mean() + spectra.FLOOR)
        (5 * mel + linear + 0.5 * wave + 0.1 * commitment).backward()
        norm = torch.nn.utils.clip_grad_norm_(self.learning, 5.0)
        self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=True)
        self.steps += 1
        weight = max(1 - AVERAGE, 9 / (9 + self.steps))  # the first steps are forgotten soon
        torch._foreach_lerp_(list(self.average.values()), [p.data for p in self.learning], weight)
        if self.quantising and not self.options.decoder_only and self.steps % 20 == 0:
            self.quantizer.revive(batch * self.options.frames)
        losses = (mel, linear, wave, commitment, norm)
        return [float(v.detach()) if torch.is_tensor(v) else v for v in losses]

    def save(self):
        path = self.options.data / "codec.pt"
        state = {"model": self.model.state_dict(), "average": self.average,
                 "output_scale": OUTPUT_SCALE,
                 "optimiser": self.optimiser.state_dict(), "tables": self.quantizer.state(),
                 "quantising": self.quantising, "seconds": self.seconds, "steps": self.steps,
                 "decoder_only": self.options.decoder_only, "torch": torch.get_rng_state(),
                 "numpy": self.generator.bit_generator.state}
        torch.save(state, path.with_suffix(".new"))
        os.replace(path.with_suffix(".new"), path)

    def load(self):
        state = torch.load(self.options.data / "codec.pt", weights_only=False)
        self.model.load_state_dict(state["model"])
        self.quantizer.restore(state["tables"])
        self.quantising, self.steps = state["quantising"], state["steps"]
        self.seconds = state["seconds"]
        if state["decoder_only"] == self.options.decoder_only:
            self.optimiser.load_state_dict(state["optimiser"])
            self.average = state["average"]
            torch.set_rng_state(state["torch"])
            self.generator.bit_generator.state = state["numpy"]
        else:
            self._begin_from_average(state["average"])

    def _begin_from_average(self, average):
        """Another part of the training: what was averaged so far is where it begins."""
        for name, value in average.items():
            self.model.get_parameter(name).data.copy_(value)
        for name in self.average:
            self.average[name] = self.model.get_parameter(name).detach().clone()

    def run(self):
        begun, saved, before, seen = time.time(), time.time(), self.seconds, []
        length = self.options.minutes * 60
        while (passed := time.time() - begun) < length:
            self.seconds = before + passed
            if not self.quantising and self.seconds > self.options.quantise_after:
                self.start_quantising()
            share = 0.5 + 0.5 * math.cos(math.pi * passed / length)
            low, high = self.options.last_rate, self.options.rate
            warm = min(1.0, (passed + 1) / 20)
            seen.append(self.step(warm * (low + (high - low) * share)))
            if self.steps % 100 == 0:
                self.report(seen)
                seen = []
            if time.time() - saved > SAVE_SECONDS:
                self.save()
                saved = time.time()
        self.save()

    def report(self, seen):
        mel, linear, wave, commitment, norm = np.mean(seen, 0)
        used = "/".join(map(str, self.quantizer.used(self.options.batch * self.options.frames)))
        print(f"{self.seconds:.0f} s, step {self.steps}: mel {mel:.4f} linear {linear:.3f} "
              f"wave {wave:.3f} commitment {commitment:.3f} gradient {norm:.1f} "
              f"entries used {used}", flush=True)


def main():
    options = arguments()
    torch.set_num_threads(options.threads)
    codec_model.compile_kernels()
    Training(options).run()


if __name__ == "__main__":
    main()
