"""How a codec's tables learn: started by principal components and k-means, then running means."""

import torch
from torch.nn import functional as F

DECAY = 0.985  # of an entry's running count and sum, a step
CONSTANT = 1.5  # of the last dimension, see `_project_by_variance`


class TableTrainer:
    """Running sums of what each entry of one codebook was chosen for."""

    def __init__(self, book):
        self.book = book
        entries, dim = book.codebook.weight.shape
        self.counts = torch.zeros(entries)
        self.sums = torch.zeros(entries, dim)

    @torch.no_grad()
    def start(self, vectors, rounds=12):
        """k-means over vectors [n, dim] that in_proj has made."""
        table = self.book.codebook.weight
        chosen = torch.randperm(len(vectors))[: len(table)]
        table.copy_(vectors[chosen])
        for _ in range(rounds):
            counts, sums = self._assign(vectors, self.book.nearest(vectors))
            used = counts > 0
            table[used] = sums[used] / counts[used, None]
            idle = (~used).nonzero()[:, 0]
            table[idle] = vectors[torch.randint(len(vectors), (len(idle),))]
        self.counts.fill_(2.0)
        self.sums.copy_(table * 2.0)

    def _assign(self, vectors, indices):
        counts = torch.bincount(indices, minlength=len(self.counts)).float()
        return counts, torch.zeros_like(self.sums).index_add_(0, indices, vectors)

    @torch.no_grad()
    def follow(self, vectors, indices):
        """Moves each entry to the running mean of what chose it."""
        counts, sums = self._assign(vectors, indices)
        self.counts.mul_(DECAY).add_(counts, alpha=1 - DECAY)
        self.sums.mul_(DECAY).add_(sums, alpha=1 - DECAY)
        used = self.counts > 1e-3
        self.book.codebook.weight[used] = self.sums[used] / self.counts[used, None]

    @torch.no_grad()
    def revive(self, vectors, least):
        """Gives entries that are hardly chosen the place of a vector that is."""
        idle = (self.counts < least).nonzero()[:, 0]
        places = vectors[torch.randint(len(vectors), (len(idle),))]
        self.book.codebook.weight[idle] = places
        self.counts[idle] = 2 * least
        self.sums[idle] = 2 * least * places

    def state(self):
        return {"counts": self.counts, "sums": self.sums}

    def restore(self, state):
        self.counts.copy_(state["counts"])
        self.sums.copy_(state["sums"])


@torch.no_grad()
def _project_by_variance(book, latents):
    """in_proj and out_proj from the principal components of latents [n, channels].

    The last dimension is a constant: of vectors that share a long part, the most similar direction
    is nearly the nearest point, so k-means and lookup by cosine agree.
    """
    mean = latents.mean(0)
    centred = latents - mean
    values, vectors = torch.linalg.eigh(centred.T @ centred / len(latents))
    dims = book.codebook.embedding_dim - 1
    axes, scale = vectors[:, -dims:], values[-dims:].sum().rsqrt()
    book.in_proj.weight.zero_()
    book.in_proj.weight[:dims, :, 0] = axes.T * scale
    book.in_proj.bias.zero_()
    book.in_proj.bias[:dims] = -(axes.T @ mean) * scale
    book.in_proj.bias[dims] = CONSTANT
    book.out_proj.weight.zero_()
    book.out_proj.weight[:, :dims, 0] = axes / scale
    book.out_proj.bias.copy_(mean)


class QuantizerTrainer:
    def __init__(self, quantizer):
        self.books = quantizer.codebooks()
        self.tables = [TableTrainer(book) for book in self.books]
        for book in self.books:
            book.codebook.weight.requires_grad_(False)

    @torch.no_grad()
    def start(self, latents):
        """latents [n, channels]. Returns the share of variance that is left behind each table."""
        rest, whole, left = latents, latents.var(0).sum(), []
        for book, table in zip(self.books, self.tables):
            _project_by_variance(book, rest)
            table.start(book.in_proj(rest.T[None])[0].T)
            projected = book.in_proj(rest.T[None])[0].T
            rest = rest - book.contribution(book.nearest(projected)[None])[0].T
            left.append((rest.var(0).sum() / whole).item())
        return left

    def __call__(self, latents, kept):
        """Quantises latents [batch, channels, frames]; item b keeps kept[b] residual tables.

        Returns the sum of contributions, through which gradients pass as if nothing had been
        rounded, and the mean distance of directions (commitment).
        """
        rest, total, commitment = latents.float(), 0.0, 0.0
        batch = latents.shape[0]
        for place, (book, table) in enumerate(zip(self.books, self.tables)):
            projected = book.in_proj(rest).transpose(1, 2)  # [batch, frames, dim]
            flat = projected.reshape(-1, projected.shape[-1])
            indices = book.nearest(flat)
            table.vectors = flat.detach()
            table.follow(table.vectors, indices)
            entries = book.codebook(indices)
            commitment = commitment + (1 - F.cosine_similarity(flat, entries, dim=-1)).mean()
            passed = (flat + (entries - flat).detach()).view_as(projected)
            part = book.out_proj(passed.transpose(1, 2))
            rest = rest - part
            total = total + part * (kept >= place).view(batch, 1, 1)
        return total, commitment

    def revive(self, vectors_a_step):
        for table in self.tables:
            table.revive(table.vectors, 0.01 * vectors_a_step / len(table.counts))

    def used(self, vectors_a_step):
        """Entries of each table that are chosen at least a fiftieth as often as on average."""
        return [int((t.counts > 0.02 * vectors_a_step / len(t.counts)).sum()) for t in self.tables]

    def state(self):
        return [table.state() for table in self.tables]

    def restore(self, states):
        for table, state in zip(self.tables, states):
            table.restore(state)
