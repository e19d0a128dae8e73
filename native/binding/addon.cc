// The functions of the module. Each function that JavaScript calls per id is a plain
// Node-API callback bound to the environment's data, without arguments or result
// (calls.h). The other functions use node-addon-api.
//
// Each value that may be empty is checked: a thread may be ended inside a call of
// Node-API (Habits in CONTRIBUTING.md).

#include <napi.h>

#include <string>

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
      {"close", Invoke<Close>},
      {"closeFiles", Invoke<CloseFiles>},
      {"fill", Fill},
      {"writeNumbers", WriteNumbers},
      {"writeUuids", WriteUuids},
      {"uuidText", UuidText},
      {"fault", Respond<FaultReport>},
      {"report", Respond<Report>},
      {"open", Respond<Open>},
      {"view", Respond<View>},
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
