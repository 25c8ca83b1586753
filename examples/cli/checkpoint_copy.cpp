#include "checkpoint_copy.h"

#include <algorithm>
#include <fstream>
#include <system_error>
#include <utility>

#include "failure.h"
#include "interrupt.h"

namespace remora::cli {
namespace {

namespace fs = std::filesystem;

constexpr size_t kChunk = 4 << 20;  // bytes between two looks at Ctrl-C

// "model-00002-of-00005.safetensors"
bool is_shard(std::string_view name) {
  constexpr std::string_view kPattern = "model-#####-of-#####.safetensors";
  return name.size() == kPattern.size() &&
         std::equal(name.begin(), name.end(), kPattern.begin(), [](char c, char wanted) {
           return wanted == '#' ? c >= '0' && c <= '9' : c == wanted;
         });
}

[[noreturn]] void fail(const fs::path& path, const std::string& reason) {
  throw Failure(kError, path.string() + ": " + reason);
}

void copy_whole(const fs::path& from, const fs::path& to) {
  const fs::path unfinished = to.string() + ".part";
  std::ifstream in(from, std::ios::binary);
  if (!in) fail(from, "cannot open; is it readable?");
  std::ofstream out(unfinished, std::ios::binary | std::ios::trunc);
  std::vector<char> chunk(kChunk);
  bool stopped = false;
  while (out && in && !(stopped = Interrupt::raised())) {
    in.read(chunk.data(), static_cast<std::streamsize>(chunk.size()));
    out.write(chunk.data(), in.gcount());
  }
  out.close();
  std::error_code error;
  const bool whole = out && in.eof() && !stopped;
  if (whole) fs::rename(unfinished, to, error);
  if (whole && !error) return;
  fs::remove(unfinished, error);
  if (stopped) throw Failure(kInterrupted, to.string() + ": interrupted; nothing was kept");
  if (!in.eof()) fail(from, "cannot read it to its end");
  fail(to, "cannot write; is there room and permission?");
}

}  // namespace

bool holds_lm_weights(std::string_view file_name) {
  return file_name == "model.safetensors" || file_name == "model.safetensors.index.json" ||
         file_name == "model.pth" || is_shard(file_name);
}

NewFolder::NewFolder(fs::path path) : path_(std::move(path)) {
  std::error_code error;
  made_folder_ = fs::create_directories(path_, error);
  if (error) {
    fail(path_, "cannot create the folder (" + error.message() + "); choose another place");
  }
}

NewFolder::~NewFolder() {
  std::error_code ignored;
  for (const fs::path& file : made_) fs::remove(file, ignored);
  if (made_folder_) fs::remove(path_, ignored);
}

void NewFolder::will_make(std::string_view name) {
  std::error_code ignored;
  const fs::path file = path_ / name;
  if (!fs::exists(file, ignored)) made_.push_back(file);
}

void NewFolder::copy_from(const fs::path& from) {
  std::error_code error;
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(from, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with('.') || holds_lm_weights(name)) continue;
    if (entry.is_regular_file(error)) files.push_back(entry.path());
  }
  if (error) fail(from, "cannot list the folder (" + error.message() + ")");
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    const std::string name = file.filename().string();
    will_make(name);
    copy_whole(file, path_ / name);
  }
}

}  // namespace remora::cli
