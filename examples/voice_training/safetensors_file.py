"""Reads and writes safetensors files: an 8-byte length, a JSON header, then the tensors' bytes."""

import json
import struct

import torch

NAMES = {torch.float32: "F32", torch.bfloat16: "BF16", torch.float16: "F16", torch.int64: "I64",
         torch.int32: "I32"}
TYPES = {name: dtype for dtype, name in NAMES.items()}


def write(path, tensors):
    header, offset = {}, 0
    for name, tensor in tensors.items():
        end = offset + tensor.numel() * tensor.element_size()
        header[name] = {"dtype": NAMES[tensor.dtype], "shape": list(tensor.shape),
                        "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # tensors start at a multiple of 8 bytes
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for tensor in tensors.values():
            file.write(tensor.detach().contiguous().view(-1).view(torch.uint8).numpy().tobytes())


def read(path):
    """Name -> tensor."""
    with open(path, "rb") as file:
        data = bytearray(file.read())
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8:8 + length])
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        start, end = (8 + length + offset for offset in entry["data_offsets"])
        dtype = TYPES[entry["dtype"]]
        flat = torch.frombuffer(data[start:end] or bytearray(8), dtype=dtype)
        tensors[name] = flat[:(end - start) // dtype.itemsize].reshape(entry["shape"])
    return tensors
