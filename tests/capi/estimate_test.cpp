// remora_model_estimate: what loading would take, without loading.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "capi_test.h"

namespace remora::capi_test {
namespace {

using nlohmann::json;

Owned<remora_source> new_source() {
  remora_source* source = nullptr;
  EXPECT_OK(remora_source_create(&source));
  return Owned<remora_source>(source);
}

Owned<remora_source> source_of(const std::string& folder, const std::string& codec) {
  auto source = new_source();
  if (!folder.empty()) EXPECT_OK(remora_source_add_dir(source.get(), folder.c_str()));
  if (!codec.empty()) EXPECT_OK(remora_source_add_codec_dir(source.get(), codec.c_str()));
  return source;
}

remora_model_params default_params() {
  remora_model_params params;
  EXPECT_OK(remora_model_params_init(&params, sizeof params));
  return params;
}

remora_memory empty_memory() {
  remora_memory memory{};
  memory.struct_size = sizeof memory;
  return memory;
}

// Status, error text and memory of both ways to the same question.
struct Answer {
  remora_status status = REMORA_OK;
  std::string error;
  remora_memory memory = empty_memory();
};

Answer estimate(remora_source* source, const remora_model_params* params) {
  Answer answer;
  answer.status = remora_model_estimate(source, params, &answer.memory);
  if (answer.status != REMORA_OK) answer.error = remora_last_error();
  return answer;
}

Answer load(remora_source* source, const remora_model_params* params) {
  Answer answer;
  remora_model* model = nullptr;
  answer.status = remora_model_create(source, params, &model);
  if (answer.status != REMORA_OK) answer.error = remora_last_error();
  const Owned<remora_model> owned(model);
  if (model != nullptr) EXPECT_OK(remora_model_memory(model, &answer.memory));
  return answer;
}

void expect_same(const Answer& estimated, const Answer& loaded) {
  EXPECT_EQ(estimated.status, loaded.status) << estimated.error << loaded.error;
  EXPECT_EQ(estimated.error, loaded.error);
  EXPECT_EQ(estimated.memory.weights, loaded.memory.weights);
  EXPECT_EQ(estimated.memory.codec, loaded.memory.codec);
  EXPECT_EQ(estimated.memory.kv_per_position, loaded.memory.kv_per_position);
}

struct Checkpoint {
  const char* name;
  const char* folder;  // of tests/data, or "tiny/..." of the build
  const char* codec;
};

class EstimateOf : public testing::TestWithParam<Checkpoint> {
 protected:
  static std::string place(std::string folder) {
    if (folder.starts_with("tiny/")) return tiny(folder.substr(5));
    return folder.empty() ? folder : capi_test::data(folder);
  }
  static Owned<remora_source> source() {
    return source_of(place(GetParam().folder), place(GetParam().codec));
  }
};

TEST_P(EstimateOf, EqualsTheMemoryOfTheLoadedModelForAllParameters) {
  int weighed = 0;
  for (const uint32_t flags : {0, 1, 2, 3, 4, 5, 6, 8}) {
    for (const remora_dtype dtype :
         {REMORA_DTYPE_AUTO, REMORA_DTYPE_F32, REMORA_DTYPE_BF16, REMORA_DTYPE_F16}) {
      for (const remora_weights weights :
           {REMORA_WEIGHTS_AS_DTYPE, REMORA_WEIGHTS_INT8, REMORA_WEIGHTS_INT4}) {
        // What belongs to the codec alone need not be crossed with the rest.
        for (const remora_dtype codec : {REMORA_DTYPE_AUTO, REMORA_DTYPE_BF16, REMORA_DTYPE_F16}) {
          if (codec != REMORA_DTYPE_AUTO && (dtype != REMORA_DTYPE_F32 || weights != 0)) continue;
          SCOPED_TRACE(testing::Message() << "flags " << flags << ", dtype " << dtype
                                          << ", weights " << weights << ", codec " << codec);
          remora_model_params params = default_params();
          params.flags = flags;
          params.dtype = dtype;
          params.weights = weights;
          params.codec_dtype = codec;
          const Answer loaded = load(source().get(), &params);
          expect_same(estimate(source().get(), &params), loaded);
          weighed += loaded.memory.weights + loaded.memory.codec > 0;
        }
      }
    }
  }
  EXPECT_GT(weighed, 10);
}

INSTANTIATE_TEST_SUITE_P(Checkpoints, EstimateOf,
                         testing::Values(Checkpoint{"S2", "lm/s2pro_tiny", "codec"},
                                         Checkpoint{"S1", "lm/s1mini_tiny", "codec"},
                                         Checkpoint{"Projected", "lm/s1proj_tiny", ""},
                                         Checkpoint{"TinyS2", "tiny/s2-pro", ""},
                                         Checkpoint{"TinyS1", "tiny/s1-mini", ""},
                                         Checkpoint{"Codec", "", "codec"}),
                         [](const auto& info) { return std::string(info.param.name); });

// Files by callback. A read that touches one of a file's closed bytes is counted and fails.
struct Archive {
  struct File {
    std::string bytes;  // the leading ones; none are there behind them
    uint64_t size = 0;
    std::set<uint64_t> closed;
  };
  std::map<std::string, File> files;
  int open_files = 0;
  int closed_reads = 0;
};

remora_status REMORA_CALL archive_open(void* user, const char* name, void** file, uint64_t* size) {
  auto& archive = *static_cast<Archive*>(user);
  const auto at = archive.files.find(name);
  if (at == archive.files.end()) return REMORA_E_IO;
  ++archive.open_files;
  *file = &at->second;
  *size = at->second.size;
  return REMORA_OK;
}

int64_t REMORA_CALL archive_read(void* user, void* handle, uint64_t offset, void* dst, uint64_t n) {
  const auto& file = *static_cast<Archive::File*>(handle);
  const auto closed = file.closed.lower_bound(offset);
  if (offset + n > file.bytes.size() || (closed != file.closed.end() && *closed < offset + n)) {
    ++static_cast<Archive*>(user)->closed_reads;
    return -1;
  }
  std::memcpy(dst, file.bytes.data() + offset, n);
  return static_cast<int64_t>(n);
}

void REMORA_CALL archive_close(void* user, void*) { --static_cast<Archive*>(user)->open_files; }

Owned<remora_source> source_over(Archive& archive) {
  remora_reader reader{};
  reader.struct_size = sizeof reader;
  reader.user = &archive;
  reader.open = archive_open;
  reader.read_at = archive_read;
  reader.close = archive_close;
  auto source = new_source();
  EXPECT_OK(remora_source_set_reader(source.get(), &reader));
  return source;
}

uint64_t little_endian(const std::string& bytes, size_t at, size_t count) {
  uint64_t value = 0;
  for (size_t i = count; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

// A safetensors file: bytes of the header with its length, and the header.
size_t header_end(const std::string& bytes) { return 8 + little_endian(bytes, 0, 8); }
json header_of(const std::string& bytes) {
  return json::parse(bytes.substr(8, header_end(bytes) - 8));
}

// The first byte of every tensor.
std::set<uint64_t> tensor_bytes(const std::string& name, const std::string& bytes) {
  std::set<uint64_t> out;
  if (name.ends_with(".safetensors")) {
    const json header = header_of(bytes);
    for (const auto& [key, tensor] : header.items()) {
      if (tensor.contains("data_offsets")) {
        out.insert(header_end(bytes) + tensor["data_offsets"][0].get<uint64_t>());
      }
    }
  } else if (name.ends_with(".pth")) {
    // A zip archive's local headers; PyTorch keeps each storage in a member named .../data/N. Its
    // directory is searched for in the last 64 KiB and its end record's 22 bytes.
    const size_t end = bytes.size() - std::min<size_t>(bytes.size(), 65535 + 22);
    constexpr std::string_view kLocal("PK\x03\x04", 4);
    for (size_t at = bytes.find(kLocal); at != std::string::npos; at = bytes.find(kLocal, at + 4)) {
      const size_t name_length = little_endian(bytes, at + 26, 2);
      const size_t data = at + 30 + name_length + little_endian(bytes, at + 28, 2);
      if (data >= end) break;
      if (bytes.substr(at + 30, name_length).find("/data/") != std::string::npos) out.insert(data);
    }
  }
  return out;
}

Archive archive_of(const std::string& folder, const std::vector<std::string>& names) {
  Archive archive;
  for (const std::string& name : names) {
    std::ifstream in(data(folder + "/" + name), std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(in), {}};
    EXPECT_FALSE(bytes.empty()) << name;
    const uint64_t size = bytes.size();
    archive.files[name] = {std::move(bytes), size, {}};
  }
  return archive;
}

const std::vector<std::string> kS2Files = {"config.json", "model-00001-of-00002.safetensors",
                                           "model-00002-of-00002.safetensors",
                                           "model.safetensors.index.json", "tokenizer.json"};
const std::vector<std::string> kS1Files = {"config.json", "model.pth", "special_tokens.json",
                                           "tokenizer.tiktoken"};

TEST(Estimate, NoByteOfATensorIsRead) {
  for (const bool s2 : {true, false}) {
    for (const char* codec : {"codec.safetensors", "codec.pth"}) {
      SCOPED_TRACE(testing::Message() << s2 << " " << codec);
      Archive archive =
          s2 ? archive_of("lm/s2pro_tiny", kS2Files) : archive_of("lm/s1mini_tiny", kS1Files);
      archive.files.merge(archive_of("codec", {codec}).files);
      archive.files["codec.json"] = archive_of("codec", {"config.json"}).files["config.json"];
      const Answer loaded = load(source_over(archive).get(), nullptr);
      EXPECT_EQ(archive.closed_reads, 0);

      size_t tensors = 0;
      for (auto& [name, file] : archive.files) {
        file.closed = tensor_bytes(name, file.bytes);
        tensors += file.closed.size();
      }
      EXPECT_GT(tensors, 50U);
      expect_same(estimate(source_over(archive).get(), nullptr), loaded);
      EXPECT_EQ(archive.closed_reads, 0);
      EXPECT_EQ(archive.open_files, 0);
      // The same files cannot be loaded: the closed bytes are really those of tensors.
      EXPECT_EQ(load(source_over(archive).get(), nullptr).status, REMORA_E_CALLBACK);
      EXPECT_GT(archive.closed_reads, 0);
    }
  }
}

// A matrix of the tiny checkpoint made so tall that nobody could hold it; its numbers do not exist.
TEST(Estimate, AVocabularyOfGigabytesNeedsNoMemory) {
  constexpr uint64_t kTall = uint64_t{1} << 24, kWidth = 64, kStoredBytes = 2;
  Archive archive = archive_of("lm/s2pro_tiny", kS2Files);
  const remora_memory before = estimate(source_over(archive).get(), nullptr).memory;

  json config = json::parse(archive.files["config.json"].bytes);
  const auto vocabulary = config["text_config"]["vocab_size"].get<uint64_t>();
  config["text_config"]["vocab_size"] = kTall;
  const std::string text = config.dump();
  archive.files["config.json"] = {text, text.size(), {}};

  Archive::File& shard = archive.files["model-00001-of-00002.safetensors"];
  json header = header_of(shard.bytes);
  json& table = header["text_model.model.embeddings.weight"];
  ASSERT_EQ(table["shape"], (json{vocabulary, kWidth}));
  const uint64_t bytes = kTall * kWidth * kStoredBytes;
  table["shape"] = {kTall, kWidth};
  table["data_offsets"] = {0, bytes};
  const std::string changed = header.dump();
  std::string length(8, '\0');
  for (size_t i = 0; i < 8; ++i) length[i] = static_cast<char>(changed.size() >> (8 * i));
  shard.bytes = length + changed;
  shard.size = shard.bytes.size() + bytes;

  const Answer answer = estimate(source_over(archive).get(), nullptr);
  ASSERT_EQ(answer.status, REMORA_OK) << answer.error;
  // The table stays as stored; the rows that may be sampled are as many as before.
  EXPECT_EQ(answer.memory.weights - before.weights, (kTall - vocabulary) * kWidth * kStoredBytes);
  EXPECT_EQ(archive.closed_reads, 0);
}

TEST(Estimate, MissingAndMisshapedTensorsAreToldAsByLoading) {
  for (const auto& [from, to] : {std::pair{"model.layers.0.ffn_norm", "model.layers.0.ffn_mron"},
                                 std::pair{"\"shape\":[128,64]", "\"shape\":[64,128]"}}) {
    Archive archive = archive_of("lm/s2pro_tiny", kS2Files);
    int changes = 0;
    for (auto& [name, file] : archive.files) {  // in the index too, which would notice otherwise
      const size_t at = file.bytes.find(from);
      if (at == std::string::npos) continue;
      file.bytes.replace(at, std::strlen(to), to);
      ++changes;
    }
    ASSERT_GT(changes, 0) << from;
    const Answer loaded = load(source_over(archive).get(), nullptr);
    EXPECT_EQ(loaded.status, REMORA_E_FORMAT) << from;
    EXPECT_NE(loaded.error.find("expected ["), loaded.error.find("is missing")) << loaded.error;
    expect_same(estimate(source_over(archive).get(), nullptr), loaded);
  }
}

TEST(Estimate, MissingFilesAreToldAsByLoading) {
  for (const std::string& name : kS2Files) {
    if (name == "model.safetensors.index.json") continue;  // shards are found without it
    Archive archive = archive_of("lm/s2pro_tiny", kS2Files);
    archive.files.erase(name);
    const Answer loaded = load(source_over(archive).get(), nullptr);
    EXPECT_LT(loaded.status, 0) << name;
    expect_same(estimate(source_over(archive).get(), nullptr), loaded);
  }
  const auto nothing = new_source();
  expect_same(estimate(nothing.get(), nullptr), load(nothing.get(), nullptr));
}

int32_t REMORA_CALL stop(void* user, float) {
  ++*static_cast<int*>(user);
  return 1;
}

TEST(Estimate, ProgressIsNotCalled) {
  int calls = 0;
  remora_model_params params = default_params();
  params.progress = stop;
  params.progress_user = &calls;
  const auto source = source_of(data("lm/s2pro_tiny"), data("codec"));
  EXPECT_EQ(estimate(source.get(), &params).status, REMORA_OK);
  EXPECT_EQ(calls, 0);
}

TEST(Estimate, TheSourceServesAfterwards) {
  const auto source = source_of(data("lm/s2pro_tiny"), data("codec"));
  const Answer estimated = estimate(source.get(), nullptr);
  expect_same(estimated, load(source.get(), nullptr));
  expect_same(estimate(source.get(), nullptr), estimated);
}

TEST(Estimate, ArgumentsAreChecked) {
  const auto source = source_of(data("lm/s2pro_tiny"), "");
  remora_memory memory = empty_memory();
  EXPECT_EQ(remora_model_estimate(nullptr, nullptr, &memory), REMORA_E_INVALID_ARGUMENT);
  EXPECT_NE(std::strstr(remora_last_error(), "source"), nullptr) << remora_last_error();
  EXPECT_EQ(remora_model_estimate(source.get(), nullptr, nullptr), REMORA_E_INVALID_ARGUMENT);
  EXPECT_NE(std::strstr(remora_last_error(), "out"), nullptr) << remora_last_error();
  memory.struct_size = 0;
  EXPECT_EQ(remora_model_estimate(source.get(), nullptr, &memory), REMORA_E_ABI);

  remora_model_params params = default_params();
  params.flags = uint32_t{1} << 31;
  EXPECT_EQ(estimate(source.get(), &params).status, REMORA_E_INVALID_ARGUMENT);
  params = default_params();
  params.struct_size = 4;
  EXPECT_EQ(estimate(source.get(), &params).status, REMORA_E_ABI);
}

TEST(Estimate, AnOlderOutStructIsWrittenAsFarAsItReaches) {
  const auto source = source_of(data("lm/s2pro_tiny"), "");
  remora_memory memory;
  std::memset(&memory, 0xAB, sizeof memory);
  memory.struct_size = offsetof(remora_memory, codec);
  EXPECT_OK(remora_model_estimate(source.get(), nullptr, &memory));
  EXPECT_EQ(memory.weights, load(source.get(), nullptr).memory.weights);
  EXPECT_EQ(memory.codec, 0xABABABABABABABABU) << "beyond the caller's struct";
}

}  // namespace
}  // namespace remora::capi_test
