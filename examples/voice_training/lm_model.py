"""The dual autoregressive language model in PyTorch, with the tensor names of an S2-Pro checkpoint.

`DualAR.state_dict()` has the names of model.safetensors as they are. The slow stack runs over
columns (one main token and N codes), the fast stack over the codes of one frame.
"""

import dataclasses
import json
import math
import pathlib

import torch
import torch.nn.functional as F
from torch import nn

from rotary import rotary_table, rotate


@dataclasses.dataclass(frozen=True)
class Stack:
    dim: int
    n_layer: int
    n_head: int
    n_local_heads: int
    head_dim: int
    intermediate_size: int
    attention_qk_norm: bool


@dataclasses.dataclass(frozen=True)
class Config:
    slow: Stack
    fast: Stack
    vocab_size: int
    codebook_size: int
    num_codebooks: int
    semantic_begin: int
    im_end: int
    rope_base: float
    norm_eps: float

    @classmethod
    def from_json(cls, root):
        """`root`: the nested config.json of an S2-Pro folder."""
        text, audio = root["text_config"], root["audio_decoder_config"]
        if not text["tie_word_embeddings"]:
            raise ValueError("text_config.tie_word_embeddings is false; only tied heads are known")

        def stack(part):
            return Stack(**{field.name: part[field.name] for field in dataclasses.fields(Stack)})

        return cls(stack(text), stack(audio), text["vocab_size"], audio["vocab_size"],
                   audio["num_codebooks"], root["semantic_start_token_id"], root["eos_token_id"],
                   text["rope_base"], text["norm_eps"])


def read_config(folder):
    return Config.from_json(json.loads((pathlib.Path(folder) / "config.json").read_text()))


def causal_attention(q, k, v):
    """softmax(q k / sqrt(d)) v, [batch, heads, T, d]. For a sentence's few positions two matrix
    products take a third of the time of the fused kernel on a CPU, backwards above all."""
    batch, heads, count, head_dim = q.shape
    later = torch.full((count, count), -1e9, dtype=q.dtype).triu(1)
    q = (q * head_dim**-0.5).reshape(-1, count, head_dim)
    k, v = (part.reshape(-1, count, head_dim) for part in (k, v))
    share = torch.baddbmm(later.expand(len(q), -1, -1), q, k.transpose(1, 2)).softmax(-1)
    return torch.bmm(share, v).view(batch, heads, count, head_dim)


class RmsNorm(nn.Module):
    def __init__(self, dim, eps):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(dim)), eps

    def forward(self, x):
        wide = x.float()
        wide = wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + self.eps)
        return (wide * self.weight).type_as(x)


