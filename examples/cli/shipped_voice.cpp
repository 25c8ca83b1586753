#include "shipped_voice.h"

#ifdef __APPLE__
#include <mach-o/dyld.h>
#endif

#include <filesystem>

#include "failure.h"

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

std::string shipped_voice() {
  const fs::path folder =
      (program_path().parent_path() / REMORA_VOICES_FROM_PROGRAM / kVoice).lexically_normal();
  std::error_code error;
  if (fs::is_regular_file(folder / "config.json", error)) return folder.string();
  throw Failure(kError, "no model is named, and there is no voice in " + folder.string() +
                            "; install the voice that ships (component voice, package "
                            "remora-voice-slt), or name a checkpoint folder with --model DIR or "
                            "REMORA_MODEL");
}

}  // namespace remora::cli
