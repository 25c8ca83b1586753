// Words and JSON for what the library counts in numbers.
#pragma once

#include <remora/remora.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace remora::cli {

using Json = nlohmann::ordered_json;

const char* finish_word(remora_finish finish);
const char* sdpa_word(remora_sdpa_policy policy);
const char* kv_word(remora_kv_mode mode);
const char* dtype_word(remora_dtype dtype);
const char* weights_word(remora_weights weights);
std::string device_word(remora_device_kind device, int32_t index);

// Bytes the process has had in memory at most.
uint64_t peak_rss_bytes();

// One object and a line break on standard output; bytes that are not UTF-8 become U+FFFD.
void print_json(const Json& object);

// On standard output, as it is.
void print_text(const std::string& text);

// At most `digits` behind the point: more is noise in a time.
double rounded(double value, int digits = 3);

}  // namespace remora::cli
