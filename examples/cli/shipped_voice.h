// The voice that ships beside the program.
#pragma once

#include <filesystem>

namespace remora::cli {

// Where the voice belongs: in an installed tree and in a build alike at the same way from the
// program's own folder, so that either can be moved. "" where the system does not tell that folder.
std::filesystem::path shipped_voice_folder();

// Whether a checkpoint lies there.
bool is_checkpoint(const std::filesystem::path& folder);

}  // namespace remora::cli
