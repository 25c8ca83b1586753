// Steps of several sessions over one read of the weights.
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <array>
#include <utility>

#include "lm/cpu_plan.h"
#include "lm/cpu_runner.h"
#include "lm/decoder.h"
#include "lm/decoder_state.h"
#include "lm/table.h"

namespace remora::lm {

std::vector<int32_t> column_of(const Frame& frame) {
  std::vector<int32_t> column{frame.main_token};
  column.insert(column.end(), frame.codes.begin(), frame.codes.end());
  return column;
}

// The runners that a group of sessions goes through, in the pool of the session that leads it.
class Decoder::Batch {
 public:
  // Both are borrowed. The fast model's first two positions go through together.
  Batch(const LanguageModel& model, nn::ThreadPool& pool)
      : model_(model),
        slow_(*model.slow_plan(), pool, kMaxTogether),
        fast_(*model.fast_plan(), pool, 2 * kMaxTogether) {}

  // A session that takes part, and what it has drawn so far.
  struct Member {
    State* state;
    Turn* turn;
    std::vector<int32_t> column{};  // of the whole frame
  };
  // Those that fail drop out of `members`, with the error in their turn.
  void finish_steps(std::vector<Member>& members);

 private:
  void begin_codes(std::vector<Member>& members);
  void next_codes(std::vector<Member>& members, int64_t codebook);
  void draw(std::vector<Member>& members, int64_t codebook);
  void run_slow(std::vector<Member>& members);

  const LanguageModel& model_;
  CpuRunner slow_, fast_;
  std::vector<Lane> lanes_;
};

namespace {

// body(member) for each; a member whose call throws drops out.
template <typename Member, typename Body>
void for_each(std::vector<Member>& members, Body&& body) {
  std::erase_if(members, [&](Member& member) {
    try {
      body(member);
      return false;
    } catch (...) {
      member.turn->error = std::current_exception();
      return true;
    }
  });
}

}  // namespace

void Decoder::Batch::begin_codes(std::vector<Member>& members) {
  lanes_.clear();
  for (const Member& member : members) {
    const at::Tensor hidden = member.state->pending.hidden.contiguous();
    std::copy_n(hidden.const_data_ptr<float>(), hidden.numel(), fast_.input(lanes_.size()).begin());
    lanes_.push_back(member.state->fast.lane(0));
    lanes_.back().output = false;
    read_row(model_.fast().parts().embeddings, member.turn->frame.codes.back(),
             fast_.input(lanes_.size()));
    lanes_.push_back(member.state->fast.lane(1));
  }
  fast_.run(lanes_);
}

void Decoder::Batch::next_codes(std::vector<Member>& members, int64_t codebook) {
  lanes_.clear();
  for (const Member& member : members) {
    read_row(model_.fast().parts().embeddings, member.turn->frame.codes.back(),
             fast_.input(lanes_.size()));
    lanes_.push_back(member.state->fast.lane(codebook));
  }
  fast_.run(lanes_);
}

void Decoder::Batch::draw(std::vector<Member>& members, int64_t codebook) {
  size_t output = 0;
  for_each(members, [&](Member& member) {
    const at::Tensor logits = tensor_over(fast_.logits(output++));
    member.turn->frame.codes.push_back(member.state->draw_code(codebook, logits));
    member.turn->cancel->check("language model");
  });
}

void Decoder::Batch::run_slow(std::vector<Member>& members) {
  lanes_.clear();
  for (Member& member : members) {
    member.column = column_of(member.turn->frame);
    model_.slow().embed_column(member.column, slow_.input(lanes_.size()));
    lanes_.push_back(member.state->slow.lane(member.state->kv_len()));
  }
  slow_.run(lanes_);
  size_t output = 0;
  for_each(members, [&](Member& member) {
    const size_t own = output++;
    member.state->finish_step(std::move(member.column),
                              member.state->slow.adopt(slow_.logits(own), slow_.hidden(own)));
  });
}

void Decoder::Batch::finish_steps(std::vector<Member>& members) {
  for (int64_t codebook = 1; codebook < model_.config().num_codebooks && !members.empty();
       ++codebook) {
    codebook == 1 ? begin_codes(members) : next_codes(members, codebook);
    draw(members, codebook);
  }
  if (!members.empty()) run_slow(members);
}

void Decoder::step_together(std::span<Turn> turns) {
  const c10::InferenceMode inference;
  std::vector<Batch::Member> members;
  for (Turn& turn : turns) members.push_back({turn.decoder->state_.get(), &turn});
  const auto alone = [](const State& s) {
    return !one_go_applies(*s.model, s.options.kv_mode, s.options.sdpa);
  };
  for_each(members, [&](Batch::Member& member) {
    member.turn->frame = alone(*member.state) ? member.turn->decoder->step(*member.turn->cancel)
                                              : member.state->begin_step(*member.turn->cancel);
  });
  std::erase_if(members, [&](const Batch::Member& member) {
    return member.turn->frame.is_end || alone(*member.state);
  });
  if (members.empty()) return;
  try {
    State& leader = *members.front().state;
    if (!leader.batch) leader.batch = std::make_shared<Batch>(*leader.model, leader.pool);
    leader.batch->finish_steps(members);
  } catch (...) {  // memory gave way: nobody's step is whole
    for (const Batch::Member& member : members) member.turn->error = std::current_exception();
  }
}

}  // namespace remora::lm
