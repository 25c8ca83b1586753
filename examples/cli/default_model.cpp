#include "default_model.h"

#include <remora/remora.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "failure.h"

namespace remora::cli {
namespace {

namespace fs = std::filesystem;

// Counts changes of what make-tiny writes: a cached folder of an older recipe is not used.
constexpr int kRecipe = 2;

std::string version_text() {
  const uint32_t version = remora_version();
  return std::to_string(version >> 16) + "." + std::to_string(version >> 8 & 0xFF) + "." +
         std::to_string(version & 0xFF);
}

// $XDG_CACHE_HOME, else ~/.cache; empty when neither is known.
fs::path cache_root() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/') {
    return cache;
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') {
    return fs::path(home) / ".cache";
  }
  return {};
}

// Written beside its place and moved there whole: two programs at once cannot see half a folder.
void write_cached(const fs::path& folder, const SyntheticCheckpoint& checkpoint) {
  const fs::path unfinished = folder.string() + ".part-" + std::to_string(getpid());
  std::error_code error;
  try {
    checkpoint.write_to(unfinished);
    fs::rename(unfinished, folder, error);
  } catch (const Failure&) {
    fs::remove_all(unfinished, error);
    throw;
  }
  if (error) fs::remove_all(unfinished, error);  // another program was first
}

}  // namespace

DefaultModel make_default_model() {
  const auto make = [] {
    return std::make_unique<SyntheticCheckpoint>(tiny_shape(Family::kS2Pro), kTinySeed,
                                                 Ending::kByLength);
  };
  const fs::path root = cache_root();
  if (root.empty()) return {"", make()};
  const fs::path folder =
      root / "remora" / ("tiny-" + version_text() + "-" + std::to_string(kRecipe));
  std::error_code error;
  if (!fs::exists(folder / "config.json", error)) {
    try {
      write_cached(folder, *make());
    } catch (const Failure&) {
      return {"", make()};
    }
  }
  if (!fs::exists(folder / "config.json", error)) return {"", make()};
  return {folder.string(), nullptr};
}

}  // namespace remora::cli