class Attention(nn.Module):
    def __init__(self, stack, eps):
        super().__init__()
        self.heads, self.kv_heads, self.head_dim = stack.n_head, stack.n_local_heads, stack.head_dim
        rows = (self.heads + 2 * self.kv_heads) * self.head_dim
        self.wqkv = nn.Linear(stack.dim, rows, bias=False)
        self.wo = nn.Linear(self.heads * self.head_dim, stack.dim, bias=False)
        self.has_norm = stack.attention_qk_norm
        if self.has_norm:
            self.q_norm = RmsNorm(self.head_dim, eps)
            self.k_norm = RmsNorm(self.head_dim, eps)

    def forward(self, x, table, cache=None):
        """x [batch, T, dim]; `cache`, a list, holds k and v of the columns before."""
        parts = self.wqkv(x).unflatten(-1, (-1, self.head_dim)).transpose(1, 2)
        q, k, v = parts.split([self.heads, self.kv_heads, self.kv_heads], 1)  # [batch, heads, T, d]
        if self.has_norm:
            q, k = self.q_norm(q), self.k_norm(k)
        q, k = rotate(q, table), rotate(k, table)
        if cache is not None:
            if cache:
                k, v = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
            cache[:] = [k, v]
        if self.heads != self.kv_heads:
            k, v = (part.repeat_interleave(self.heads // self.kv_heads, 1) for part in (k, v))
        if q.shape[2] == k.shape[2]:
            y = causal_attention(q, k, v)
        else:  # one new column, which sees everything
            y = F.scaled_dot_product_attention(q, k, v)
        return self.wo(y.transpose(1, 2).flatten(2))


class FeedForward(nn.Module):
    def __init__(self, stack):
        super().__init__()
        self.w1 = nn.Linear(stack.dim, stack.intermediate_size, bias=False)
        self.w2 = nn.Linear(stack.intermediate_size, stack.dim, bias=False)
        self.w3 = nn.Linear(stack.dim, stack.intermediate_size, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class Block(nn.Module):
    def __init__(self, stack, eps, dropout):
        super().__init__()
        self.attention, self.feed_forward = Attention(stack, eps), FeedForward(stack)
        self.attention_norm = RmsNorm(stack.dim, eps)
        self.ffn_norm = RmsNorm(stack.dim, eps)
        self.dropout = dropout

    def forward(self, x, table, cache=None):
        drop = self.dropout if self.training else 0.0
        x = x + self.attention(self.attention_norm(x), table, cache)
        return x + F.dropout(self.feed_forward(self.ffn_norm(x)), drop, drop > 0)


class Slow(nn.Module):
    def __init__(self, config, dropout):
        super().__init__()
        stack = config.slow
        self.embeddings = nn.Embedding(config.vocab_size, stack.dim)
        self.layers = nn.ModuleList(
            Block(stack, config.norm_eps, dropout) for _ in range(stack.n_layer))
        self.norm = RmsNorm(stack.dim, config.norm_eps)


class Fast(nn.Module):
    def __init__(self, config):
        super().__init__()
        stack, rows = config.fast, config.codebook_size
        self.codebook_embeddings = nn.Embedding(rows * config.num_codebooks, config.slow.dim)
        same = stack.dim == config.slow.dim
        self.project_in = nn.Identity() if same else nn.Linear(config.slow.dim, stack.dim)
        self.embeddings = nn.Embedding(rows, stack.dim)
        self.layers = nn.ModuleList(
            Block(stack, config.norm_eps, 0.0) for _ in range(stack.n_layer))
        self.norm = RmsNorm(stack.dim, config.norm_eps)
        self.output = nn.Linear(stack.dim, rows, bias=False)


class DualAR(nn.Module):
    def __init__(self, config, dropout=0.0):
        super().__init__()
        self.config = config
        self.text_model = nn.Module()
        self.text_model.model = Slow(config, dropout)
        self.audio_decoder = Fast(config)

    def embed(self, columns):
        """columns [batch, 1+N, T] -> [batch, T, dim]; codes count in semantic columns only."""
        config = self.config
        main, codes = columns[:, 0], columns[:, 1:]
        first_row = torch.arange(config.num_codebooks) * config.codebook_size
        text = self.text_model.model.embeddings(main)
        table = self.audio_decoder.codebook_embeddings.weight
        rows = (codes.transpose(1, 2) + first_row).flatten(0, 1)
        sound = F.embedding_bag(rows, table, mode="sum").view_as(text)
        semantic = main - config.semantic_begin
        semantic = (semantic >= 0) & (semantic < config.codebook_size)
        scale = 1.0 / math.sqrt(config.num_codebooks + 1)
        return torch.where(semantic[..., None], (text + sound) * scale, text)

    def slow(self, columns, start=0, caches=None):
        """Hidden vectors after the final norm, [batch, T, dim]; `caches`: a list for each layer."""
        config, slow = self.config, self.text_model.model
        table = rotary_table(start, columns.shape[2], config.slow.head_dim, config.rope_base)
        x = self.embed(columns)
        for i, layer in enumerate(slow.layers):
            x = layer(x, table, caches[i] if caches is not None else None)
        return slow.norm(x)

    def main_logits(self, hidden, first=0, count=None):
        """Logits of the tokens first .. first+count-1 (all by default): [..., count]."""
        rows = self.text_model.model.embeddings.weight
        return F.linear(hidden, rows.narrow(0, first, count or len(rows)).to(hidden.dtype))

    def fast_input(self, hidden, codes):
        """Hidden vectors [frames, dim], first codes [frames, k] -> [frames, 1+k, fast dim]."""
        fast = self.audio_decoder
        first = fast.project_in(hidden)[:, None]
        return torch.cat([first, fast.embeddings(codes).to(first.dtype)], 1)

    def fast(self, x, start=0, caches=None):
        """Logits at every position of x [frames, T, fast dim]: [frames, T, codebook_size]."""
        config, fast = self.config, self.audio_decoder
        table = rotary_table(start, x.shape[1], config.fast.head_dim, config.rope_base)
        for i, layer in enumerate(fast.layers):
            x = layer(x, table, caches[i] if caches is not None else None)
        return fast.output(fast.norm(x))
