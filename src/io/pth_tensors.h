// How a .pth file's pickle describes a tensor: a call of a rebuild function on a storage.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/pickle.h"
#include "io/state_dict.h"
#include "io/zip_archive.h"

namespace remora::io {

class PthTensors {
 public:
  // `prefix`: the archive's folder with its slash. All three must outlive this.
  PthTensors(const ZipArchive& archive, const std::string& prefix, const PickleTree& tree);

  // The names ("module name") that state dicts need, and no other may occur.
  static std::span<const std::string_view> globals();

  // `call`: of kind kCall. Every number is checked against the archive; throws Error{kFormat}
  // naming file, tensor and reason.
  StoredTensor describe(std::string_view name, const PickleTree::Value& call) const;

 private:
  struct Storage {
    at::ScalarType dtype = at::kFloat;
    uint64_t offset = 0;    // bytes from the start of the file
    uint64_t elements = 0;  // that the file holds for it
  };

  [[noreturn]] void fail(std::string_view name, std::string_view reason) const;
  std::vector<int64_t> extents(std::string_view name, const PickleTree::Value& tuple,
                               std::string_view what) const;
  Storage storage(std::string_view name, const PickleTree::Value& persistent) const;
  void check_extent(std::string_view name, const StoredTensor& tensor, uint64_t offset,
                    uint64_t elements) const;

  const ZipArchive& archive_;
  const std::string& prefix_;
  const PickleTree& tree_;
};

}  // namespace remora::io
