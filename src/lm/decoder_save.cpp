// A session as bytes and back.
//
// Layout: magic, version, checksum of the rest, model fingerprint, then the fields of SavedState in
// order; tensors as raw numbers of the model's dtype whose shapes follow from the model.
#include <ATen/ops/empty.h>
#include <c10/core/InferenceMode.h>
#include <c10/core/ScalarType.h>

#include <utility>

#include "base/concat.h"
#include "base/error.h"
#include "lm/bytes.h"
#include "lm/decoder_state.h"
#include "lm/hash.h"
#include "lm/slow.h"

namespace remora::lm {
namespace {

constexpr uint32_t kMagic = 0x4d4c4d52;  // "RMLM"
constexpr uint32_t kVersion = 1;

void put_tensor(ByteWriter& out, const at::Tensor& tensor) {
  const at::Tensor host = tensor.to(at::kCPU).contiguous();
  out.put_bytes({static_cast<const std::byte*>(host.const_data_ptr()), host.nbytes()});
}

at::Tensor get_tensor(ByteReader& in, const std::vector<int64_t>& shape, at::ScalarType dtype) {
  // The sizes are the model's own, but memory is asked for only once the bytes are known to be
  // there.
  size_t bytes = c10::elementSize(dtype);
  for (const int64_t extent : shape) bytes *= static_cast<size_t>(extent);
  const auto source = in.get_bytes(bytes);
  at::Tensor out = at::empty(shape, at::TensorOptions().dtype(dtype));
  if (bytes > 0) std::memcpy(out.mutable_data_ptr(), source.data(), bytes);
  return out;
}

void put_output(ByteWriter& out, const SlowOutput& output) {
  out.put<uint8_t>(output.logits.defined() ? 1 : 0);
  if (!output.logits.defined()) return;
  put_tensor(out, output.logits);
  put_tensor(out, output.hidden);
}

SlowOutput get_output(ByteReader& in, const LanguageModel& model) {
  SlowOutput output;
  if (in.get<uint8_t>() == 0) return output;
  const auto rows = static_cast<int64_t>(model.slow().head_tokens().size());
  output.logits = get_tensor(in, {rows}, at::kFloat).to(model.device());
  output.hidden = get_tensor(in, {1, model.config().fast.dim}, at::kFloat).to(model.device());
  return output;
}

void put_sampler(ByteWriter& out, const FrameSampler::Saved& saved) {
  const SamplingParams& p = saved.params;
  out.put(p.temperature);
  out.put(p.top_p);
  out.put(p.top_k);
  out.put(p.repetition_penalty);
  out.put(p.ras_window);
  out.put<uint8_t>(p.greedy ? 1 : 0);
  for (const uint32_t word : saved.stream) out.put(word);
  out.put(saved.frames);
  out.put<uint64_t>(saved.history.size());
  for (const auto& frame : saved.history) out.put_list(std::span<const int32_t>(frame));
}

FrameSampler::Saved get_sampler(ByteReader& in, Family family) {
  FrameSampler::Saved saved;
  SamplingParams& p = saved.params;
  p.temperature = in.get<float>();
  p.top_p = in.get<float>();
  p.top_k = in.get<int32_t>();
  p.repetition_penalty = in.get<float>();
  p.ras_window = in.get<int32_t>();
  p.greedy = in.get<uint8_t>() != 0;
  try {
    validate(p, family);
  } catch (const Error& error) {
    throw Error(Status::kFormat, concat("saved session: ", error.text()));
  }
  for (uint32_t& word : saved.stream) word = in.get<uint32_t>();
  saved.frames = in.get<int64_t>();
  for (auto count = in.get<uint64_t>(); count > 0; --count) {
    saved.history.push_back(in.get_list<int32_t>());
  }
  return saved;
}

struct Layer {
  at::Tensor keys, values;  // [kv_heads, positions, head_dim]
};

struct SavedState {
  std::vector<int32_t> columns;
  int64_t prompt_columns = 0;
  int64_t exact_columns = 0;
  bool ready = false;
  bool ended = false;
  FrameSampler::Saved sampler;
  SlowOutput pending, prompt_output;
  std::vector<Layer> layers;
};

constexpr size_t kChecksumAt = 8;
constexpr size_t kBodyAt = 24;

uint64_t checksum(std::span<const std::byte> bytes) {
  Hash hash;
  hash.add_bytes(bytes.subspan(kBodyAt));
  return hash.value();
}

// The bytes behind the header, checked against it.
ByteReader open_saved(std::span<const std::byte> bytes, const LanguageModel& model) {
  ByteReader in(bytes);
  if (in.get<uint32_t>() != kMagic) {
    throw Error(Status::kFormat, "saved session: these bytes are something else");
  }
  if (const auto version = in.get<uint32_t>(); version != kVersion) {
    throw Error(Status::kFormat, concat("saved session: format version ", version,
                                        ", this library reads ", kVersion));
  }
  const auto sum = in.get<uint64_t>();
  const auto fingerprint = in.get<uint64_t>();
  if (checksum(bytes) != sum) ByteReader::fail();
  if (fingerprint != model.fingerprint()) {
    throw Error(Status::kFormat,
                "saved session: it belongs to another model or precision; load it into a session "
                "of the model and precision that saved it");
  }
  return in;
}

// Whole columns [main token, codes ...], each number inside its table.
bool are_columns(std::span<const int32_t> columns, const LmConfig& config) {
  const auto rows = static_cast<size_t>(config.column_size());
  if (columns.size() % rows != 0) return false;
  for (size_t i = 0; i < columns.size(); ++i) {
    const int64_t limit = i % rows == 0 ? config.vocab_size : config.codebook_size;
    if (columns[i] < 0 || columns[i] >= limit) return false;
  }
  return true;
}

// What every decoder keeps to. A frame is remembered for each column behind the prompt at most: the
// counter may go on from any number that passes.
bool is_possible(const SavedState& read, const LmConfig& config) {
  const int64_t length = static_cast<int64_t>(read.columns.size()) / config.column_size();
  for (const std::vector<int32_t>& frame : read.sampler.history) {
    if (!are_columns(frame, config)) return false;
  }
  return are_columns(read.columns, config) && read.prompt_columns >= 0 &&
         read.prompt_columns <= length && read.exact_columns >= 0 && read.exact_columns <= length &&
         read.sampler.frames >= 0 && read.sampler.frames <= length - read.prompt_columns &&
         (!read.ready || (length > 0 && !read.ended && read.pending.logits.defined()));
}

SavedState read_state(ByteReader& in, const LanguageModel& model, const nn::KvShape& shape) {
  const int64_t stride = model.config().column_size();
  SavedState read;
  read.columns = in.get_list<int32_t>();
  const int64_t length = static_cast<int64_t>(read.columns.size()) / stride;
  read.prompt_columns = in.get<int64_t>();
  read.exact_columns = in.get<int64_t>();
  read.ready = in.get<uint8_t>() != 0;
  read.ended = in.get<uint8_t>() != 0;
  read.sampler = get_sampler(in, model.config().family);
  read.pending = get_output(in, model);
  read.prompt_output = get_output(in, model);
  const std::vector<int64_t> rows{shape.kv_heads, length, shape.head_dim};
  for (int64_t layer = 0; layer < shape.layers; ++layer) {
    at::Tensor keys = get_tensor(in, rows, shape.dtype);
    read.layers.push_back({std::move(keys), get_tensor(in, rows, shape.dtype)});
  }
  if (!in.at_end() || !is_possible(read, model.config())) ByteReader::fail();
  return read;
}

}  // namespace

std::vector<std::byte> Decoder::save() const {
  const c10::InferenceMode inference;
  const State& s = *state_;
  ByteWriter out;
  out.put(kMagic);
  out.put(kVersion);
  out.put<uint64_t>(0);  // the checksum, once it is known
  out.put(s.model->fingerprint());
  out.put_list(std::span<const int32_t>(s.columns));
  out.put(s.prompt_columns);
  out.put(s.exact_columns);
  out.put<uint8_t>(s.ready ? 1 : 0);
  out.put<uint8_t>(s.ended ? 1 : 0);
  put_sampler(out, s.sampler.save());
  put_output(out, s.pending);
  put_output(out, s.prompt_output);
  const int64_t layers = s.kv_len() > 0 ? s.slow.kv().shape().layers : 0;
  for (int64_t layer = 0; layer < layers; ++layer) {
    put_tensor(out, s.slow.kv().keys(layer, s.kv_len()));
    put_tensor(out, s.slow.kv().values(layer, s.kv_len()));
  }
  out.patch(kChecksumAt, checksum(out.bytes()));
  return out.take();
}

void Decoder::load(std::span<const std::byte> saved, Loading loading) {
  const c10::InferenceMode inference;
  State& s = *state_;
  ByteReader in = open_saved(saved, *s.model);
  SavedState read = read_state(in, *s.model, s.slow.kv().shape());
  if (loading == Loading::kMidTurn && !read.ready) {
    throw Error(Status::kFormat, "saved session: no frame can be drawn, though it is in a turn");
  }
  const int64_t length = static_cast<int64_t>(read.columns.size()) / s.stride();
  FrameSampler sampler = s.sampler;
  if (!sampler.restore(read.sampler)) ByteReader::fail();
  if (length > 0) s.slow.kv().reserve(length);

  // Nothing below throws but for lack of memory.
  s.keep(0);
  for (size_t layer = 0; layer < read.layers.size() && length > 0; ++layer) {
    s.slow.kv().write(static_cast<int64_t>(layer), read.layers[layer].keys,
                      read.layers[layer].values, {0, length, {}});
  }
  s.sampler = std::move(sampler);
  s.columns = std::move(read.columns);
  s.prompt_columns = read.prompt_columns;
  s.exact_columns = read.exact_columns;
  s.pending = std::move(read.pending);
  s.prompt_output = std::move(read.prompt_output);
  s.ready = read.ready;
  s.ended = read.ended;
}

}  // namespace remora::lm
