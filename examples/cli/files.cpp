#include "files.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "failure.h"

namespace remora::cli {
namespace {

struct Closer {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using FilePtr = std::unique_ptr<std::FILE, Closer>;

std::string read_all(std::FILE* file, const std::string& name, uint64_t max_bytes) {
  std::string bytes;
  char chunk[1 << 16];
  while (const size_t n = std::fread(chunk, 1, sizeof chunk, file)) {
    bytes.append(chunk, n);
    if (bytes.size() > max_bytes) {
      throw Failure(kError, name + ": larger than " + std::to_string(max_bytes) +
                                " bytes; is it the right file?");
    }
  }
  if (std::ferror(file) != 0) throw Failure(kError, name + ": cannot read it to its end");
  return bytes;
}

}  // namespace

std::string read_file(const std::string& path, uint64_t max_bytes) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    throw Failure(kError, path + ": is a folder, not a file");
  }
  const FilePtr file(std::fopen(path.c_str(), "rb"));
  if (!file) throw Failure(kError, path + ": cannot open (" + std::strerror(errno) + ")");
  return read_all(file.get(), path, max_bytes);
}

std::string read_stdin(uint64_t max_bytes) { return read_all(stdin, "standard input", max_bytes); }

void write_stdout(const void* bytes, size_t n) {
  if (std::fwrite(bytes, 1, n, stdout) == n && std::fflush(stdout) == 0) return;
  if (errno == EPIPE) {
    throw Failure(kError, "standard output: its reader went away; the work ends here");
  }
  throw Failure(kError,
                std::string("standard output: cannot write (") + std::strerror(errno) + ")");
}

void write_file(const std::string& path, std::string_view bytes) {
  std::error_code error;
  // A device or pipe is written to; only an ordinary file can be put in place when it is whole.
  const bool in_place =
      std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error);
  const std::string target = in_place ? path : path + ".part";
  FilePtr file(std::fopen(target.c_str(), "wb"));
  if (!file) throw Failure(kError, path + ": cannot create (" + std::strerror(errno) + ")");
  bool written = std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size();
  written = std::fclose(file.release()) == 0 && written;
  if (written && !in_place) {
    std::filesystem::rename(target, path, error);
    written = !error;
  }
  if (written) return;
  if (!in_place) std::filesystem::remove(target, error);
  throw Failure(kError, path + ": cannot write; is there room?");
}

void check_writable_place(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code error;
  if (!folder.empty() && !std::filesystem::is_directory(folder, error)) {
    throw Failure(kError, path + ": there is no folder " + folder.string() + "; create it first");
  }
  if (std::filesystem::is_directory(path, error)) {
    throw Failure(kError, path + ": is a folder; give the name of a file in it");
  }
}

}  // namespace remora::cli
