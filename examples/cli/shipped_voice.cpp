#include "shipped_voice.h"

#ifdef __APPLE__
#include <mach-o/dyld.h>
#endif

#include <string>

namespace remora::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kVoice = "slt";

// The file that runs, behind all links; "" when the system does not tell.
fs::path program_path() {
  std::error_code error;
#ifdef __APPLE__
  uint32_t size = 0;
  _NSGetExecutablePath(nullptr, &size);
  std::string path(size, '\0');
  if (_NSGetExecutablePath(path.data(), &size) != 0) return {};
  return fs::canonical(path.c_str(), error);
#else
  return fs::read_symlink("/proc/self/exe", error);
#endif
}

}  // namespace

fs::path shipped_voice_folder() {
  const fs::path program = program_path();
  if (program.empty()) return {};
  return (program.parent_path() / REMORA_VOICES_FROM_PROGRAM / kVoice).lexically_normal();
}

bool is_checkpoint(const fs::path& folder) {
  std::error_code error;
  return !folder.empty() && fs::is_regular_file(folder / "config.json", error);
}

}  // namespace remora::cli
