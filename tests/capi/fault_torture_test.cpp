// The n-th read, prompt, frame or piece of sound fails, for each n until nothing fails: an error
// with its text each time, nothing left open or alive, and after a reset the session is as new.
#include <c10/util/Exception.h>

#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <new>
#include <stdexcept>

#include "capi_test.h"
#include "engine/fault_point.h"
#include "live_objects.h"
#include "support/sanitized.h"

namespace remora::capi_test {
namespace {

using engine::Work;

// What fails, when, and how: the hook is a plain function.
struct Plan {
  Work work = Work::kStep;
  int left = 0;  // until it fails; 0 = never
  void (*fail)() = nullptr;
};
Plan g_plan;

void fail_as_planned(Work work) {
  if (work == g_plan.work && g_plan.left > 0 && --g_plan.left == 0) g_plan.fail();
}

struct Fault {
  const char* name;
  void (*fail)();
  remora_status status;
  const char* text;  // part of the message
};

// As LibTorch throws them.
const Fault kFaults[] = {
    {"device", [] { throw c10::AcceleratorError({}, 700, "CUDA error: an illegal address"); },
     REMORA_E_DEVICE, "illegal address"},
    {"library on the device",
     [] { TORCH_CHECK(false, "CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling gemm"); },
     REMORA_E_DEVICE, "CUBLAS_STATUS_EXECUTION_FAILED"},
    {"device memory", [] { TORCH_CHECK_WITH(OutOfMemoryError, false, "CUDA out of memory."); },
     REMORA_E_OUT_OF_MEMORY, "CUDA out of memory"},
    {"host memory of tensors",
     [] { TORCH_CHECK(false, "DefaultCPUAllocator: can't allocate memory: you tried to ..."); },
     REMORA_E_OUT_OF_MEMORY, "can't allocate memory"},
    {"host memory", [] { throw std::bad_alloc(); }, REMORA_E_OUT_OF_MEMORY, "memory"},
    {"a fault of ours", [] { throw std::logic_error("index 7 of 6"); }, REMORA_E_INTERNAL,
     "index 7 of 6"},
    {"no exception class at all", [] { throw 7; }, REMORA_E_INTERNAL, "unknown"},
};

class FaultTorture : public testing::Test {
 protected:
  FaultTorture() { engine::g_fault_hook = fail_as_planned; }
  ~FaultTorture() override {
    engine::g_fault_hook = nullptr;
    g_plan = {};
  }

  static Owned<remora_session> new_session(const remora_model* model) {
    auto session = open_session(model);
    const remora_sampling sampling = greedy(6);
    EXPECT_OK(remora_session_set_sampling(session.get(), &sampling));
    return session;
  }
  static int32_t REMORA_CALL keep(void* user, const float* pcm, size_t n, int32_t /*last*/) {
    auto& heard = *static_cast<std::vector<float>*>(user);
    heard.insert(heard.end(), pcm, pcm + n);
    return 0;
  }
  static remora_status speak(remora_session* session, std::vector<float>& heard) {
    // Two pieces, so that a prompt is also computed within a step.
    remora_prompt prompt = text_prompt("Hello world, here I am. And this is a second sentence.");
    prompt.split_bytes = 26;
    heard.clear();
    return remora_session_generate(session, &prompt, keep, &heard);
  }
  static void expect_failed_until_reset(remora_session* session) {
    remora_stats stats{};
    stats.struct_size = sizeof stats;
    EXPECT_OK(remora_session_stats(session, &stats));
    EXPECT_EQ(stats.finish, REMORA_FINISH_ERROR);
    const remora_prompt prompt = text_prompt("Hello.");
    float sample = 0;
    size_t n = 0;
    for (const remora_status status :
         {remora_session_step(session, nullptr), remora_session_prefill(session, &prompt),
          remora_session_read_pcm(session, &sample, 1, &n)}) {
      EXPECT_EQ(status, REMORA_E_INVALID_STATE);
      EXPECT_NE(std::strstr(remora_last_error(), "reset"), nullptr) << remora_last_error();
    }
    EXPECT_OK(remora_session_reset(session));
  }
};

TEST_F(FaultTorture, RB_49_a_failing_device_fails_the_session_until_reset) {
  const auto model = open_model("s2pro_tiny", true);
  const auto session = new_session(model.get());
  std::vector<float> expected, heard;
  ASSERT_OK(speak(session.get(), expected));
  ASSERT_GT(expected.size(), 0U);
  for (const Work work : {Work::kPrefill, Work::kStep, Work::kDecode}) {
    const Fault& fault = kFaults[0];
    int n = 1;
    for (bool failed = true; failed; n += failed) {
      g_plan = {work, n, fault.fail};
      const remora_status status = speak(session.get(), heard);
      failed = status != REMORA_OK;
      if (!failed) continue;
      EXPECT_EQ(status, fault.status) << "at " << n << ": " << remora_last_error();
      EXPECT_NE(std::strstr(remora_last_error(), fault.text), nullptr) << remora_last_error();
      expect_failed_until_reset(session.get());
    }
    EXPECT_GT(n, 2) << "this work was never made to fail";
    EXPECT_EQ(heard, expected) << "after " << n << " failures";
  }
}

TEST_F(FaultTorture, RB_49_a_session_that_failed_can_be_destroyed_and_its_model_serves_others) {
  const auto model = open_model("s2pro_tiny", true);
  std::vector<float> expected, heard;
  ASSERT_OK(speak(new_session(model.get()).get(), expected));
  for (const Fault& fault : kFaults) {
    g_plan = {Work::kStep, 10, fault.fail};
    EXPECT_EQ(speak(new_session(model.get()).get(), heard), fault.status) << fault.name;
    EXPECT_NE(std::strstr(remora_last_error(), fault.text), nullptr) << remora_last_error();
    ASSERT_OK(speak(new_session(model.get()).get(), heard));
    EXPECT_EQ(heard, expected);
  }
}

// A host's archive whose n-th read fails or gives too little.
struct Archive {
  std::map<std::string, std::string> files;
  int open_files = 0;
  int left = 0;  // reads until one fails; 0 = never
  bool gives_less = false;

