#include "io/checkpoint.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/concat.h"
#include "base/error.h"
#include "io/file_kind.h"
#include "io/json.h"
#include "io/pth.h"
#include "io/quote.h"

namespace remora::io {
namespace {

constexpr std::string_view kIndex = "model.safetensors.index.json";
constexpr std::string_view kSingle = "model.safetensors";
constexpr std::string_view kPickled = "model.pth";
constexpr uint64_t kMaxIndex = 64u << 20;
constexpr int kMaxShards = 99;
constexpr size_t kListed = 10;

// "a, b and 3 more"
std::string list_names(const std::vector<std::string>& names) {
  std::string out;
  for (size_t i = 0; i < std::min(names.size(), kListed); ++i) {
    out += (i > 0 ? ", " : "") + printable(names[i]);
  }
  if (names.size() > kListed) out += concat(" and ", names.size() - kListed, " more");
  return out;
}

struct ShardIndex {
  std::string file;
  std::set<std::string> shards;
  std::vector<std::string> tensors;
};

ShardIndex read_index(const FileSet& files) {
  const JsonObject root(*files.open(kIndex), kMaxIndex);
  const JsonObject map = root.object("weight_map");
  ShardIndex index{root.file(), {}, map.keys()};
  for (const std::string& tensor : index.tensors) {
    std::string shard = map.string(tensor);
    if (!is_inside_name(shard)) {
      map.fail(tensor, concat("lies in file '", printable(shard), "', outside the folder"));
    }
    index.shards.insert(std::move(shard));
  }
  if (index.shards.empty()) root.fail("weight_map", "names no tensors");
  return index;
}

template <typename Names>
StateDict read_shards(const FileSet& files, const Names& names, std::string_view named_by) {
  std::vector<std::string> missing;
  for (const std::string& name : names) {
    if (!files.contains(name)) missing.push_back(files.display_name(name));
  }
  if (!missing.empty()) {
    throw Error(Status::kIo, concat(list_names(missing), missing.size() == 1 ? " is" : " are",
                                    " missing, though ", named_by, "; incomplete download?"));
  }
  StateDict out;
  for (const std::string& name : names) read_safetensors(files.open(name), out);
  return out;
}

StateDict read_indexed(const FileSet& files) {
  const ShardIndex index = read_index(files);
  StateDict out = read_shards(files, index.shards, concat("named in ", index.file));
  std::vector<std::string> absent;
  for (const std::string& tensor : index.tensors) {
    if (!out.contains(tensor)) absent.push_back(tensor);
  }
  if (!absent.empty()) {
    throw Error(Status::kFormat,
                concat(index.file, ": ", absent.size(), absent.size() == 1 ? " tensor" : " tensors",
                       " in it but in no shard: ", list_names(absent),
                       "; are index and shards from the same download?"));
  }
  return out;
}

std::string shard_name(int shard, int count) {
  const auto five_digits = [](int n) {
    std::string digits = concat(n);
    return std::string(5 - digits.size(), '0') + digits;
  };
  return concat("model-", five_digits(shard), "-of-", five_digits(count), ".safetensors");
}

// The names of the one shard set of which the first or last file is there; empty when there is
// none. A file set cannot be listed, so the names are tried.
std::vector<std::string> find_shards(const FileSet& files) {
  std::vector<std::string> found;
  for (int count = 1; count <= kMaxShards; ++count) {
    if (!files.contains(shard_name(1, count)) && !files.contains(shard_name(count, count))) {
      continue;
    }
    std::vector<std::string> names;
    for (int shard = 1; shard <= count; ++shard) names.push_back(shard_name(shard, count));
    if (!found.empty()) {
      throw Error(Status::kFormat,
                  concat(files.describe(), ": shards of two sets, of ", found.size(), " and of ",
                         count, ", and no ", kIndex, " to tell which to use"));
    }
    found = std::move(names);
  }
  return found;
}

}  // namespace

StateDict read_tensor_file(const FileSet& files, std::string_view name) {
  std::shared_ptr<const ByteSource> source = files.open(name);
  const FileKind kind = file_kind(*source);
  if (kind == FileKind::kZip || kind == FileKind::kPickle) return read_pth(std::move(source));
  if (kind == FileKind::kOther) {
    StateDict out;
    read_safetensors(std::move(source), out);
    return out;
  }
  throw Error(Status::kFormat, concat(source->name(), ": no weight file", file_kind_hint(kind)));
}

StateDict read_checkpoint(const FileSet& files) {
  if (files.contains(kIndex)) return read_indexed(files);
  for (const std::string_view name : {kSingle, kPickled}) {
    if (files.contains(name)) return read_tensor_file(files, name);
  }
  if (const std::vector<std::string> shards = find_shards(files); !shards.empty()) {
    return read_shards(files, shards, "other shards of its set are there");
  }
  throw Error(Status::kIo, concat(files.describe(), ": no weights here; looked for ", kIndex, ", ",
                                  kSingle, ", ", kPickled, " and ", shard_name(1, 2),
                                  "-like shards; is this the checkpoint's folder?"));
}

}  // namespace remora::io
