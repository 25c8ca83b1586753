// What lies behind the opaque pointers: a shared reference each, so that any destroy order works.
#pragma once

#include <memory>
#include <utility>

#include "c_api/handle.h"
#include "codec/decode_stream.h"
#include "engine/model.h"
#include "engine/session.h"
#include "engine/use_gate.h"
#include "engine/voice.h"
#include "io/source_set.h"
#include "remora/remora.h"

struct remora_source : remora::c_api::Handle<remora_source> {
  std::shared_ptr<remora::io::SourceSet> files;
};

struct remora_model : remora::c_api::Handle<remora_model> {
  std::shared_ptr<const remora::engine::Model> object;
};

struct remora_voice : remora::c_api::Handle<remora_voice> {
  std::shared_ptr<const remora::engine::Voice> object;
};

namespace remora::c_api {

// Shared between the handle and the calls inside it: destroying the handle from a callback leaves
// the running call its session.
struct SessionCell {
  explicit SessionCell(std::unique_ptr<engine::Session> session) : session(std::move(session)) {}
  engine::UseGate gate;
  std::unique_ptr<engine::Session> session;
};

}  // namespace remora::c_api

struct remora_session : remora::c_api::Handle<remora_session> {
  std::shared_ptr<remora::c_api::SessionCell> cell;
};

struct remora_codec_stream : remora::c_api::Handle<remora_codec_stream> {
  std::shared_ptr<const remora::engine::Model> model;
  remora::codec::DecodeStream stream;
};
