#include "live_objects.h"

#include <gtest/gtest.h>

#include <memory>

#include "base/concat.h"
#include "c_api/handles.h"

namespace remora::capi_test {
namespace {

template <typename T>
void add(std::string& out, std::string_view name) {
  const int64_t alive = LiveCount<T>::alive();
  if (alive == 0) return;
  out += concat(out.empty() ? "" : ", ", alive, " ", name, alive == 1 ? "" : "s");
}

class Watch final : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo& /*info*/) override { before_ = live_objects(); }
  void OnTestEnd(const testing::TestInfo& /*info*/) override {
    EXPECT_EQ(live_objects(), before_) << "objects that the test left behind";
  }
  void OnTestSuiteEnd(const testing::TestSuite& /*suite*/) override {
    EXPECT_EQ(live_objects(), "") << "objects that the suite left behind";
  }

  std::string before_;
};

}  // namespace

std::string live_objects() {
  std::string out;
  add<remora_source>(out, "source handle");
  add<remora_model>(out, "model handle");
  add<remora_voice>(out, "voice handle");
  add<remora_session>(out, "session handle");
  add<remora_codec_stream>(out, "codec stream handle");
  add<io::SourceSet>(out, "source");
  add<engine::Model>(out, "model");
  add<engine::Voice>(out, "voice");
  add<engine::Session>(out, "session");
  add<codec::Codec>(out, "codec");
  add<codec::DecodeStream>(out, "decode stream");
  return out;
}

bool watch_live_objects() {
  // The listeners own it.
  testing::UnitTest::GetInstance()->listeners().Append(std::make_unique<Watch>().release());
  return true;
}

}  // namespace remora::capi_test
