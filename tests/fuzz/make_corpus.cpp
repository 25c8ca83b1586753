// Writes the corpus: small files of every kind that the targets read, from tests/data and from
// code. usage: fuzz_make_corpus FOLDER
#include <sndfile.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/cancel.h"
#include "engine/session.h"
#include "engine/voice_file.h"
#include "fuzz.h"
#include "io/audio_file.h"
#include "tiny.h"

namespace {

using namespace remora;
namespace fs = std::filesystem;

const fs::path kData = REMORA_FUZZ_DATA;

std::string content(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error(Status::kIo, concat(path.string(), ": cannot be read"));
  return {std::istreambuf_iterator<char>(in), {}};
}

class Corpus {
 public:
  explicit Corpus(fs::path root) : root_(std::move(root)) {}

  void add(const std::string& target, const std::string& name, std::string_view bytes) const {
    fs::create_directories(root_ / target);
    std::ofstream out(root_ / target / name, std::ios::binary);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!out) throw Error(Status::kIo, concat(target, "/", name, ": cannot be written"));
  }
  void add(const std::string& target, const std::string& name,
           const std::vector<std::byte>& bytes) const {
    add(target, name, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  void add_each(const std::string& target, const std::vector<std::string>& inputs) const {
    for (size_t i = 0; i < inputs.size(); ++i) add(target, concat("made_", i), inputs[i]);
  }
  fs::path path(const std::string& target, const std::string& name) const {
    fs::create_directories(root_ / target);
    return root_ / target / name;
  }

 private:
  fs::path root_;
};

std::string little64(uint64_t value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

void add_safetensors(const Corpus& corpus) {
  for (const std::string name : {"weightnorm", "rope"}) {
    corpus.add("safetensors", name, content(kData / "codec" / (name + ".safetensors")));
  }
  const std::vector<std::pair<std::string, size_t>> headers = {
      {R"({"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}})",
       24},
      {R"({"a":{"dtype":"BF16","shape":[],"data_offsets":[0,2]},)"
       R"("b":{"dtype":"I64","shape":[0,7],"data_offsets":[2,2]}})",
       2},
      {R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"a":{"dtype":"BOOL","shape":[4],)"
       R"("data_offsets":[4,8]}})",
       8},
      {R"({"\u0000é":{"dtype":"F16","shape":[9223372036854775807,2],"data_offsets":[0,1e3]}})", 0}};
  std::vector<std::string> files;
  for (const auto& [header, bytes] : headers) {
    files.push_back(little64(header.size()) + header + std::string(bytes, '\1'));
  }
  corpus.add_each("safetensors", files);
}

void add_pth(const Corpus& corpus) {
  for (const auto& entry : fs::directory_iterator(kData / "pth")) {
    corpus.add("pth", entry.path().filename().string(), content(entry.path()));
  }
  for (const std::string name : {"wrapped_mini_dict.pth", "wrapped_mini_ordered.pth"}) {
    corpus.add("pth", name, content(kData / "codec" / name));
  }
}

void add_config(const Corpus& corpus) {
  for (const std::string model : {"s2pro", "s1mini", "s1proj"}) {
    corpus.add("config", model,
               concat("0", content(kData / "lm" / (model + "_tiny") / "config.json")));
  }
  corpus.add("config", "codec", concat("1", content(kData / "codec/config.json")));
  corpus.add("config", "index",
             concat("2", content(kData / "lm/s2pro_tiny/model.safetensors.index.json")));
  corpus.add_each("config", {R"(2{"metadata":{},"weight_map":{"a":"a.safetensors"}})",
                             R"(2{"weight_map":{"a":"../a.safetensors","b":"b"}})",
                             R"(0{"model_type":"dual_ar","dim":1e300,"n_head":-0})", "1{}",
                             "1[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["});
}

// A tokenizer.json with few words, so that most of it is what is not a word.
std::string small_tokenizer() {
  auto json = nlohmann::json::parse(content(kData / "lm/s2pro_tiny/tokenizer.json"));
  auto& merges = json["model"]["merges"];
  while (merges.size() > 8) merges.erase(merges.size() - 1);
  return json.dump();
}

