// The safetensors container: 8 bytes header length (little-endian), a JSON header, raw tensors.
#include <c10/core/ScalarType.h>

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/concat.h"
#include "base/error.h"
#include "io/file_kind.h"
#include "io/quote.h"
#include "io/state_dict.h"

namespace remora::io {
namespace {

using nlohmann::json;

// The reference implementation's own limit.
constexpr uint64_t kMaxHeader = 100'000'000;
constexpr size_t kMaxDims = 16;

constexpr std::array<std::pair<std::string_view, at::ScalarType>, 10> kTypes{{
    {"F64", at::kDouble},
    {"F32", at::kFloat},
    {"F16", at::kHalf},
    {"BF16", at::kBFloat16},
    {"I64", at::kLong},
    {"I32", at::kInt},
    {"I16", at::kShort},
    {"I8", at::kChar},
    {"U8", at::kByte},
    {"BOOL", at::kBool},
}};

std::optional<at::ScalarType> parse_dtype(std::string_view name) {
  for (const auto& [text, type] : kTypes) {
    if (text == name) return type;
  }
  return std::nullopt;
}

// Takes the header as the parser walks it, one tensor at a time: no tree is built, so a header of
// brackets costs nothing, and a name that comes twice is seen.
class HeaderReader final : public json::json_sax_t {
 public:
  HeaderReader(std::shared_ptr<const ByteSource> source, uint64_t data_start, StateDict& out)
      : source_(std::move(source)), data_start_(data_start), out_(out) {}

  bool null() override { return scalar("null"); }
  bool boolean(bool) override { return scalar("a boolean"); }
  bool number_float(double, const std::string&) override { return scalar("a fraction"); }
  bool number_integer(int64_t value) override { return scalar(concat(value)); }
  bool number_unsigned(uint64_t value) override {
    if (!in_array_) return scalar(concat(value));
    if (field_ == "shape" && shape_->size() < kMaxDims && value <= INT64_MAX) {
      shape_->push_back(static_cast<int64_t>(value));
    } else if (field_ == "data_offsets" && offsets_->size() < 2) {
      offsets_->push_back(value);
    } else {
      fail_field();
    }
    return true;
  }
  bool string(std::string& value) override {
    if (depth_ == 2 && !in_metadata_ && field_ == "dtype") {
      if (dtype_) fail_tensor("has two dtypes");
      dtype_ = value;
      return true;
    }
    if (depth_ == 2 && in_metadata_ && !in_array_) out_.describe(field_, value);
    return scalar("text");
  }
  bool binary(json::binary_t&) override { return false; }

  bool start_object(size_t) override {
    if (in_array_ || depth_ >= 2) fail_field();
    ++depth_;
    dtype_.reset();
    shape_.reset();
    offsets_.reset();
    return true;
  }
  bool key(std::string& name) override {
    if (depth_ == 1) {
      name_ = name;
      in_metadata_ = name == "__metadata__";
    } else {
      field_ = name;
    }
    return true;
  }
  bool end_object() override {
    if (--depth_ == 1 && !in_metadata_) out_.insert(name_, tensor());
    return true;
  }
  bool start_array(size_t) override {
    if (depth_ == 0) fail("the header is not a JSON object");
    const bool shape = field_ == "shape";
    if (depth_ != 2 || in_array_ || in_metadata_ || (!shape && field_ != "data_offsets") ||
        (shape ? shape_.has_value() : offsets_.has_value())) {
      fail_field();
    }
    in_array_ = true;
    shape ? void(shape_.emplace()) : void(offsets_.emplace());
    return true;
  }
  bool end_array() override {
    in_array_ = false;
    return true;
  }
  bool parse_error(size_t position, const std::string&, const json::exception&) override {
    fail(concat("the header is not readable as JSON at its byte ", position,
                file_kind_hint(file_kind(*source_))));
  }

