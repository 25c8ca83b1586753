// Several sessions in one call.
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "base/concat.h"
#include "c_api/frames.h"
#include "c_api/guard.h"
#include "c_api/handles.h"

using remora::c_api::guard;
using remora::c_api::required;
using remora::c_api::SessionCell;
namespace capi = remora::c_api;
namespace engine = remora::engine;

namespace {

static_assert(REMORA_STEP_SESSIONS_MAX == engine::Session::kMaxTogether);

using Cells = std::vector<std::shared_ptr<SessionCell>>;

// Throws Error{kInvalidArgument} unless these can be stepped together.
Cells cells_of(std::span<remora_session* const> sessions) {
  if (sessions.empty() || sessions.size() > engine::Session::kMaxTogether) {
    throw remora::Error(remora::Status::kInvalidArgument,
                        remora::concat("n_sessions: is ", sessions.size(), ", 1 to ",
                                       engine::Session::kMaxTogether, " is needed"));
  }
  Cells cells;
  for (size_t i = 0; i < sessions.size(); ++i) {
    const std::string name = remora::concat("sessions[", i, "]");
    cells.push_back(required(sessions[i], name).cell);
    for (size_t other = 0; other < i; ++other) {
      if (cells[other] != cells[i]) continue;
      throw remora::Error(remora::Status::kInvalidArgument,
                          remora::concat(name, ": is sessions[", other, "] again"));
    }
    if (&cells[i]->session->model() != &cells[0]->session->model()) {
      throw remora::Error(
          remora::Status::kInvalidArgument,
          remora::concat(name,
                         ": is of another model than sessions[0]; they share one reading of "
                         "the weights"));
    }
  }
  return cells;
}

// What became of one session's turn, its error stored as the thread's last.
remora_status outcome(const engine::Session::Turn& turn, remora_frame* frame) {
  if (turn.error) {
    try {
      std::rethrow_exception(turn.error);
    } catch (...) {
      return capi::store_current_exception();
    }
  }
  if (!turn.codes) return REMORA_END;
  capi::give_frame(*turn.codes, *turn.session, frame);
  return REMORA_OK;
}

}  // namespace

remora_status remora_sessions_step(remora_session* const* sessions, size_t n_sessions,
                                   remora_frame* const* frames, remora_status* statuses) {
  return guard([&] {
    const Cells cells = cells_of({&required(sessions, "sessions"), n_sessions});
    required(statuses, "statuses");
    std::deque<engine::UseGate::Visit> visits;
    std::deque<capi::ActiveSession> active;
    std::vector<engine::Session::Turn> turns;
    const auto frame_of = [&](size_t i) { return frames == nullptr ? nullptr : frames[i]; };
    for (size_t i = 0; i < cells.size(); ++i) {
      visits.emplace_back(cells[i]->gate);
      active.emplace_back(*cells[i]->session);
      capi::check_frame(frame_of(i), *cells[i]->session);
      turns.push_back({cells[i]->session.get()});
    }
    engine::Session::step_together(turns);
    for (size_t i = 0; i < turns.size(); ++i) statuses[i] = outcome(turns[i], frame_of(i));
  });
}