void add_tokenizer(const Corpus& corpus) {
  corpus.add("tokenizer", "json_small", concat("0", small_tokenizer()));
  corpus.add("tokenizer", "json_whole",
             concat("0", content(kData / "lm/s2pro_tiny/tokenizer.json")));
  const fs::path s1 = kData / "lm/s1proj_tiny";
  corpus.add("tokenizer", "tiktoken",
             concat("1", content(s1 / "special_tokens.json"), "\n--\n",
                    content(s1 / "tokenizer.tiktoken")));
  corpus.add_each("tokenizer", {"1{}\n--\nIQ== 0\nIg== 1\n", "1{\"a\":0}\n--\n= 0\n\n!! 1\n"});
}

void add_pattern(const Corpus& corpus) {
  const std::string text =
      "Hello it's  1234 w\u00f6rld\u3002\n\n [whisper] aaaaaaaaaaaaaaaa!? \u00e9\n";
  const auto json = nlohmann::json::parse(content(kData / "lm/s2pro_tiny/tokenizer.json"));
  const std::string own =
      json["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"].get<std::string>();
  std::vector<std::string> inputs;
  for (const std::string& regex :
       {own, std::string(R"((a+)+(a+)+$|.)"), std::string(R"(\s+(?!\S)|\s+|\p{L}{2,5}?)"),
        std::string(R"((?i:'s|'t)|[^\r\n\p{L}]?\p{L}+|x*)"),
        std::string(R"((?<=l)o|(?=x)|\b|^.|\X)"), std::string(R"((?>a*)b|(?(?=a)aa|.)|(a)\1)"),
        std::string(R"((?R)?a|(?1)(b))"), std::string("[")}) {
    inputs.push_back(regex + "\n" + text);
  }
  corpus.add_each("pattern", inputs);
}

void add_text(const Corpus& corpus) {
  const auto cases = nlohmann::json::parse(content(kData / "lm/tokenizer_cases.json"));
  std::vector<std::string> inputs;
  char options = 0;
  for (const auto& item : cases["strings"]) {
    inputs.push_back(concat(std::string_view(&options, 1), item["text"].get<std::string>()));
    options = static_cast<char>((options + 11) % 64);
  }
  for (const std::string own :
       {"<|speaker:0|> Hi. [laughs]<|speaker:1|>Yo [<|speaker:2|>a] b. <|im_end|><|semantic:5|>",
        "Dr. No met e.g. J. Doe at 14:05, paid 1,250.50 (see https://a.b/c?d=e, x@y.org). [a [b] "
        "c]",
        "\xEF\xBB\xBF\r\n\r\none\r\n\r\ntwo\tthree\u200b\u00ad \u3000 four\u3002 <speaker:1> "
        "\xff\xc3"}) {
    for (const char bits : {0, 5, 12, 31, 44, 63})
      inputs.push_back(concat(std::string_view(&bits, 1), own));
  }
  corpus.add_each("text", inputs);
}

std::shared_ptr<const engine::Voice> voice_of(const std::shared_ptr<const engine::Model>& model,
                                              int32_t frames) {
  std::vector<int32_t> codes;
  for (int32_t i = 0; i < model->n_codebooks() * frames; ++i) codes.push_back(i * 7 % 100);
  return engine::Voice::from_codes(*model, codes, frames, "What was said.");
}

void add_voice(const Corpus& corpus) {
  const auto model = fuzz::tiny_model("s2pro_tiny", false, true);
  for (const int32_t frames : {1, 5, 40}) {
    corpus.add("voice", concat("frames_", frames), engine::save_voice(*voice_of(model, frames)));
  }
}

