// The voice that ships beside the program, and speaks when no model is named.
#pragma once

#include <string>

namespace remora::cli {

// Its folder: in an installed tree and in a build alike at the same way from the program's own, so
// that either can be moved. Throws Failure, naming the place, where no checkpoint lies there.
std::string shipped_voice();

}  // namespace remora::cli