 private:
  [[noreturn]] void fail(std::string_view reason) const {
    throw Error(Status::kFormat, concat(source_->name(), ": ", reason));
  }
  [[noreturn]] void fail_tensor(std::string_view reason) const {
    fail(concat("tensor ", printable(name_), " ", reason));
  }
  [[noreturn]] void fail_field() const {
    if (depth_ < 2) fail_tensor("has no description object");
    fail_tensor(concat("has an unreadable ", printable(field_, 40)));
  }

  // A value other than those a tensor needs: harmless beside them, wrong in their place.
  bool scalar(std::string_view what) const {
    if (depth_ == 0) fail(concat("the header is ", what, ", not a JSON object"));
    const bool needed = field_ == "dtype" || field_ == "shape" || field_ == "data_offsets";
    if (depth_ == 1 || in_array_ || (needed && !in_metadata_)) fail_field();
    return true;
  }

  StoredTensor tensor() const {
    if (!dtype_) fail_tensor("has no dtype");
    if (!shape_) fail_tensor("has no shape");
    if (!offsets_ || offsets_->size() != 2) fail_tensor("has no readable data_offsets");
    const auto dtype = parse_dtype(*dtype_);
    if (!dtype) fail_tensor(concat("has dtype ", printable(*dtype_, 20), ", which is not read"));
    const std::optional<uint64_t> count = element_count(*shape_);
    if (!count) fail_tensor(concat("has an impossible shape ", shape_text(*shape_)));

    const uint64_t bytes = *count * c10::elementSize(*dtype);
    const uint64_t begin = (*offsets_)[0];
    const uint64_t end = (*offsets_)[1];
    const uint64_t available = source_->size() - data_start_;
    if (begin > end || end - begin != bytes) {
      fail_tensor(concat("has offsets [", begin, ",", end, "], but its shape ", shape_text(*shape_),
                         " needs ", bytes, " bytes"));
    }
    if (end > available) {
      fail_tensor(concat("ends at data byte ", end, ", but the file holds only ", available,
                         "; incomplete download?"));
    }
    return {source_, data_start_ + begin, *dtype, *shape_, {}};
  }

  std::shared_ptr<const ByteSource> source_;
  uint64_t data_start_;
  StateDict& out_;
  int depth_ = 0;  // objects around: 1 in the header, 2 in a tensor's description
  bool in_array_ = false;
  bool in_metadata_ = false;
  std::string name_;   // of the tensor
  std::string field_;  // of its description
  std::optional<std::string> dtype_;
  std::optional<std::vector<int64_t>> shape_;
  std::optional<std::vector<uint64_t>> offsets_;
};

uint64_t header_length(const ByteSource& source) {
  const auto fail = [&](std::string_view reason) {
    throw Error(Status::kFormat, concat(source.name(), ": not a safetensors file: ", reason,
                                        file_kind_hint(file_kind(source))));
  };
  if (source.size() < 8) fail(concat("only ", source.size(), " bytes; incomplete download?"));
  std::array<std::byte, 8> raw;
  source.read_at(0, raw);
  uint64_t length = 0;
  for (size_t i = raw.size(); i-- > 0;) length = length << 8 | std::to_integer<uint64_t>(raw[i]);
  if (length < 2 || length > kMaxHeader || length > source.size() - 8) {
    fail(concat("header of ", length, " bytes in a file of ", source.size()));
  }
  return length;
}

}  // namespace

void read_safetensors(std::shared_ptr<const ByteSource> source, StateDict& out) {
  const uint64_t length = header_length(*source);
  HeaderReader reader(source, 8 + length, out);
  if (const std::span<const std::byte> view = source->view(); !view.empty()) {
    const auto* text = reinterpret_cast<const char*>(view.data()) + 8;
    json::sax_parse(text, text + length, &reader);
    return;
  }
  std::string text(static_cast<size_t>(length), '\0');
  source->read_at(8, std::as_writable_bytes(std::span(text)));
  json::sax_parse(text, &reader);
}

}  // namespace remora::io