// States at several points of a short turn.
void add_session(const Corpus& corpus, bool with_codec) {
  const auto model = fuzz::tiny_model("s2pro_tiny", with_codec);
  engine::Session session(model, {.decoder = {.threads = 1}, .chunk_first = 2});
  const std::string mark = with_codec ? "1" : "0";
  const auto add = [&](const std::string& when) {
    const std::vector<std::byte> state = session.save();
    corpus.add("session", when + mark,
               mark + std::string(reinterpret_cast<const char*>(state.data()), state.size()));
  };
  add("fresh_");
  engine::Sampling sampling;
  sampling.draw.repetition_penalty = 0;
  sampling.max_frames = 4;
  session.set_sampling(sampling);
  engine::Request request;
  request.text = "Hi. You.";
  request.script.split_bytes = 4;
  request.voices = {voice_of(model, 2)};
  session.prefill(request);
  add("prompt_");
  for (int i = 0; i < 3; ++i) session.step();
  std::vector<float> pcm(100);
  bool over = false;
  if (with_codec) session.read_pcm(pcm, over);
  add("middle_");
  while (session.step()) continue;
  add("end_");
}

constexpr int32_t kRate = 16000;

std::vector<float> tone(int32_t channels) {
  std::vector<float> samples;
  for (int i = 0; i < kRate / 4; ++i) {
    const float value = 0.5F * std::sin(0.17F * static_cast<float>(i));
    samples.insert(samples.end(), static_cast<size_t>(channels), value);
  }
  return samples;
}

// What this build of libsndfile cannot write is left out.
void by_libsndfile(const Corpus& corpus, const std::string& name, int format, int32_t channels) {
  SF_INFO info{};
  info.samplerate = kRate;
  info.channels = channels;
  info.format = format;
  const fs::path path = corpus.path("sound", name);
  SNDFILE* file = sf_open(path.c_str(), SFM_WRITE, &info);
  if (file == nullptr) {
    fs::remove(path);
    return;
  }
  const std::vector<float> samples = tone(channels);
  sf_writef_float(file, samples.data(), static_cast<sf_count_t>(samples.size()) / channels);
  sf_close(file);
}

void add_sound(const Corpus& corpus) {
  by_libsndfile(corpus, "pcm16", SF_FORMAT_WAV | SF_FORMAT_PCM_16, 1);
  by_libsndfile(corpus, "pcm24_stereo", SF_FORMAT_WAVEX | SF_FORMAT_PCM_24, 2);
  by_libsndfile(corpus, "float", SF_FORMAT_WAV | SF_FORMAT_FLOAT, 1);
  by_libsndfile(corpus, "ulaw", SF_FORMAT_WAV | SF_FORMAT_ULAW, 1);
  by_libsndfile(corpus, "ima", SF_FORMAT_WAV | SF_FORMAT_IMA_ADPCM, 1);
  by_libsndfile(corpus, "flac", SF_FORMAT_FLAC | SF_FORMAT_PCM_16, 2);
  by_libsndfile(corpus, "vorbis", SF_FORMAT_OGG | SF_FORMAT_VORBIS, 1);
  by_libsndfile(corpus, "opus", SF_FORMAT_OGG | SF_FORMAT_OPUS, 1);
  by_libsndfile(corpus, "mp3", SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III, 1);
  by_libsndfile(corpus, "aiff", SF_FORMAT_AIFF | SF_FORMAT_PCM_16, 1);
  by_libsndfile(corpus, "au", SF_FORMAT_AU | SF_FORMAT_PCM_16, 1);
  by_libsndfile(corpus, "rf64", SF_FORMAT_RF64 | SF_FORMAT_PCM_16, 1);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: fuzz_make_corpus FOLDER\n";
    return 2;
  }
  try {
    const Corpus corpus(argv[1]);
    add_safetensors(corpus);
    add_pth(corpus);
    add_config(corpus);
    add_tokenizer(corpus);
    add_pattern(corpus);
    add_text(corpus);
    add_voice(corpus);
    for (const bool with_codec : {false, true}) add_session(corpus, with_codec);
    add_sound(corpus);
  } catch (const Error& error) {
    std::cerr << error.text() << "\n";
    return 1;
  }
  return 0;
}
