#include "c_api/buffers.h"
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

void remora_source_destroy(remora_source* source) { capi::drop_handle(source); }