  void add(const std::string& name, const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    files[name] = {std::istreambuf_iterator<char>(in), {}};
    EXPECT_FALSE(files[name].empty()) << path;
  }
  static remora_status REMORA_CALL open(void* user, const char* name, void** file, uint64_t* size) {
    auto& archive = *static_cast<Archive*>(user);
    const auto at = archive.files.find(name);
    if (at == archive.files.end()) return REMORA_E_IO;
    ++archive.open_files;
    *file = &at->second;
    *size = at->second.size();
    return REMORA_OK;
  }
  static int64_t REMORA_CALL read(void* user, void* file, uint64_t offset, void* dst, uint64_t n) {
    auto& archive = *static_cast<Archive*>(user);
    if (archive.left > 0 && --archive.left == 0) {
      return archive.gives_less ? static_cast<int64_t>(n) - 1 : int64_t{REMORA_E_IO};
    }
    std::memcpy(dst, static_cast<std::string*>(file)->data() + offset, n);
    return static_cast<int64_t>(n);
  }
  static void REMORA_CALL close(void* user, void* /*file*/) {
    --static_cast<Archive*>(user)->open_files;
  }
};

TEST_F(FaultTorture, TORTURE_every_read_of_a_whole_checkpoint_may_fail) {
  Archive archive;
  for (const char* file :
       {"config.json", "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors",
        "model.safetensors.index.json", "tokenizer.json"}) {
    archive.add(file, data(std::string("lm/s2pro_tiny/") + file));
  }
  archive.add("codec.json", data("codec/config.json"));
  archive.add("codec.pth", data("codec/codec.pth"));
  remora_reader reader{};
  reader.struct_size = sizeof reader;
  reader.user = &archive;
  reader.open = Archive::open;
  reader.read_at = Archive::read;
  reader.close = Archive::close;

  for (const bool gives_less : {false, true}) {
    archive.gives_less = gives_less;
    int n = 0;
    for (remora_status status = REMORA_E_CALLBACK; status != REMORA_OK && n < 2000;) {
      remora_source* source = nullptr;
      remora_model* model = nullptr;
      ASSERT_OK(remora_source_create(&source));
      ASSERT_OK(remora_source_set_reader(source, &reader));
      n += test::kSanitized ? 1 + n / 8 : 1;
      archive.left = n;
      status = remora_model_create(source, nullptr, &model);
      if (status != REMORA_OK) {
        EXPECT_EQ(status, REMORA_E_CALLBACK) << "read " << n << ": " << remora_last_error();
        EXPECT_NE(std::strstr(remora_last_error(), "reader"), nullptr) << remora_last_error();
        EXPECT_EQ(model, nullptr);
      } else if (model != nullptr) {
        std::vector<float> heard;
        EXPECT_OK(speak(new_session(model).get(), heard));
      }
      remora_model_destroy(model);
      remora_source_destroy(source);
      ASSERT_EQ(archive.open_files, 0) << "read " << n;
      ASSERT_EQ(live_objects(), "") << "read " << n;
    }
    EXPECT_GT(n, 100) << "next to nothing was read";
  }
}

}  // namespace
}  // namespace remora::capi_test
