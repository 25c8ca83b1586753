// A saved session with one field that no session can hold, and checksums that are right all the
// same.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <map>
#include <span>

#include "base/bytes.h"
#include "engine/session.h"
#include "io/memory_source.h"
#include "io/source_set.h"
#include "lm/hash.h"
#include "support/golden.h"

namespace remora::engine {
namespace {

constexpr size_t kDecoderHead = 24;  // magic, version, checksum, fingerprint

// Where the fields of a saved session lie, found by walking over it as session_state.cpp writes it.
class Layout {
 public:
  explicit Layout(std::span<const std::byte> bytes) : in_(bytes, "layout") {
    in_.bytes(12);
    mark<uint8_t>("control");
    mark<uint64_t>("voices");
    mark<uint64_t>("turns");
    mark<uint8_t>("phase");
    const auto pieces = mark<uint64_t>("pieces");
    for (uint64_t i = 0; i < pieces; ++i) {
      mark<uint64_t>("piece bytes");
      at["piece text"] = in_.position();
      in_.bytes(last_);
      mark<uint64_t>("piece end");
    }
    mark<uint64_t>("piece");
    mark<uint8_t>("from tokens");
    mark<int64_t>("limit");
    mark<int32_t>("limit reason");
    numbers<int32_t>("codes");
    mark<int32_t>("finish");
    in_.bytes(8 * sizeof(uint64_t));
    mark<float>("temperature");
    in_.bytes(16 + 1 + 8);
    mark<int32_t>("max frames");
    mark<float>("frames per byte");
    mark<uint8_t>("has sound");
    mark<uint64_t>("codec");
    mark<int64_t>("rows");
    numbers<int32_t>("pending");
    numbers<float>("samples");
    mark<uint8_t>("finished");
    mark<int64_t>("delivered");
    mark<int64_t>("frames");
    const auto tensors = mark<uint64_t>("tensors");
    for (uint64_t i = 0; i < tensors; ++i) {
      mark<int8_t>("type");
      numbers<int64_t>("shape");
      numbers<std::byte>("tensor");
    }
    mark<uint64_t>("decoder bytes");
    decoder();
  }
  std::map<std::string, size_t> at;

 private:
  template <typename T>
  uint64_t mark(const std::string& name) {
    at[name] = in_.position();
    const T value = in_.value<T>();
    if constexpr (std::is_integral_v<T>) last_ = static_cast<uint64_t>(value);
    return last_;
  }
  template <typename T>
  void numbers(const std::string& name) {
    const auto count = mark<uint64_t>(name + " count");
    at[name] = in_.position();
    in_.bytes(count * sizeof(T));
  }
  void decoder() {
    at["decoder"] = in_.position();
    in_.bytes(kDecoderHead);
    numbers<int32_t>("columns");
    mark<int64_t>("prompt columns");
    mark<int64_t>("exact columns");
    mark<uint8_t>("ready");
    mark<uint8_t>("ended");
    mark<float>("decoder temperature");
    in_.bytes(17);
    in_.bytes(624 * sizeof(uint32_t));
    mark<uint32_t>("stream position");
    mark<int64_t>("history frames");
    mark<uint64_t>("history");
  }

