// A host's reader callbacks, for tests.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <string>

#include "base/error.h"
#include "io/source_set.h"

namespace remora::test {

// Files in memory behind a reader that counts its calls and fails the nth.
struct Host {
  std::map<std::string, std::string> files;
  int64_t fail_at = -1;     // the call that fails, counted over open and read_at
  int64_t read_result = 0;  // what a failing read returns; 0: one byte less than asked
  int64_t calls = 0;
  int opened = 0;
  int closed = 0;

  io::Reader reader() {
    return {this, &Host::open, &Host::read_at,
            [](void* user, void*) { ++static_cast<Host*>(user)->closed; }};
  }
  static int32_t open(void* user, const char* name, void** file, uint64_t* size) {
    auto& host = *static_cast<Host*>(user);
    if (host.calls++ == host.fail_at) return static_cast<int32_t>(Status::kInternal);
    const auto at = host.files.find(name);
    if (at == host.files.end()) return static_cast<int32_t>(Status::kIo);
    *file = &at->second;
    *size = at->second.size();
    ++host.opened;
    return 0;
  }
  static int64_t read_at(void* user, void* file, uint64_t offset, void* dst, uint64_t n) {
    auto& host = *static_cast<Host*>(user);
    if (host.calls++ == host.fail_at) {
      return host.read_result != 0 ? host.read_result : static_cast<int64_t>(n) - 1;
    }
    std::memcpy(dst, static_cast<const std::string*>(file)->data() + offset, n);
    return static_cast<int64_t>(n);
  }
};

}  // namespace remora::test
