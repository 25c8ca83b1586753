// The weights of a checkpoint folder, whichever way they are stored.
#pragma once

#include <string_view>

#include "io/byte_source.h"
#include "io/state_dict.h"

namespace remora::io {

// Looks, in this order, for `model.safetensors.index.json` and all shards it names,
// `model.safetensors`, `model.pth`, and a complete set `model-0000I-of-000NN.safetensors` (NN up to
// 99) without its index. Names are those of the files.
// Throws Error{kIo} when none is there, naming the folder and what was looked for, and kFormat or
// kIo naming the file for a shard that is missing, a tensor of the index that no shard has, a shard
// name that leaves the folder, or a file that cannot be read.
StateDict read_checkpoint(const FileSet& files);

// One weight file, safetensors or .pth: its content decides, not its name.
StateDict read_tensor_file(const FileSet& files, std::string_view name);

}  // namespace remora::io
