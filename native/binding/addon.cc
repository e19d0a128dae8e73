// The module: converts arguments, calls the core, and holds nothing but the
// environment's data. Every function that JavaScript calls per id is a plain
// Node-API callback bound to that data, without arguments or result.

#include <napi.h>

#include <string>

#include "../core/process_state.h"
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

void SetStatus(Environment& environment, Status status) {
  environment.mailbox().status = static_cast<uint32_t>(status);
}

// `fresh` reads the clock whatever the counter says.
int64_t NowMs(Environment& environment, Handle& handle, bool fresh) {
  switch (handle.clock) {
    case ClockKind::kWall:
      return fresh ? environment.wall().ReadMs() : environment.wall().NowMs();
    case ClockKind::kSteady:
      return fresh ? environment.steady().ReadMs() : environment.steady().NowMs();
    case ClockKind::kInjected:
      break;
  }
  return static_cast<int64_t>(environment.mailbox().now);
}

// Sets the status and answers null unless there is a generator and the clock's
// time can be said in its layout.
Handle* CurrentAtNow(Environment& environment, uint64_t* now_tick) {
  Handle* const handle = environment.Current();
  if (handle == nullptr) {
    SetStatus(environment, Status::kClosed);
    return nullptr;
  }
  const int64_t now_ms = NowMs(environment, *handle, false);
  if (!handle->generator.layout().ToTick(now_ms, now_tick)) {
    SetStatus(environment, Status::kBeforeEpoch);
    return nullptr;
  }
  return handle;
}

void Next(Environment& environment) {
  uint64_t now_tick;
  Handle* const handle = CurrentAtNow(environment, &now_tick);
  if (handle == nullptr) return;
  SetStatus(environment, handle->generator.Next(now_tick, &environment.mailbox().id));
}

// Where the state word stands against a fresh reading of the clock.
void Observe(Environment& environment) {
  Handle* const handle = environment.Current();
  if (handle == nullptr) return SetStatus(environment, Status::kClosed);
  const Layout& layout = handle->generator.layout();
  State& state = handle->generator.state();
  Mailbox& mailbox = environment.mailbox();
  const int64_t now_ms = NowMs(environment, *handle, true);
  uint64_t now_tick = 0;
  const bool after_epoch = layout.ToTick(now_ms, &now_tick);
  // [observe] What the policy decides from may be old at once; the
  // reservation that follows checks again.
  const uint64_t word = state.word.load(std::memory_order_relaxed);
  mailbox.now_ms = static_cast<double>(now_ms);
  mailbox.now = after_epoch ? static_cast<double>(now_tick) : -1;
  mailbox.head_tick = static_cast<double>(layout.TickOf(word));
  mailbox.last_tick = word == 0 ? -1 : static_cast<double>(layout.TickOf(word - 1));
  mailbox.high_tick =
      static_cast<double>(state.high_tick.load(std::memory_order_relaxed));
  mailbox.issued = static_cast<double>(handle->generator.issued());
  SetStatus(environment, !after_epoch                 ? Status::kBeforeEpoch
                         : now_tick > layout.max_tick ? Status::kExpired
                                                      : Status::kOk);
}

// The next id under a permission: up to `limit`, or from what is unused; with
// `want` only the lease for so many, which fill() then empties.
template <bool unused>
void NextGranted(Environment& environment) {
  Handle* const handle = environment.Current();
  if (handle == nullptr) return SetStatus(environment, Status::kClosed);
  Mailbox& mailbox = environment.mailbox();
  const auto now_tick = static_cast<uint64_t>(mailbox.now);
  Generator& generator = handle->generator;
  Status status =
      unused ? generator.GrantUnused(now_tick, static_cast<uint64_t>(mailbox.want))
             : generator.Grant(now_tick, static_cast<uint64_t>(mailbox.limit));
  if (status == Status::kOk && mailbox.want == 0) {
    status = generator.Next(now_tick, &mailbox.id);
  }
  SetStatus(environment, status);
}

