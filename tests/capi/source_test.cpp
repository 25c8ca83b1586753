// A whole checkpoint through each kind of source gives the same codes.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>

#include "capi_test.h"

namespace remora::capi_test {
namespace {

const std::vector<std::string> kFiles = {"config.json", "model-00001-of-00002.safetensors",
                                         "model-00002-of-00002.safetensors",
                                         "model.safetensors.index.json", "tokenizer.json"};

std::string content(const std::string& file) {
  std::ifstream in(data("lm/s2pro_tiny/" + file), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

Owned<remora_source> new_source() {
  remora_source* source = nullptr;
  EXPECT_OK(remora_source_create(&source));
  return Owned<remora_source>(source);
}

std::vector<std::vector<int32_t>> codes_of(Owned<remora_source> source) {
  remora_model* raw = nullptr;
  EXPECT_OK(remora_model_create(source.get(), nullptr, &raw));
  const Owned<remora_model> model(raw);
  source.reset();  // the model needs it no more
  if (!model) return {};
  const auto session = open_session(model.get());
  const remora_sampling sampling = greedy(6);
  EXPECT_OK(remora_session_set_sampling(session.get(), &sampling));
  const remora_prompt prompt = text_prompt("Hello world.");
  EXPECT_OK(remora_session_prefill(session.get(), &prompt));
  return run_frames(session.get(), 6);
}

std::vector<std::vector<int32_t>> expected() {
  auto source = new_source();
  EXPECT_OK(remora_source_add_dir(source.get(), data("lm/s2pro_tiny").c_str()));
  auto codes = codes_of(std::move(source));
  EXPECT_EQ(codes.size(), 6U);
  return codes;
}

TEST(Source, SingleFilesServe) {
  auto source = new_source();
  for (const auto& file : kFiles) {
    EXPECT_OK(
        remora_source_add_path(source.get(), file.c_str(), data("lm/s2pro_tiny/" + file).c_str()));
  }
  EXPECT_EQ(codes_of(std::move(source)), expected());
}

void REMORA_CALL count_release(void* user, const void* data, size_t len) {
  EXPECT_TRUE(data != nullptr && len > 0);
  ++*static_cast<int*>(user);
}

TEST(Source, MemoryServesAndIsGivenBackOnce) {
  std::map<std::string, std::string> files;
  for (const auto& file : kFiles) files[file] = content(file);
  int released = 0;
  {
    auto source = new_source();
    for (const auto& [name, bytes] : files) {
      EXPECT_OK(remora_source_add_memory(source.get(), name.c_str(), bytes.data(), bytes.size(),
                                         count_release, &released));
    }
    EXPECT_EQ(released, 0);
    EXPECT_EQ(codes_of(std::move(source)), expected());
  }
  EXPECT_EQ(released, static_cast<int>(files.size()));
}

TEST(Source, MemoryIsGivenBackWhenItIsRefused) {
  int released = 0;
  const char byte = 1;
  EXPECT_EQ(remora_source_add_memory(nullptr, "a", &byte, 1, count_release, &released),
            REMORA_E_INVALID_ARGUMENT);
  EXPECT_EQ(released, 1);
  const auto source = new_source();
  EXPECT_EQ(remora_source_add_memory(source.get(), "../a", &byte, 1, count_release, &released),
            REMORA_E_INVALID_ARGUMENT);
  EXPECT_EQ(released, 2);
}

TEST(Source, DescriptorsServeAtAnOffset) {
  auto source = new_source();
  for (const auto& file : kFiles) {
    char path[] = "/tmp/remora_source_XXXXXX";
    const int fd = mkstemp(path);
    ASSERT_GE(fd, 0);
    unlink(path);
    const std::string bytes = std::string(4099, 'x') + content(file) + "tail";
    ASSERT_EQ(write(fd, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    EXPECT_OK(remora_source_add_fd(source.get(), file.c_str(), fd, 4099, bytes.size() - 4099 - 4));
    EXPECT_EQ(remora_source_add_fd(source.get(), "other", fd, 0, bytes.size() + 1), REMORA_E_IO);
    close(fd);
  }
  EXPECT_EQ(codes_of(std::move(source)), expected());
}

// A host's archive with its open files counted.
struct Archive {
  std::map<std::string, std::string> files;
  int open_files = 0;
  int reads = 0;
  int fail_read = -1;  // index of the read that fails
};

remora_status REMORA_CALL archive_open(void* user, const char* name, void** file, uint64_t* size) {
  auto& archive = *static_cast<Archive*>(user);
  const auto at = archive.files.find(name);
  if (at == archive.files.end()) return REMORA_E_IO;
  ++archive.open_files;
  *file = &at->second;
  *size = at->second.size();
  return REMORA_OK;
}

int64_t REMORA_CALL archive_read(void* user, void* file, uint64_t offset, void* dst, uint64_t n) {
  auto& archive = *static_cast<Archive*>(user);
  if (archive.reads++ == archive.fail_read) return -1;
  std::memcpy(dst, static_cast<std::string*>(file)->data() + offset, n);
  return static_cast<int64_t>(n);
}

void REMORA_CALL archive_close(void* user, void*) { --static_cast<Archive*>(user)->open_files; }

remora_reader reader_over(Archive& archive) {
  remora_reader reader{};
  reader.struct_size = sizeof reader;
  reader.user = &archive;
  reader.open = archive_open;
  reader.read_at = archive_read;
  reader.close = archive_close;
  return reader;
}

TEST(Source, AReaderServesAndEveryFileIsClosed) {
  Archive archive;
  for (const auto& file : kFiles) archive.files[file] = content(file);
  const remora_reader reader = reader_over(archive);
  auto source = new_source();
  EXPECT_OK(remora_source_set_reader(source.get(), &reader));
  EXPECT_EQ(codes_of(std::move(source)), expected());
  EXPECT_EQ(archive.open_files, 0);
}

// The n-th read fails, for each n until a load succeeds: an error every time, nothing left open.
TEST(Source, TORTURE_every_read_may_fail) {
  Archive archive;
  for (const auto& file : kFiles) archive.files[file] = content(file);
  const remora_reader reader = reader_over(archive);
  bool loaded = false;
  for (int n = 0; n < 1000 && !loaded; ++n) {
    archive.reads = 0;
    archive.fail_read = n;
    const auto source = new_source();
    ASSERT_OK(remora_source_set_reader(source.get(), &reader));
    remora_model* model = nullptr;
    const remora_status status = remora_model_create(source.get(), nullptr, &model);
    loaded = status == REMORA_OK;
    if (!loaded) {
      EXPECT_EQ(status, REMORA_E_CALLBACK) << "read " << n << ": " << remora_last_error();
      EXPECT_EQ(model, nullptr);
    }
    remora_model_destroy(model);
  }
  EXPECT_TRUE(loaded);
  EXPECT_EQ(archive.open_files, 0);
}

TEST(Source, ReadersMustBeWhole) {
  Archive archive;
  remora_reader reader = reader_over(archive);
  reader.read_at = nullptr;
  const auto source = new_source();
  EXPECT_EQ(remora_source_set_reader(source.get(), &reader), REMORA_E_INVALID_ARGUMENT);
  EXPECT_EQ(remora_source_set_reader(source.get(), nullptr), REMORA_E_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace remora::capi_test
