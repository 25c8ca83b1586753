// The model that speaks when none was named.
#pragma once

#include <memory>
#include <string>

#include "synthetic/checkpoint.h"

namespace remora::cli {

// A tiny random checkpoint: a folder in the user's cache, made on the first call and found again
// later; or the same one in memory where no cache folder can be written.
struct DefaultModel {
  std::string folder;                           // "" when in memory
  std::unique_ptr<SyntheticCheckpoint> memory;  // null when in a folder
};

DefaultModel make_default_model();

}  // namespace remora::cli
