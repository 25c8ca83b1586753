// The tiny checkpoints of tests/data, loaded once and never let go.
#pragma once

#include <memory>
#include <string>

#include "engine/model.h"
#include "io/source_set.h"

namespace remora::fuzz {

inline std::shared_ptr<const engine::Model> tiny_model(const std::string& name, bool with_codec,
                                                       bool text_only = false) {
  const std::string data = REMORA_FUZZ_DATA;
  io::SourceSet files;
  files.add_dir(data + "/lm/" + name);
  if (with_codec) files.add_codec_dir(data + "/codec");
  engine::ModelOptions options;
  options.text_only = text_only;
  options.want_encoder = false;
  return engine::Model::load(files, options);
}

}  // namespace remora::fuzz
