#include "failure.h"

namespace remora::cli {

namespace {

void fail(const std::string& prefix, remora_status status) {
  std::string text = remora_last_error();
  if (text.empty()) text = remora_status_name(status);
  throw Failure(status == REMORA_E_CANCELLED ? kInterrupted : kError, prefix + text);
}

}  // namespace

void check(remora_status status) {
  if (status < 0) fail("", status);
}

void check_file(const std::string& path, remora_status status) {
  if (status < 0) fail(path + ": ", status);
}

}  // namespace remora::cli
