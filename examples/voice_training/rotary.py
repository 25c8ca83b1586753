"""Rotary positions, as the language model and the codec have them."""

import torch


def rotary_table(start, count, head_dim, base):
    """cos + i sin at the positions start.. : [count, head_dim / 2], rounded to bfloat16.

    The rounding belongs to the format: engines keep the table so in every precision.
    """
    exponent = torch.arange(0, head_dim, 2).float() / head_dim
    angles = torch.outer(torch.arange(start, start + count).float(), 1.0 / base**exponent)
    return torch.complex(angles.cos().bfloat16().float(), angles.sin().bfloat16().float())


def rotate(x, table):
    """Turns the pairs (2i, 2i + 1) of x [..., time, head_dim] by the table's angles."""
    pairs = torch.view_as_complex(x.float().unflatten(-1, (-1, 2)))
    return torch.view_as_real(pairs * table).flatten(-2).type_as(x)
