// Facts about the process the library lives in.
#pragma once

namespace remora {

// True in a child made by fork() after the library was first used: LibTorch's thread pools do not
// exist there and its next parallel region would hang. Any thread.
bool in_forked_child() noexcept;

}  // namespace remora
