// main() of a target in the ordinary build: every file of the folders named, whole, cut, and with
// single bytes changed. The changes are the same in each run.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <random>
#include <vector>

#include "fuzz.h"

namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<uint8_t>;

constexpr size_t kCuts = 8;
constexpr size_t kChanges = 24;

// On the heap and exactly as long as it is, so that a sanitizer sees a read past its end.
void run(const uint8_t* data, size_t size) {
  const auto copy = std::make_unique<uint8_t[]>(size);
  std::copy_n(data, size, copy.get());
  LLVMFuzzerTestOneInput(copy.get(), size);
}

size_t run_file(const Bytes& bytes) {
  run(bytes.data(), bytes.size());
  for (size_t i = 0; i < kCuts; ++i) run(bytes.data(), bytes.size() * i / kCuts);
  if (bytes.empty()) return 1 + kCuts;
  std::mt19937 engine(static_cast<uint32_t>(bytes.size()));
  for (size_t i = 0; i < kChanges; ++i) {
    Bytes changed = bytes;
    // Half of them near the start, where headers lie.
    const size_t reach = i % 2 == 0 ? std::min<size_t>(changed.size(), 128) : changed.size();
    changed[engine() % reach] ^= static_cast<uint8_t>(1 + engine() % 255);
    run(changed.data(), changed.size());
  }
  return 1 + kCuts + kChanges;
}

}  // namespace

int main(int argc, char** argv) {
  size_t files = 0, inputs = 0;
  for (int i = 1; i < argc; ++i) {
    std::vector<fs::path> paths;
    for (const auto& entry : fs::directory_iterator(argv[i])) paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    for (const fs::path& path : paths) {
      std::cout << path.string() << std::endl;  // before it runs: the last one named is to blame
      std::ifstream in(path, std::ios::binary);
      inputs += run_file(Bytes{std::istreambuf_iterator<char>(in), {}});
      ++files;
    }
  }
  std::cout << files << " files, " << inputs << " inputs\n";
  return files > 0 ? 0 : 1;
}
