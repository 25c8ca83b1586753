// A folder that goes away with its object, for tests of real files.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace remora::test {

class TempDir {
 public:
  // `name`: the last part of the path, so that tests can choose odd ones.
  explicit TempDir(const std::string& name = "dir") {
    std::string base = (std::filesystem::temp_directory_path() / "remora-test-XXXXXX").string();
    if (::mkdtemp(base.data()) == nullptr) throw std::runtime_error("no temporary folder");
    root_ = base;
    path_ = root_ / name;
    std::filesystem::create_directories(path_);
  }
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  std::string path() const { return path_.string(); }
  std::string path(const std::string& name) const { return (path_ / name).string(); }
  // Writes a file and returns its path.
  std::string write(const std::string& name, std::string_view bytes) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream out(path_ / name, std::ios::binary);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!out.flush()) throw std::runtime_error("cannot write " + name);
    return path(name);
  }

 private:
  std::filesystem::path root_;
  std::filesystem::path path_;
};

inline std::string read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace remora::test
