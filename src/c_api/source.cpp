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
  return guard([&] { required(source, "source").files->add_dir(&required(utf8_dir, "utf8_dir")); });
}

remora_status remora_source_add_codec_dir(remora_source* source, const char* utf8_dir) {
  return guard(
      [&] { required(source, "source").files->add_codec_dir(&required(utf8_dir, "utf8_dir")); });
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
  bool taken = false;
  const remora_status status = guard([&] {
    remora_source& object = required(source, "source");
    required(name, "name");
    if (len > 0) required(static_cast<const char*>(data), "data");
    taken = true;  // add_memory keeps the promise to release from here on
    object.files->add_memory(name, data, len, {release, user});
  });
  if (!taken && release != nullptr) release(user, data, len);
  return status;
}

remora_status remora_source_add_fd(remora_source* source, const char* name, int32_t fd,
                                   uint64_t offset, uint64_t len) {
  return guard(
      [&] { required(source, "source").files->add_fd(&required(name, "name"), fd, offset, len); });
}

remora_status remora_source_set_reader(remora_source* source, const remora_reader* reader) {
  return guard([&] {
    const auto from = capi::read_struct(&required(reader, "reader"), remora_reader{}, "reader");
    capi::check_flags(from.flags, 0, "reader.flags");
    required(source, "source").files->set_reader({from.user, from.open, from.read_at, from.close});
  });
}

void remora_source_destroy(remora_source* source) { capi::drop_handle(source, "source"); }