// fill(address of the first element, count): how many were filled. With a
// limit of -1 no further than the clock, which is then read.
napi_value Fill(napi_env env, napi_callback_info info) {
  size_t argc = 3;
  napi_value argv[3];
  void* data;
  napi_get_cb_info(env, info, &argc, argv, nullptr, &data);
  Environment& environment = *static_cast<Environment*>(data);
  Mailbox& mailbox = environment.mailbox();

  void* elements = nullptr;
  size_t length = 0;
  napi_get_typedarray_info(env, argv[0], nullptr, &length, &elements, nullptr, nullptr);
  uint32_t from = 0;
  uint32_t to = 0;
  napi_get_value_uint32(env, argv[1], &from);
  napi_get_value_uint32(env, argv[2], &to);

  uint32_t filled = 0;
  uint64_t now_tick = 0;
  Handle* handle;
  if (mailbox.limit < 0) {
    handle = CurrentAtNow(environment, &now_tick);
  } else {
    handle = environment.Current();
    now_tick = static_cast<uint64_t>(mailbox.now);
    if (handle == nullptr) SetStatus(environment, Status::kClosed);
  }
  if (handle != nullptr && from <= to && to <= length) {
    Generator& generator = handle->generator;
    const uint64_t limit_tick =
        mailbox.limit < 0 ? now_tick : static_cast<uint64_t>(mailbox.limit);
    filled = static_cast<uint32_t>(generator.Fill(
        now_tick, limit_tick, static_cast<uint64_t*>(elements) + from, to - from));
    SetStatus(environment, now_tick > generator.layout().max_tick ? Status::kExpired
                           : filled < to - from                   ? Status::kAhead
                                                                  : Status::kOk);
  }
  napi_value result;
  napi_create_uint32(env, filled, &result);
  return result;
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

// open(options): keeps a generator for as long as the result is alive, and
// leaves its number in the mailbox. The facade has checked everything.
Napi::Value Open(const Napi::CallbackInfo& info) {
  auto& environment = *static_cast<Environment*>(info.Data());
  const auto options = info[0].As<Napi::Object>();
  Layout layout;
  layout.epoch_ms = NumberOption(options, "epochMs");
  layout.tick_ms = NumberOption(options, "tickMs");
  layout.max_tick = BigIntOption(options, "maxTick");
  layout.node_bits = BigIntOption(options, "nodeBits");
  layout.sequence_bits = static_cast<uint8_t>(NumberOption(options, "sequenceBits"));
  layout.sequence_shift = static_cast<uint8_t>(NumberOption(options, "sequenceShift"));
  layout.timestamp_shift =
      static_cast<uint8_t>(NumberOption(options, "timestampShift"));
  const SequenceStart start(
      static_cast<SequenceStart::Mode>(NumberOption(options, "sequenceStart")),
      static_cast<uint32_t>(NumberOption(options, "seed")));
  Thread* const thread =
      environment.ThreadFor(options.Get("key").As<Napi::String>(), layout,
                            options.Get("history").As<Napi::Boolean>());
  const uint32_t handle = environment.Add(
      thread, start, static_cast<ClockKind>(NumberOption(options, "clock")));
  environment.mailbox().handle = handle;
  environment.Retain();
  napi_value owner;
  napi_create_external(info.Env(), &environment, Forget,
                       reinterpret_cast<void*>(static_cast<uintptr_t>(handle)), &owner);
  return Napi::Value(info.Env(), owner);
}

void Close(Environment& environment) {
  environment.Remove(environment.mailbox().handle);
}

// raise(key, slot): nothing below the slot is issued on that state any more.
void Raise(const Napi::CallbackInfo& info) {
  bool lossless;
  RaiseFloor(ProcessState(info[0].As<Napi::String>().Utf8Value()),
             info[1].As<Napi::BigInt>().Uint64Value(&lossless));
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
  Export(env, exports, "grant", Invoke<NextGranted<false>>, environment);
  Export(env, exports, "grantUnused", Invoke<NextGranted<true>>, environment);
  Export(env, exports, "close", Invoke<Close>, environment);
  Export(env, exports, "fill", Fill, environment);
  exports.Set("open", Napi::Function::New<Open>(env, "open", environment));
  exports.Set("raise", Napi::Function::New<Raise>(env, "raise", environment));
  return exports;
}

NODE_API_MODULE(graupel, Init)

}  // namespace
}  // namespace graupel
