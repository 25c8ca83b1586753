"""The audio codec of a checkpoint as torch modules, for training and for checking the engine.

Written from the description of the file format: module names are those of the checkpoint's tensors,
so a state dict needs no renaming apart from weight normalisation, which `load_checkpoint` and
`to_checkpoint` fold and unfold. Activations are [batch, channels, time]; every operator is causal.
Sizes come from a configuration like the `codec.json` beside a checkpoint.
"""

import json
import math

import torch
from torch import nn
from torch.nn import functional as F

from rotary import rotary_table, rotate

NORM_EPS = 1e-6  # of the LayerNorm in a ConvNeXt block


class _Snake(torch.autograd.Function):
    """x + sin(alpha x)^2 / alpha with its derivative from one sine: 1 + sin(2 alpha x)."""

    @staticmethod
    def forward(ctx, x, alpha):
        ctx.save_for_backward(x, alpha)
        return _snake_forward(x, alpha)

    @staticmethod
    def backward(ctx, grad):
        return _snake_backward(grad, *ctx.saved_tensors)


def _snake_forward(x, alpha):
    wide = x.float()
    return (wide + torch.sin(alpha * wide).square() / (alpha + 1e-9)).to(x.dtype)


def _snake_backward(grad, x, alpha):
    wide, g = x.float(), grad.float()
    inverse = 1 / (alpha + 1e-9)
    half = torch.sin(alpha * wide)
    double = torch.sin(2 * alpha * wide)
    to_x = g * (1 + double * (alpha * inverse))
    to_alpha = (g * (wide * double * inverse - half.square() * inverse.square())).sum((0, 2))
    return to_x.to(x.dtype), to_alpha.view_as(alpha)


def compile_kernels():
    """Fuses the snakes' elementwise work into one kernel each way: half of a step's time."""
    global _snake_forward, _snake_backward
    torch._dynamo.config.recompile_limit = 64  # one kernel for each shape
    _snake_forward = torch.compile(_snake_forward, dynamic=False)
    _snake_backward = torch.compile(_snake_backward, dynamic=False)


