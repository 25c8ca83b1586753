// Frame after frame, and piece after piece of a text: for one session, or for several together.
#include <algorithm>
#include <utility>

#include "base/error.h"
#include "engine/fault_point.h"
#include "engine/session.h"
#include "engine/session_work.h"

namespace remora::engine {

void Session::begin_step() {
  enter("step");
  if (at_.phase == Phase::kIdle) {
    throw Error(Status::kInvalidState, "session: no prompt yet; call prefill first");
  }
}

bool Session::wants_frame() {
  while (at_.phase == Phase::kSpeaking) {
    cancel_.check("step");
    const auto frames = at_.piece_codes.size() / static_cast<size_t>(n_codebooks());
    if (static_cast<int64_t>(frames) < at_.limit.frames) return true;
    finish_piece(at_.limit.reason);
  }
  return false;
}

std::optional<std::span<const int32_t>> Session::take(const lm::Frame& frame, uint64_t start_ns) {
  fault_point(Work::kStep);
  at_.stats.step_ns += now_ns() - start_ns;
  if (frame.is_end) {
    finish_piece(Finish::kEndToken);
    return std::nullopt;
  }
  at_.piece_codes.insert(at_.piece_codes.end(), frame.codes.begin(), frame.codes.end());
  ++at_.stats.frames;
  if (speech_) speech_->push(frame.codes);
  return std::span<const int32_t>(at_.piece_codes).last(frame.codes.size());
}

std::optional<std::span<const int32_t>> Session::step() {
  begin_step();
  return working([&]() -> std::optional<std::span<const int32_t>> {
    while (wants_frame()) {
      const uint64_t start = now_ns();
      if (const auto codes = take(decoder_.step(cancel_), start)) return codes;
    }
    return std::nullopt;
  });
}

void Session::step_together(std::span<Turn> turns) {
  const auto attempt = [](Turn& turn, auto&& body) {
    try {
      body(*turn.session);
    } catch (...) {
      turn.error = std::current_exception();
    }
  };
  for (Turn& turn : turns) attempt(turn, [](Session& session) { session.begin_step(); });
  std::vector<Turn*> due;
  for (Turn& turn : turns) due.push_back(&turn);
  std::vector<lm::Decoder::Turn> steps;
  for (;;) {  // once, and again for those whose piece ended
    std::erase_if(due, [&](Turn* turn) {
      if (turn->error || turn->codes) return true;
      bool wants = false;
      attempt(*turn, [&](Session& session) {
        wants = session.working([&] { return session.wants_frame(); });
      });
      return !wants;
    });
    if (due.empty()) return;
    steps.clear();
    for (const Turn* turn : due)
      steps.push_back({&turn->session->decoder_, &turn->session->cancel_});
    const uint64_t start = now_ns();
    lm::Decoder::step_together(steps);
    for (size_t i = 0; i < due.size(); ++i) {
      attempt(*due[i], [&](Session& session) {
        due[i]->codes = session.working([&] {
          if (steps[i].error) std::rethrow_exception(steps[i].error);
          return session.take(steps[i].frame, start);
        });
      });
    }
  }
}

// The reason that matters most to the caller stands: a cut piece is not hidden by a whole one.
void Session::finish_piece(Finish reason) {
  at_.stats.finish = std::max(at_.stats.finish, reason);
  at_.stats.text_done = at_.pieces[at_.piece].text_end;
  ++at_.stats.pieces_done;
  if (!at_.from_tokens) conversation_.keep(at_.pieces[at_.piece].text, at_.piece_codes);
  if (++at_.piece < at_.pieces.size()) {
    next_piece();
    return;
  }
  at_.phase = Phase::kEnded;
  if (speech_) speech_->finish();
}

void Session::next_piece() {
  const Piece& piece = at_.pieces[at_.piece];
  text::Columns prompt = conversation_.with_piece(piece.text);
  const int64_t wanted = std::max<int64_t>(sampling_.max_frames, kFramesForAnyText);
  if (static_cast<int64_t>(prompt.count()) + wanted > capacity_limit_) {
    // The earlier turns no longer fit beside this one: the voices stay, the turns go.
    conversation_.forget_turns();
    prompt = conversation_.with_piece(piece.text);
  }
  begin_piece(prompt, piece, lm::Reuse::kAll);
}

}  // namespace remora::engine
