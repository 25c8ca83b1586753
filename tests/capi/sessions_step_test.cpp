// remora_sessions_step: several sessions over one read of the weights.
#include <array>
#include <cstring>
#include <string>

#include "capi_test.h"

namespace remora::capi_test {
namespace {

constexpr const char* kTexts[] = {"Hello world.", "One after the other, as they came.",
                                  "A third one. It has two sentences and is longer."};

class SessionsStepTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { model_ = open_tiny("s2-pro").release(); }
  static void TearDownTestSuite() {
    remora_model_destroy(model_);
    model_ = nullptr;
  }
  static Owned<remora_session> speaking(size_t index, int32_t max_frames) {
    auto session = open_session(model_);
    const remora_sampling sampling = greedy(max_frames);
    EXPECT_OK(remora_session_set_sampling(session.get(), &sampling));
    remora_prompt prompt = text_prompt(kTexts[index % std::size(kTexts)]);
    prompt.split_bytes = 16;  // several pieces, which end at different times
    EXPECT_OK(remora_session_prefill(session.get(), &prompt));
    return session;
  }

  static remora_model* model_;
};
remora_model* SessionsStepTest::model_ = nullptr;

// A frame with room for its codes.
struct Room {
  std::array<int32_t, 16> codes{};
  remora_frame frame{};
  Room() {
    frame.struct_size = sizeof frame;
    frame.codes = codes.data();
    frame.codes_capacity = codes.size();
  }
  std::vector<int32_t> drawn() const { return {codes.begin(), codes.begin() + frame.n_codes}; }
};

std::vector<float> read_all(remora_session* session) {
  std::vector<float> out, part(8192);
  for (;;) {
    size_t written = 0;
    const remora_status status =
        remora_session_read_pcm(session, part.data(), part.size(), &written);
    out.insert(out.end(), part.begin(), part.begin() + static_cast<ptrdiff_t>(written));
    if (status != REMORA_OK || written == 0) return out;
  }
}

TEST_F(SessionsStepTest, GivesEachTheFramesAndSoundThatItWouldHaveAlone) {
  constexpr size_t kSessions = 5;
  std::vector<Owned<remora_session>> together, alone;
  for (size_t i = 0; i < kSessions; ++i) {
    together.push_back(speaking(i, 3 + static_cast<int32_t>(i)));
    alone.push_back(speaking(i, 3 + static_cast<int32_t>(i)));
  }
  std::array<bool, kSessions> over{};
  for (size_t left = kSessions; left > 0;) {
    std::vector<remora_session*> sessions;
    std::array<Room, kSessions> rooms;
    std::vector<remora_frame*> frames;
    for (size_t i = 0; i < kSessions; ++i) {
      sessions.push_back(together[i].get());
      frames.push_back(&rooms[i].frame);
    }
    std::array<remora_status, kSessions> statuses{};
    ASSERT_OK(remora_sessions_step(sessions.data(), kSessions, frames.data(), statuses.data()));
    for (size_t i = 0; i < kSessions; ++i) {
      Room expected;
      ASSERT_EQ(statuses[i], remora_session_step(alone[i].get(), &expected.frame)) << i;
      if (statuses[i] == REMORA_OK) {
        EXPECT_EQ(rooms[i].drawn(), expected.drawn()) << i;
        EXPECT_EQ(rooms[i].frame.position, expected.frame.position);
      } else if (!over[i]) {
        over[i] = true;
        --left;
      }
    }
  }
  for (size_t i = 0; i < kSessions; ++i) {
    const remora_stats stats = stats_of(together[i].get()), expected = stats_of(alone[i].get());
    EXPECT_EQ(stats.frames, expected.frames);
    EXPECT_EQ(stats.pieces_done, expected.pieces_done);
    EXPECT_EQ(stats.finish, expected.finish);
    EXPECT_EQ(read_all(together[i].get()), read_all(alone[i].get())) << i;
  }
}

TEST_F(SessionsStepTest, WhatHappensToOneStaysItsOwnAffair) {
  const auto good = speaking(0, 4), reference = speaking(0, 4), stopped = speaking(1, 4);
  const auto idle = open_session(model_);
  remora_session_cancel(stopped.get());
  remora_session* sessions[] = {stopped.get(), idle.get(), good.get()};
  remora_status statuses[3] = {};
  Room room, expected;
  remora_frame* frames[] = {nullptr, nullptr, &room.frame};
  ASSERT_OK(remora_sessions_step(sessions, 3, frames, statuses));
  EXPECT_EQ(statuses[0], REMORA_E_CANCELLED);
  EXPECT_EQ(statuses[1], REMORA_E_INVALID_STATE);
  EXPECT_EQ(statuses[2], REMORA_OK);
  EXPECT_NE(std::strstr(remora_last_error(), "no prompt yet"), nullptr) << remora_last_error();
  ASSERT_OK(remora_session_step(reference.get(), &expected.frame));
  EXPECT_EQ(room.drawn(), expected.drawn());
  EXPECT_EQ(stats_of(stopped.get()).finish, REMORA_FINISH_CANCELLED);
  EXPECT_OK(remora_session_reset(stopped.get()));
}

TEST_F(SessionsStepTest, RefusesWithoutSteppingAnyone) {
  const auto one = speaking(0, 4), two = speaking(1, 4);
  const auto other_model = open_tiny("s1-mini");
  const auto stranger = open_session(other_model.get());
  remora_status statuses[9] = {};
  const auto refused = [&](std::vector<remora_session*> sessions, remora_frame* const* frames,
                           remora_status status, const char* text) {
    EXPECT_EQ(remora_sessions_step(sessions.data(), sessions.size(), frames, statuses), status);
    EXPECT_NE(std::strstr(remora_last_error(), text), nullptr) << remora_last_error();
    EXPECT_EQ(stats_of(one.get()).frames, 0U);
  };
  refused({one.get(), one.get()}, nullptr, REMORA_E_INVALID_ARGUMENT,
          "sessions[1]: is sessions[0]");
  refused({one.get(), stranger.get()}, nullptr, REMORA_E_INVALID_ARGUMENT, "another model");
  refused({one.get(), nullptr}, nullptr, REMORA_E_INVALID_ARGUMENT, "sessions[1]: is NULL");
  refused({}, nullptr, REMORA_E_INVALID_ARGUMENT, "sessions: is NULL");
  refused(std::vector<remora_session*>(9, one.get()), nullptr, REMORA_E_INVALID_ARGUMENT,
          "1 to 8 is needed");
  Room narrow;
  narrow.frame.codes_capacity = 1;
  remora_frame* const frames[] = {nullptr, &narrow.frame};
  refused({one.get(), two.get()}, frames, REMORA_E_BUFFER_TOO_SMALL, "has room for 1 codes");
  remora_session* sessions[] = {one.get()};
  EXPECT_EQ(remora_sessions_step(sessions, 1, nullptr, nullptr), REMORA_E_INVALID_ARGUMENT);
  EXPECT_EQ(remora_sessions_step(sessions, 0, nullptr, statuses), REMORA_E_INVALID_ARGUMENT);
  ASSERT_OK(remora_sessions_step(sessions, 1, nullptr, statuses));
  EXPECT_EQ(statuses[0], REMORA_OK);
}

}  // namespace
}  // namespace remora::capi_test