class Snake(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.alpha = nn.Parameter(torch.ones(1, channels, 1))

    def forward(self, x):
        return _Snake.apply(x, self.alpha)


class CausalConv(nn.Module):
    """Left padding only: output t sees inputs up to t * stride + stride - 1."""

    def __init__(self, inputs, outputs, kernel, stride=1, dilation=1, groups=1, gain=1.0):
        super().__init__()
        self.conv = nn.Conv1d(inputs, outputs, kernel, stride, dilation=dilation, groups=groups)
        self.left = (kernel - 1) * dilation + 1 - stride
        deviation = gain / math.sqrt(inputs // groups * kernel)
        nn.init.trunc_normal_(self.conv.weight, std=deviation, a=-2 * deviation, b=2 * deviation)
        nn.init.zeros_(self.conv.bias)

    def forward(self, x):
        right = -x.shape[-1] % self.conv.stride[0]
        return self.conv(F.pad(x, (self.left, right)) if self.left or right else x)


class CausalConvTranspose(nn.Module):
    """stride outputs for each input; what reaches beyond the last of them is dropped."""

    def __init__(self, inputs, outputs, kernel, stride):
        super().__init__()
        self.conv = nn.ConvTranspose1d(inputs, outputs, kernel, stride)
        deviation = 1 / math.sqrt(inputs * kernel / stride)
        nn.init.trunc_normal_(self.conv.weight, std=deviation, a=-2 * deviation, b=2 * deviation)
        nn.init.zeros_(self.conv.bias)

    def forward(self, x):
        return self.conv(x)[..., : x.shape[-1] * self.conv.stride[0]]


class ResidualUnit(nn.Module):
    def __init__(self, channels, dilation):
        super().__init__()
        self.block = nn.Sequential(
            Snake(channels),
            CausalConv(channels, channels, 7, dilation=dilation),
            Snake(channels),
            CausalConv(channels, channels, 1, gain=0.3),
        )

    def forward(self, x):
        return x + self.block(x)


def residual_units(channels):
    return [ResidualUnit(channels, dilation) for dilation in (1, 3, 9)]


class EncoderBlock(nn.Module):
    def __init__(self, inputs, outputs, stride, transformer):
        super().__init__()
        down = CausalConv(inputs, outputs, 2 * stride, stride)
        parts = [*residual_units(inputs), Snake(inputs), down]
        self.block = nn.Sequential(*parts, *([Transformer(transformer)] if transformer else []))

    def forward(self, x):
        return self.block(x)


class DecoderBlock(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        up = CausalConvTranspose(inputs, outputs, 2 * stride, stride)
        self.block = nn.Sequential(Snake(inputs), up, *residual_units(outputs))

    def forward(self, x):
        return self.block(x)


class ConvNeXt(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.dwconv = CausalConv(channels, channels, 7, groups=channels)
        self.norm = nn.LayerNorm(channels, eps=NORM_EPS)
        self.pwconv1 = nn.Linear(channels, 4 * channels)
        self.pwconv2 = nn.Linear(4 * channels, channels)
        self.gamma = nn.Parameter(torch.full((channels,), 0.1))

    def forward(self, x):
        y = self.norm(self.dwconv(x).transpose(1, 2))
        y = self.gamma * self.pwconv2(F.gelu(self.pwconv1(y)))
        return x + y.transpose(1, 2)


class RMSNorm(nn.Module):
    def __init__(self, channels, eps):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(channels))
        self.eps = eps

    def forward(self, x):
        wide = x.float()
        mean_square = wide.square().mean(-1, keepdim=True)
        return (wide * torch.rsqrt(mean_square + self.eps)).to(x.dtype) * self.weight


class LayerScale(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.gamma = nn.Parameter(torch.full((channels,), 0.1))

    def forward(self, x):
        return x * self.gamma


class Attention(nn.Module):
    def __init__(self, config):
        super().__init__()
        width = config["n_head"] * config["head_dim"]
        self.heads = config["n_head"]
        self.wqkv = nn.Linear(config["dim"], 3 * width, bias=False)
        self.wo = nn.Linear(width, config["dim"], bias=False)

    def forward(self, x, table, mask):
        batch, time, _ = x.shape
        qkv = self.wqkv(x).view(batch, time, 3, self.heads, -1)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)  # each [batch, heads, time, head_dim]
        y = F.scaled_dot_product_attention(rotate(q, table), rotate(k, table), v, attn_mask=mask)
        return self.wo(y.transpose(1, 2).reshape(batch, time, -1))


class FeedForward(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.w1 = nn.Linear(dim, hidden, bias=False)
        self.w3 = nn.Linear(dim, hidden, bias=False)
        self.w2 = nn.Linear(hidden, dim, bias=False)

    def forward(self, x):
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class TransformerLayer(nn.Module):
    def __init__(self, config):
        super().__init__()
        dim, eps = config["dim"], config["norm_eps"]
        self.attention = Attention(config)
        self.feed_forward = FeedForward(dim, config["intermediate_size"])
        self.attention_norm = RMSNorm(dim, eps)
        self.ffn_norm = RMSNorm(dim, eps)
        self.attention_layer_scale = LayerScale(dim)
        self.ffn_layer_scale = LayerScale(dim)

    def forward(self, x, table, mask):
        x = x + self.attention_layer_scale(self.attention(self.attention_norm(x), table, mask))
        return x + self.ffn_layer_scale(self.feed_forward(self.ffn_norm(x)))


class Transformer(nn.Module):
    """Token i sees tokens i - window + 1 to i."""

    def __init__(self, config):
        super().__init__()
        self.config = config
        self.layers = nn.ModuleList(TransformerLayer(config) for _ in range(config["n_layer"]))
        self.norm = RMSNorm(config["dim"], config["norm_eps"])

    def forward(self, x):
        x = x.transpose(1, 2)
        time = x.shape[1]
        table = rotary_table(0, time, self.config["head_dim"], self.config["rope_base"])
        ages = torch.arange(time)[:, None] - torch.arange(time)[None]
        mask = (ages >= 0) & (ages < self.config["window_size"])
        for layer in self.layers:
            x = layer(x, table, mask)
        return self.norm(x).transpose(1, 2)


class Codebook(nn.Module):
    """One table of entries, looked up by direction (cosine) in a space of few dimensions."""

    def __init__(self, channels, entries, dim):
        super().__init__()
        self.in_proj = nn.Conv1d(channels, dim, 1)
        self.out_proj = nn.Conv1d(dim, channels, 1)
        self.codebook = nn.Embedding(entries, dim)

    def nearest(self, projected):
        """Indices [n] for vectors [n, dim]; the first of equal distances wins."""
        e = F.normalize(projected, eps=1e-12)
        c = F.normalize(self.codebook.weight, eps=1e-12)
        distance = e.square().sum(1, keepdim=True) - 2 * e @ c.T + c.square().sum(1)
        return (-distance).argmax(1)

    def contribution(self, indices):
        """[batch, channels, time] for indices [batch, time]."""
        return self.out_proj(self.codebook(indices).transpose(1, 2))


class CodebookList(nn.Module):
    def __init__(self, channels, entries, dim, count):
        super().__init__()
        self.quantizers = nn.ModuleList(Codebook(channels, entries, dim) for _ in range(count))


class Quantizer(nn.Module):
    def __init__(self, config):
        super().__init__()
        dim, factors = config["input_dim"], config["downsample_factor"]
        self.downsample = nn.ModuleList(
            nn.Sequential(CausalConv(dim, dim, f, f), ConvNeXt(dim)) for f in factors
        )
        self.upsample = nn.ModuleList(
            nn.Sequential(CausalConvTranspose(dim, dim, f, f), ConvNeXt(dim))
            for f in reversed(factors)
        )
        self.pre_module = Transformer(config["pre_module"])
        self.post_module = Transformer(config["post_module"])
        self.semantic_quantizer = CodebookList(
            dim, config["semantic_codebook_size"], config["codebook_dim"], 1
        )
        self.quantizer = CodebookList(
            dim, config["codebook_size"], config["codebook_dim"], config["n_codebooks"]
        )

    def codebooks(self):
        return [*self.semantic_quantizer.quantizers, *self.quantizer.quantizers]

    def latents(self, x):
        for stage in self.downsample:
            x = stage(x)
        return self.pre_module(x)

    def to_decoder(self, z):
        x = self.post_module(z)
        for stage in self.upsample:
            x = stage(x)
        return x


class Encoder(nn.Module):
    def __init__(self, config):
        super().__init__()
        width = config["encoder_dim"]
        layers = config["encoder_transformer_layers"]
        parts = [CausalConv(1, width, 7)]
        for block, stride in enumerate(config["encoder_rates"]):
            transformer = config["encoder_transformer"] if layers[block] else None
            parts.append(EncoderBlock(width, 2 * width, stride, transformer))
            width *= 2
        self.block = nn.Sequential(*parts, Snake(width), CausalConv(width, width, 3))

    def forward(self, x):
        return self.block(x)


class Decoder(nn.Module):
    def __init__(self, config):
        super().__init__()
        width = config["decoder_dim"]
        parts = [CausalConv(config["latent_dim"], width, 7)]
        for stride in config["decoder_rates"]:
            parts.append(DecoderBlock(width, width // 2, stride))
            width //= 2
        self.model = nn.Sequential(*parts, Snake(width), CausalConv(width, 1, 7))
        # While training, a small factor keeps tanh away from its flat ends, from where no gradient
        # leads back. A checkpoint has it in the last convolution (`to_checkpoint`).
        self.output_scale = 1.0

    def forward(self, x):
        return torch.tanh(self.output_scale * self.model(x).float())


class Codec(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.frame = math.prod(config["encoder_rates"])
        self.frame *= math.prod(config["quantizer"]["downsample_factor"])  # samples
        self.encoder = Encoder(config)
        self.quantizer = Quantizer(config["quantizer"])
        self.decoder = Decoder(config)

    def latents(self, sound):
        """[batch, latent_dim, frames] of sound [batch, 1, samples], padded to whole frames."""
        padded = F.pad(sound, (0, -sound.shape[-1] % self.frame))
        return self.quantizer.latents(self.encoder(padded))

    def encode(self, sound):
        """Codes [batch, 1 + n_codebooks, frames]; row 0 is the semantic one."""
        rest = self.latents(sound).float()
        rows = []
        for book in self.quantizer.codebooks():
            projected = book.in_proj(rest)  # [batch, dim, frames]
            index = book.nearest(projected.transpose(1, 2).flatten(0, 1))
            index = index.view(projected.shape[0], -1)
            rows.append(index)
            entry = book.codebook(index).transpose(1, 2)
            rest = rest - book.out_proj(projected + (entry - projected))
        return torch.stack(rows, 1)

    def from_codes(self, codes):
        """What the codebooks say together, [batch, latent_dim, frames]."""
        books = self.quantizer.codebooks()
        parts = []
        for row, book in enumerate(books):
            last = book.codebook.num_embeddings - 1
            parts.append(book.contribution(codes[:, row].clamp(max=last)))
        return parts[0] + sum(parts[1:])

    def decode(self, codes):
        """Sound [batch, 1, samples] of codes [batch, rows, frames]."""
        return self.decoder(self.quantizer.to_decoder(self.from_codes(codes)))


def load_config(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def load_checkpoint(model, tensors):
    """Copies a checkpoint's tensors in, weight normalisation folded. Names must match exactly."""
    state, folded = {}, dict(tensors)
    for name in list(folded):
        for g, v in (("parametrizations.weight.original0", "parametrizations.weight.original1"),
                     ("weight_g", "weight_v")):
            if name.endswith("." + g):
                prefix = name[: -len(g)]
                direction = folded.pop(prefix + v)
                state[prefix + "weight"] = torch._weight_norm(
                    direction.float(), folded.pop(name).float(), 0)
    state.update(folded)
    model.load_state_dict(state)


def to_checkpoint(model):
    """The model's tensors under the checkpoint's names: v is the weight itself, g its norms."""
    tensors = {}
    last = f"decoder.model.{len(model.decoder.model) - 1}."
    for name, value in model.state_dict().items():
        if name.startswith(last):
            value = value * model.decoder.output_scale
        projection = name.endswith(("in_proj.weight", "out_proj.weight"))
        normalised = name.startswith(("encoder", "decoder")) and name.endswith("conv.weight")
        if not (projection or normalised):
            tensors[name] = value
            continue
        prefix = name[: -len("weight")]
        names = ("weight_g", "weight_v") if projection else (
            "parametrizations.weight.original0", "parametrizations.weight.original1")
        axes = tuple(range(1, value.dim()))
        tensors[prefix + names[0]] = value.float().norm(dim=axes, keepdim=True)
        tensors[prefix + names[1]] = value
    return tensors
