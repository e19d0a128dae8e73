// The module: converts arguments, calls the core, and holds nothing but the
// environment's data. Every function that JavaScript calls per id is a plain
// Node-API callback bound to that data, without arguments or result (calls.h).

#include <napi.h>

#include <string>
#include <system_error>

#include "calls.h"
#include "environment.h"

namespace graupel {
namespace {

using Call = void (*)(Environment&);

template <Call call>
napi_value Invoke(napi_env env, napi_callback_info info) {
  void* data;
  napi_get_cb_info(env, info, nullptr, nullptr, nullptr, &data);
  call(*static_cast<Environment*>(data));
  return nullptr;
}

uint64_t BigIntOption(const Napi::Object& options, const char* name) {
  bool lossless;
  return options.Get(name).As<Napi::BigInt>().Uint64Value(&lossless);
}

int64_t NumberOption(const Napi::Object& options, const char* name) {
  return options.Get(name).As<Napi::Number>().Int64Value();
}

// JavaScript has forgotten the generator whose handle is in `hint`.
void Forget(napi_env, void* data, void* hint) {
  auto* environment = static_cast<Environment*>(data);
  environment->Release(static_cast<uint32_t>(reinterpret_cast<uintptr_t>(hint)));
  environment->Drop();
}

Layout LayoutOption(const Napi::Object& options) {
  Layout layout;
  layout.epoch_ms = NumberOption(options, "epochMs");
  layout.tick_ms = NumberOption(options, "tickMs");
  layout.max_tick = BigIntOption(options, "maxTick");
  layout.node_bits = BigIntOption(options, "nodeBits");
  layout.sequence_bits = static_cast<uint8_t>(NumberOption(options, "sequenceBits"));
  layout.sequence_shift = static_cast<uint8_t>(NumberOption(options, "sequenceShift"));
  layout.timestamp_shift =
      static_cast<uint8_t>(NumberOption(options, "timestampShift"));
  return layout;
}

// open(options): keeps a generator for as long as the result is alive, and
// leaves its number in the mailbox; undefined where its state cannot be had. The
// facade has checked everything.
Napi::Value Open(const Napi::CallbackInfo& info) {
  auto& environment = *static_cast<Environment*>(info.Data());
  const auto options = info[0].As<Napi::Object>();
  const auto text = [&](const char* name) {
    return options.Get(name).As<Napi::String>().Utf8Value();
  };
  HomeOptions home;
  home.layout = LayoutOption(options);
  home.identity = {text("key"), text("description")};
  home.place = static_cast<Place>(NumberOption(options, "place"));
  home.path = text("path");
  home.window_ticks = static_cast<uint64_t>(NumberOption(options, "windowTicks"));
  home.layout.ToTick(static_cast<int64_t>(environment.mailbox().now), &home.now_tick);
  Seat* const seat =
      environment.SeatFor(home, options.Get("history").As<Napi::Boolean>());
  if (seat == nullptr) return info.Env().Undefined();
  const SequenceStart start(
      static_cast<SequenceStart::Mode>(NumberOption(options, "sequenceStart")),
      static_cast<uint32_t>(NumberOption(options, "seed")));
  const uint32_t handle = environment.Add(
      seat, start, static_cast<ClockKind>(NumberOption(options, "clock")));
  environment.mailbox().handle = handle;
  environment.Retain();
  napi_value owner;
  napi_create_external(info.Env(), &environment, Forget,
                       reinterpret_cast<void*>(static_cast<uintptr_t>(handle)), &owner);
  return Napi::Value(info.Env(), owner);
}

// fault(): why the last call could not have a state.
Napi::Value FaultOf(const Napi::CallbackInfo& info) {
  const Fault& fault = static_cast<Environment*>(info.Data())->fault();
  Napi::Object result = Napi::Object::New(info.Env());
  result.Set("kind", static_cast<uint32_t>(fault.kind));
  result.Set("error", fault.error);
  result.Set("reason", std::system_category().message(fault.error));
  result.Set("call", fault.call);
  result.Set("path", fault.path);
  result.Set("detail", fault.detail);
  result.Set("isPage", fault.is_page);
  return result;
}

// page(): the path of the page in which the generator counts; undefined where that is
// in the process.
Napi::Value PageOf(const Napi::CallbackInfo& info) {
  const Handle* const handle = static_cast<Environment*>(info.Data())->Current();
  if (handle == nullptr || handle->seat->home.page == nullptr) {
    return info.Env().Undefined();
  }
  return Napi::String::New(info.Env(), handle->seat->home.page->path());
}

// raise(slot): nothing below the slot is issued on the generator's state any more.
// False where there is a fault.
Napi::Value Raise(const Napi::CallbackInfo& info) {
  bool lossless;
  const bool is_raised =
      RaiseFloorOf(*static_cast<Environment*>(info.Data()),
                   info[0].As<Napi::BigInt>().Uint64Value(&lossless));
  return Napi::Boolean::New(info.Env(), is_raised);
}

void Export(Napi::Env env, Napi::Object exports, const char* name, napi_callback call,
            Environment* environment) {
  napi_value function;
  napi_create_function(env, name, NAPI_AUTO_LENGTH, call, environment, &function);
  exports.Set(name, Napi::Value(env, function));
}

Napi::Object Init(Napi::Env env, Napi::Object exports) {
  auto* environment = new Environment(env, exports);
  napi_set_instance_data(
      env, environment,
      [](napi_env, void* data, void*) { static_cast<Environment*>(data)->Drop(); },
      nullptr);
  Export(env, exports, "next", Invoke<Next>, environment);
  Export(env, exports, "observe", Invoke<Observe>, environment);
  Export(env, exports, "grant", Invoke<Grant>, environment);
  Export(env, exports, "grantUnused", Invoke<GrantUnused>, environment);
  Export(env, exports, "close", Invoke<Close>, environment);
  Export(env, exports, "leave", Invoke<Leave>, environment);
  Export(env, exports, "awaitCeiling", Invoke<AwaitCeiling>, environment);
  Export(env, exports, "fill", Fill, environment);
  exports.Set("fault", Napi::Function::New<FaultOf>(env, "fault", environment));
  exports.Set("page", Napi::Function::New<PageOf>(env, "page", environment));
  exports.Set("open", Napi::Function::New<Open>(env, "open", environment));
  exports.Set("raise", Napi::Function::New<Raise>(env, "raise", environment));
  return exports;
}

NODE_API_MODULE(graupel, Init)

}  // namespace
}  // namespace graupel
