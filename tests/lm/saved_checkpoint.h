// The quantised checkpoints of the golden models, made where they are needed.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>

#include "io/temp_dir.h"
#include "lm/save_weights.h"
#include "lm/tiny_model.h"

namespace remora::test {

struct Format {
  lm::Weights weights;
  int32_t group;
};
inline constexpr Format kFormats[] = {
    {lm::Weights::kInt8, 0}, {lm::Weights::kInt4, 32}, {lm::Weights::kInt4, 64}};

inline std::string folder_of(const std::string& name) { return data_path("lm/" + name + "_tiny"); }

inline lm::LoadOptions converting(const TinyModel& tiny, const Format& format) {
  lm::LoadOptions options = tiny.options();
  options.weights = format.weights;
  options.int4_group = format.group;
  return options;
}

inline std::shared_ptr<const lm::LanguageModel> converted(const std::string& name,
                                                          const lm::LoadOptions& options) {
  return lm::LanguageModel::load(*io::open_directory(folder_of(name)), options);
}

// A golden model's quantised checkpoint in a folder of its own.
class Saved {
 public:
  Saved(const std::string& name, const lm::LoadOptions& options) {
    std::filesystem::copy_file(folder_of(name) + "/config.json", folder_.path("config.json"));
    lm::save_weights(*converted(name, options), file(), {});
  }
  std::string file() const { return folder_.path("model.safetensors"); }
  std::shared_ptr<const lm::LanguageModel> load(const lm::LoadOptions& options) const {
    return lm::LanguageModel::load(*io::open_directory(folder_.path()), options);
  }
  // One text in the file's header in place of another, as long.
  void change(const std::string& from, std::string to) const {
    std::string bytes = read_file(file());
    const size_t at = bytes.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    ASSERT_LE(to.size(), from.size());
    to.resize(from.size(), ' ');
    folder_.write("model.safetensors", bytes.replace(at, from.size(), to));
  }

 private:
  TempDir folder_;
};

}  // namespace remora::test
