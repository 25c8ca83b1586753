// Whole files in and out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace remora::cli {

// Throws Failure when the file is missing, a folder, unreadable or larger than `max_bytes`.
std::string read_file(const std::string& path, uint64_t max_bytes);

// All of standard input, with the same bound.
std::string read_stdin(uint64_t max_bytes);

// The file appears under its name when it is whole. Throws Failure when it cannot be written.
void write_file(const std::string& path, std::string_view bytes);

// To standard output at once. Throws Failure when it cannot be written or its reader went away.
void write_stdout(const void* bytes, size_t n);

// Throws Failure when a file could not be created there: said before long work, not after it.
void check_writable_place(const std::string& path);

}  // namespace remora::cli
