// PyTorch weight files (.pth): a zip archive with a pickle that describes and members that hold.
#pragma once

#include <memory>

#include "io/byte_source.h"
#include "io/state_dict.h"

namespace remora::io {

// The tensors of a state dict written by torch.save (1.6 or later). If the top mapping has a key
// `state_dict` with a mapping, that one is read; mappings inside mappings become dotted names
// ({"generator": {"a.b": t}} gives "generator.a.b"); values that are no tensors are skipped. Names
// come in the order of the file. Nothing is executed: only the pickle opcodes and the few names
// that state dicts need are read. The tensors point into `source` and keep it.
// Throws Error{kFormat} naming the file and the reason; kIo where it cannot be read.
StateDict read_pth(std::shared_ptr<const ByteSource> source);

}  // namespace remora::io
