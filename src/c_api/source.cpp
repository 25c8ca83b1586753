#include <functional>
#include <memory>
#include <utility>

#include "c_api/buffers.h"
#include "c_api/enums.h"
#include "c_api/guard.h"
#include "c_api/handles.h"
#include "c_api/params.h"

using remora::c_api::guard;
using remora::c_api::required;
namespace capi = remora::c_api;

remora_status remora_source_create(remora_source** out) {
  return guard([&] {
    required(out, "out") = nullptr;
    *out = capi::make_handle<remora_source>(std::make_shared<remora::io::SourceSet>());
  });
}

remora_status remora_source_add_dir(remora_source* source, const char* utf8_dir) {
  return guard([&] {
    required(source, "source").files->add_dir(&required(utf8_dir, "utf8_dir"));
  });
}

remora_status remora_source_add_codec_dir(remora_source* source, const char* utf8_dir) {
  return guard([&] {
    auto files = remora::io::open_directory(&required(utf8_dir, "utf8_dir"));
    if (!files->contains("codec.safetensors") && !files->contains("codec.pth")) {
      throw remora::Error(remora::Status::kIo,
                          remora::concat(files->describe(), ": has no codec.safetensors or codec.pth"));
    }
    required(source, "source").codec_files = std::move(files);
  });
}

remora_status remora_source_add_path(remora_source* source, const char* name,
                                     const char* utf8_path) {
  return guard([&] {
    required(source, "source")
        .files->add_path(&required(name, "name"), &required(utf8_path, "utf8_path"));
  });
}

remora_status remora_source_add_memory(remora_source* source, const char* name, const void* data,
                                       size_t len, remora_release_fn release, void* user) {
  // Built first: the promise to call `release` holds for every failure below.
  std::function<void()> give_back;
  const remora_status built = guard([&] {
    if (release != nullptr) give_back = [=] { release(user, data, len); };
  });
  if (built != REMORA_OK) return built;
  return guard([&] {
    std::shared_ptr<void> until_taken(nullptr, [&](void*) {
      if (give_back) give_back();
    });
    remora_source& object = required(source, "source");
    required(name, "name");
    if (len > 0) required(static_cast<const char*>(data), "data");
    auto taken = std::exchange(give_back, nullptr);
    object.files->add_memory(name, data, len, std::move(taken));
  });
}

remora_status remora_source_set_reader(remora_source* source, const remora_reader* reader) {
  return guard([&] {
    const auto from = capi::read_struct(&required(reader, "reader"), remora_reader{}, "reader");
    capi::check_flags(from.flags, 0, "reader.flags");
    required(from.open, "reader.open");
    required(from.read_at, "reader.read_at");
    required(from.close, "reader.close");
    remora::io::ReaderCallbacks callbacks;
    callbacks.open =
        [from](const std::string& name) -> std::optional<remora::io::ReaderCallbacks::Opened> {
      remora::io::ReaderCallbacks::Opened opened;
      const remora_status status = from.open(from.user, name.c_str(), &opened.file, &opened.size);
      if (status == REMORA_OK) return opened;
      if (status == REMORA_E_IO) return std::nullopt;
      throw remora::Error(remora::Status::kCallback,
                          remora::concat(name, ": the reader's open returned ", status));
    };
    callbacks.read_at = [from](void* file, uint64_t offset, void* dst, uint64_t n) {
      return from.read_at(from.user, file, offset, dst, n);
    };
    callbacks.close = [from](void* file) { from.close(from.user, file); };
    required(source, "source").files->set_reader(std::move(callbacks));
  });
}

void remora_source_destroy(remora_source* source) { capi::drop_handle(source); }
