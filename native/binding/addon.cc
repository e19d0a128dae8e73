// The functions of the module. Each function that JavaScript calls per id is a plain
// Node-API callback bound to the environment's data, without arguments or result
// (calls.h). The other functions use node-addon-api.
//
// Each value that may be empty is checked: a thread may be ended inside a call of
// Node-API (Habits in CONTRIBUTING.md).

#include <napi.h>

#include <string>
#include <system_error>

#include "../host/generation.h"
#include "../host/process_state.h"
#include "calls.h"
#include "elements.h"
#include "environment.h"
#include "options.h"
#include "uuids.h"

namespace graupel {
namespace {

using Call = void (*)(Environment&);
using Answer = Napi::Value (*)(const Napi::CallbackInfo&, Environment&);

template <Call call>
napi_value Invoke(napi_env env, napi_callback_info info) {
  void* data;
  if (napi_get_cb_info(env, info, nullptr, nullptr, nullptr, &data) != napi_ok) {
    return nullptr;
  }
  call(*static_cast<Environment*>(data));
  return nullptr;
}

template <Answer answer>
napi_value Respond(napi_env env, napi_callback_info arguments) {
  const Napi::CallbackInfo info(env, arguments);
  auto* const environment = static_cast<Environment*>(info.Data());
  return environment == nullptr ? nullptr : napi_value(answer(info, *environment));
}

// The owner of a handle, which frees the handle when JavaScript has collected it.
// Leaves the handle in the mailbox.
Napi::Value OwnerOf(Napi::Env env, Environment& environment, uint32_t handle) {
  environment.Retain();
  const auto drop = [handle](Napi::Env, Environment* data) {
    data->FreeHandle(handle);
    data->Release();
  };
  const auto owner = Napi::External<Environment>::New(env, &environment, drop);
  if (owner.IsEmpty()) {
    drop(env, &environment);
  } else {
    environment.mailbox().handle = handle;
  }
  return owner;
}

// open(options): opens a generator, which lives as long as the result, and leaves its
// handle in the mailbox. Undefined if there is a fault.
Napi::Value Open(const Napi::CallbackInfo& info, Environment& environment) {
  OpenOptions options;
  if (!ReadOptions(info, &options)) return {};
  HomeOptions& home = options.home;
  // Not the clock of JavaScript, which tests replace: the page would keep a test's time
  // for years.
  const int64_t now_ms = options.clock == ClockKind::kInjected
                             ? static_cast<int64_t>(environment.mailbox().now)
                             : environment.wall().ReadMs();
  home.layout.ToTick(now_ms, &home.now_tick);
  GeneratorGroup* const group = environment.GroupFor(home, options.history);
  if (group == nullptr) return {};
  const uint32_t handle =
      environment.AddGenerator(group, options.start, options.clock, options.generation);
  return OwnerOf(info.Env(), environment, handle);
}

// view(tagBits): opens a view of the generator, as open() does. Undefined if the
// generator is closed.
Napi::Value ViewOf(const Napi::CallbackInfo& info, Environment& environment) {
  const Handle* const base = environment.Current();
  if (base == nullptr) return {};
  bool is_exact = false;
  const uint64_t tag_bits =
      info[0].IsBigInt() ? info[0].As<Napi::BigInt>().Uint64Value(&is_exact) : 0;
  if (!is_exact || !base->generator.layout().HasRoomFor(tag_bits)) {
    Throw(info.Env(), "ERR_OPTION_INVALID",
          "the tags have to be a bigint of 64 bits, beside the other parts of an id");
    return {};
  }
  return OwnerOf(info.Env(), environment, environment.AddView(*base, tag_bits));
}

// fault(): the fault of the last call that could not use a state.
Napi::Value FaultOf(const Napi::CallbackInfo& info, Environment& environment) {
  const Fault& fault = environment.fault();
  const auto result = Napi::Object::New(info.Env());
  if (result.IsEmpty()) return result;
  result.Set("kind", static_cast<uint32_t>(fault.kind));
  result.Set("error", fault.error);
  result.Set("reason", std::system_category().message(fault.error));
  result.Set("call", fault.call);
  result.Set("path", fault.path);
  result.Set("detail", fault.detail);
  result.Set("subject", static_cast<uint32_t>(fault.subject));
  const auto found = Napi::Object::New(info.Env());
  if (found.IsEmpty()) return result;
  found.Set("key", fault.found.key);
  found.Set("description", fault.found.description);
  result.Set("found", found);
  result.Set("format", fault.format);
  result.Set("waitMs", static_cast<double>(fault.wait_ms));
  return result;
}

// wallMs(): reads the system's clock.
Napi::Value WallMs(const Napi::CallbackInfo& info, Environment& environment) {
  return Napi::Number::New(info.Env(),
                           static_cast<double>(environment.wall().ReadMs()));
}

// generation(): writes Generation() of core/generation.h into the mailbox, because a
// result would take as long as the call. Segments and clients call this for each
// number.
void GenerationOf(Environment& environment) {
  environment.mailbox().generation = static_cast<double>(Generation());
}

// raiseGeneration(): RaiseGeneration() of host/generation.h.
Napi::Value Raise(const Napi::CallbackInfo&, Environment&) {
  RaiseGeneration();
  return {};
}

// generationDevice(): the path of the device that announces copies; empty without one.
Napi::Value DeviceOf(const Napi::CallbackInfo& info, Environment&) {
  return Napi::String::New(info.Env(), OpenGeneration().path);
}

// keepEngine(key, engine): KeepEngine() of process_state.h.
Napi::Value Keep(const Napi::CallbackInfo& info, Environment&) {
  if (!info[0].IsString() || !info[1].IsNumber()) {
    Throw(info.Env(), "ERR_OPTION_INVALID",
          "the key has to be a string, and the engine a number");
    return {};
  }
  const std::string key = info[0].As<Napi::String>().Utf8Value();
  const uint32_t engine = info[1].As<Napi::Number>().Uint32Value();
  return Napi::Number::New(info.Env(), KeepEngine(ProcessState(key), engine));
}

// An empty object if something is thrown, or the thread ends.
Napi::Object Init(Napi::Env env, Napi::Object exports) {
  OpenGeneration();
  auto buffer = Napi::ArrayBuffer::New(env, sizeof(Mailbox));
  auto forever = Napi::Persistent(buffer);
  if (forever.IsEmpty()) return {};
  forever.SuppressDestruct();
  auto* const environment = new Environment(static_cast<Mailbox*>(buffer.Data()));
  const auto drop = [](napi_env, void* data, void*) {
    static_cast<Environment*>(data)->Release();
  };
  // Plain, because Env::SetInstanceData() ends the process if it fails.
  if (napi_set_instance_data(env, environment, drop, nullptr) != napi_ok) {
    environment->Release();
    return {};
  }
  // From here on Node frees the environment at its end. If a later call fails, some of
  // the functions may be set.
  if (!exports.Set("mailbox", buffer)) return {};
  constexpr struct {
    const char* name;
    napi_callback call;
  } kFunctions[] = {
      {"next", Invoke<Next>},
      {"observe", Invoke<Observe>},
      {"exceed", Invoke<Exceed>},
      {"grant", Invoke<Grant>},
      {"grantUnused", Invoke<GrantUnused>},
      {"reservation", Invoke<WriteReservation>},
      {"close", Invoke<Close>},
      {"closeFiles", Invoke<CloseFiles>},
      {"fill", Fill},
      {"writeNumbers", WriteNumbers},
      {"writeUuids", WriteUuids},
      {"uuidText", UuidText},
      {"fault", Respond<FaultOf>},
      {"page", Respond<PagePath>},
      {"open", Respond<Open>},
      {"view", Respond<ViewOf>},
      {"raiseFloor", Respond<RaiseFloor>},
      {"raiseCeiling", Respond<RaiseCeiling>},
      {"awaitCeiling", Respond<AwaitCeiling>},
      {"wallMs", Respond<WallMs>},
      {"keepEngine", Respond<Keep>},
      {"generation", Invoke<GenerationOf>},
      {"raiseGeneration", Respond<Raise>},
      {"generationDevice", Respond<DeviceOf>},
  };
  for (const auto& [name, call] : kFunctions) {
    napi_value function;
    // Plain, because Function::New() makes no plain callback.
    if (napi_create_function(env, name, NAPI_AUTO_LENGTH, call, environment,
                             &function) != napi_ok ||
        !exports.Set(name, function)) {
      return {};
    }
  }
  return exports;
}

}  // namespace
}  // namespace graupel

NAPI_MODULE_INIT() { return Napi::RegisterModule(env, exports, graupel::Init); }
