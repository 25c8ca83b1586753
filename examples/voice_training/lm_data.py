"""Training examples of the language model: columns, and which of them are predicted."""

import dataclasses
import json

import numpy
import torch

import tokenizer as tokenizer_module

# Besides single sentences: several in one turn, and several turns, as longer texts are spoken.
SHARE_JOINED, SHARE_TURNS = 0.12, 0.08
SEVERAL = [2, 2, 2, 3, 3, 4, 6]


@dataclasses.dataclass
class Corpus:
    tokenizer: tokenizer_module.Tokenizer
    lines: list
    codes: numpy.ndarray  # [N, frames of all sentences]
    offsets: numpy.ndarray  # [sentences + 1]

    @classmethod
    def read(cls, data):
        described = json.loads((data / "tokenizer.json").read_text())
        lines = (data / "text.txt").read_text().splitlines()
        corpus = cls(tokenizer_module.Tokenizer(described), lines,
                     numpy.load(data / "codes.npy"), numpy.load(data / "code_offsets.npy"))
        if len(corpus.offsets) != len(lines) + 1:
            raise ValueError(f"{data}: {len(lines)} sentences in text.txt, but code_offsets.npy "
                             f"has {len(corpus.offsets)} entries; encode the corpus again")
        return corpus

    def frames(self, i):
        return self.codes[:, self.offsets[i]:self.offsets[i + 1]].astype(numpy.int64)

    def columns(self, turns):
        """`turns`: lists of sentences, one list for each turn. Columns [1+N, T] and a mask [T] of
        those which the model is to predict: the frames and the end token after them."""
        parts, masks = [self._text(self.tokenizer.system())], []
        for sentences in turns:
            text = " ".join(self.lines[i] for i in sentences)
            parts.append(self._text(self.tokenizer.request(text)))
            frames = numpy.concatenate([self.frames(i) for i in sentences], 1)
            before = sum(part.shape[1] for part in parts)
            masks.append((before, before + frames.shape[1] + 1))
            main = frames[:1] + self.tokenizer.semantic_begin
            parts += [numpy.concatenate([main, frames]), self._text(self.tokenizer.end_of_turn())]
        columns = numpy.concatenate(parts, 1)[:, :-1]  # nothing follows the last line break
        mask = numpy.zeros(columns.shape[1], bool)
        for start, end in masks:
            mask[start:end] = True
        return columns, mask

    def prompt(self, text):
        return self._text(self.tokenizer.system() + self.tokenizer.request(text))

    def _text(self, ids):
        columns = numpy.zeros((1 + len(self.codes), len(ids)), numpy.int64)
        columns[0] = ids
        return columns

    def epoch(self, sentences, size, random):
        """Every sentence once, in shuffled batches of some `size` sentences of similar length."""
        order, examples = list(random.permutation(sentences)), []
        while order:
            kind = random.random()
            several = random.choice(SEVERAL) if kind < SHARE_JOINED + SHARE_TURNS else 1
            taken, order = order[:several], order[several:]
            examples.append([taken] if kind < SHARE_JOINED else [[i] for i in taken])
        made = [self.columns(turns) for turns in examples]
        made.sort(key=lambda example: example[0].shape[1] + random.uniform(0, 8))
        batches, count = [[]], 0
        for example in made:
            if count >= size * self.usual_length():
                batches.append([])
                count = 0
            batches[-1].append(example)
            count += example[0].shape[1]
        random.shuffle(batches)
        return batches

    def usual_length(self):
        """Columns of a usual sentence: its frames, its letters, the fixed part."""
        return self.offsets[-1] // len(self.lines) + 60


def collate(examples):
    """Examples padded at the end: columns [batch, 1+N, T], mask [batch, T]."""
    longest = max(columns.shape[1] for columns, _ in examples)
    all_columns = numpy.zeros((len(examples), len(examples[0][0]), longest), numpy.int64)
    all_masks = numpy.zeros((len(examples), longest), bool)
    for i, (columns, mask) in enumerate(examples):
        all_columns[i, :, :columns.shape[1]] = columns
        all_masks[i, :len(mask)] = mask
    return torch.from_numpy(all_columns), torch.from_numpy(all_masks)
