#include "failure.h"

namespace remora::cli {

void check(remora_status status) {
  if (status >= 0) return;
  std::string text = remora_last_error();
  if (text.empty()) text = remora_status_name(status);
  throw Failure(status == REMORA_E_CANCELLED ? kInterrupted : kError, text);
}

}  // namespace remora::cli