  ByteReader in_;
  uint64_t last_ = 0;
};

const std::shared_ptr<const Model>& model() {
  static const auto& loaded = *new std::shared_ptr<const Model>([] {
    io::SourceSet files;
    files.add_dir(test::data_path("lm/s2pro_tiny"));
    files.add_codec_dir(test::data_path("codec"));
    ModelOptions options;
    options.want_encoder = false;
    return Model::load(files, options);
  }());
  return loaded;
}

// In the middle of a turn, with sound that is ready and codes that wait.
std::unique_ptr<Session> started() {
  auto session = std::make_unique<Session>(model(), SessionOptions{});
  Request request;
  request.text = "One two three. <|speaker:1|>Four.";
  session->prefill(request);
  for (int i = 0; i < 9; ++i) EXPECT_TRUE(session->step());
  std::array<float, 3000> pcm;
  bool over = false;
  EXPECT_GT(session->read_pcm(pcm, over), 0u);
  return session;
}

template <typename T>
void put(std::vector<std::byte>& bytes, size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

// Both checksums made right.
void seal(std::vector<std::byte>& bytes, const Layout& layout) {
  const size_t body = bytes.size() - sizeof(uint64_t);
  const size_t decoder = layout.at.at("decoder");
  lm::Hash hash;
  hash.add_bytes(std::span(bytes).subspan(decoder + kDecoderHead, body - decoder - kDecoderHead));
  put(bytes, decoder + 8, hash.value());
  put(bytes, body, checksum(std::span(bytes).first(body)));
}

// Loads with `value` as `field` into a session at work: refused, and nothing changed.
template <typename T>
void expect_refused(const std::string& field, T value) {
  static const std::vector<std::byte>& good = *new std::vector<std::byte>(started()->save());
  static const Layout& layout = *new Layout{std::span(good)};
  std::vector<std::byte> bytes = good;
  put(bytes, layout.at.at(field), value);
  seal(bytes, layout);
  static auto& session = *started().release();
  const std::vector<std::byte> before = session.save();
  const std::string error = test::error_of([&] { session.load(bytes); });
  EXPECT_TRUE(error.starts_with("REMORA_E_FORMAT: ")) << field << " = " << +value << ": " << error;
  EXPECT_EQ(session.save(), before) << field << " = " << +value;
}

TEST(SavedFields, WithoutAChangeTheyLoad) {
  const std::vector<std::byte> saved = started()->save();
  std::vector<std::byte> bytes = saved;
  seal(bytes, Layout(bytes));
  EXPECT_EQ(bytes, saved) << "the test's own checksums are right";
  Session session(model(), {});
  session.load(bytes);
  EXPECT_TRUE(session.step());
}

TEST(SavedFields, CountsBeyondTheBytesAreRefused) {
  for (const std::string field :
       {"voices", "turns", "pieces", "piece bytes", "codes count", "pending count", "samples count",
        "tensors", "shape count", "tensor count", "decoder bytes", "columns count", "history"}) {
    for (const uint64_t count : {uint64_t{1} << 40, ~uint64_t{0}, (~uint64_t{0} >> 2) + 1}) {
      expect_refused(field, count);
    }
  }
}

TEST(SavedFields, ProgressThatIsNoneIsRefused) {
  expect_refused<uint8_t>("phase", 3);
  expect_refused<uint8_t>("phase", 2);  // ended, but the sound has not
  expect_refused<uint8_t>("piece text", 0xff);
  expect_refused<uint64_t>("piece end", ~uint64_t{0});
  expect_refused<uint64_t>("piece", 2);
  expect_refused<int64_t>("limit", -1);
  expect_refused<int64_t>("limit", INT64_MAX);
  expect_refused<int32_t>("limit reason", 6);
  expect_refused<int32_t>("finish", -1);
  expect_refused<int32_t>("codes", -1);
  expect_refused<int32_t>("codes", 1 << 20);
}

TEST(SavedFields, SamplingThatIsNoneIsRefused) {
  expect_refused<float>("temperature", -1);
  expect_refused<float>("temperature", NAN);
  expect_refused<int32_t>("max frames", -1);
  expect_refused<float>("frames per byte", NAN);
  expect_refused<float>("decoder temperature", NAN);
}

TEST(SavedFields, SoundThatIsNoneIsRefused) {
  expect_refused<int64_t>("rows", 0);
  expect_refused<int64_t>("rows", -6);
  expect_refused<int64_t>("rows", 7);
  expect_refused<int32_t>("pending", -1);
  expect_refused<uint8_t>("finished", 1);
  for (const std::string field : {"delivered", "frames"}) {
    for (const int64_t number : {int64_t{-4}, INT64_MAX, int64_t{5}}) {
      expect_refused(field, number);
    }
  }
  expect_refused<int8_t>("type", 100);
  for (const int64_t extent : {int64_t{-1}, int64_t{0}, INT64_MAX, int64_t{1} << 32}) {
    expect_refused("shape", extent);
  }
}

TEST(SavedFields, ADecoderThatIsNoneIsRefused) {
  expect_refused<int32_t>("columns", -1);
  expect_refused<int32_t>("columns", 1 << 20);
  expect_refused<int64_t>("prompt columns", -1);
  expect_refused<int64_t>("prompt columns", INT64_MAX);
  expect_refused<int64_t>("exact columns", 1000);
  expect_refused<uint8_t>("ready", 0);  // in the middle of a turn
  expect_refused<uint8_t>("ended", 1);
  expect_refused<uint32_t>("stream position", 625);
  expect_refused<int64_t>("history frames", INT64_MAX);
  expect_refused<int64_t>("history frames", 0);
}

TEST(SavedFields, NumbersThatAreNoneGiveANumericError) {
  // NaN in keys and values passes the checks: it is found where a code is to be drawn.
  std::vector<std::byte> bytes = started()->save();
  const Layout layout(bytes);
  const size_t body = bytes.size() - sizeof(uint64_t);
  for (size_t at = body - 4096; at + 4 <= body; at += 4) put(bytes, at, NAN);
  seal(bytes, layout);
  Session session(model(), {});
  session.load(bytes);
  const std::string error = test::error_of([&] {
    for (int i = 0; i < 3; ++i) session.step();
  });
  EXPECT_TRUE(error.starts_with("REMORA_E_NUMERIC: ")) << error;
}

}  // namespace
}  // namespace remora::engine
