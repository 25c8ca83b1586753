// What of the library is alive in this process, handles and the objects behind them.
#pragma once

#include <string>

namespace remora::capi_test {

// "2 models, 1 session handle", or "" when there is nothing.
std::string live_objects();

// From here on every test must leave as many objects as it found, and a suite none at all.
// Returns true.
bool watch_live_objects();

}  // namespace remora::capi_test
