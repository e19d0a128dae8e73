// The module converts arguments, calls the core, and holds only the environment's data.
// Each function that JavaScript calls per id is a plain Node-API callback bound to that
// data, without arguments or result (calls.h). The other functions use node-addon-api.
//
// Each value that may be empty is checked: a thread may be ended inside a call of
// Node-API (Habits in CONTRIBUTING.md).

#include <napi.h>

#include <optional>
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

// The options of open().
struct OpenOptions {
  HomeOptions home;
  bool history = false;
  SequenceStart start;
  ClockKind clock = ClockKind::kWall;
  uint64_t generation = 0;
};

// False if something is thrown, or the thread ends.
bool ReadLayout(const Napi::CallbackInfo& info, Layout* layout) {
  constexpr const char* kCode = "ERR_LAYOUT_INVALID";
  Options options(info, kCode);
  layout->epoch_ms = options.Whole("epochMs");
  layout->tick_ms = options.Whole("tickMs", 1);
  layout->max_tick = options.BigInt("maxTick");
  layout->node_bits = options.BigInt("nodeBits");
  layout->sequence_bits = static_cast<uint8_t>(options.Whole("sequenceBits", 1, 63));
  layout->sequence_shift = static_cast<uint8_t>(options.Whole("sequenceShift", 0, 63));
  layout->timestamp_shift =
      static_cast<uint8_t>(options.Whole("timestampShift", 0, 63));
  if (!options.ok()) return false;
  if (layout->IsSound()) return true;
  Throw(info.Env(), kCode,
        "the parts of the layout overlap, or do not fit 64 bits; pass a layout that "
        "defineLayout has made");
  return false;
}

// False if something is thrown, or the thread ends. The facade has checked the options,
// so a wrong option is forged.
bool ReadOptions(const Napi::CallbackInfo& info, OpenOptions* read) {
  if (!ReadLayout(info, &read->home.layout)) return false;
  Options options(info, "ERR_OPTION_INVALID");
  read->home.identity = {options.Text("key"), options.Text("description")};
  read->home.place = static_cast<Place>(options.Whole("place", 0, 1));
  read->home.bound = static_cast<Bound>(options.Whole("bound", 0, 2));
  read->home.path = options.Text("path");
  read->home.file_key = options.Text("fileKey");
  read->home.window_ticks = static_cast<uint64_t>(options.Whole("windowTicks", 0));
  read->history = options.Flag("history");
  const auto mode =
      static_cast<SequenceStart::Mode>(options.Whole("sequenceStart", 0, 2));
  read->start =
      SequenceStart(mode, static_cast<uint32_t>(options.Whole("seed", 0, UINT32_MAX)));
  read->clock = static_cast<ClockKind>(options.Whole("clock", 0, 2));
  read->generation = static_cast<uint64_t>(options.Whole("machine", 0));
  read->home.lock_ms = static_cast<int>(options.Whole("lockMs", 0, INT32_MAX));
  read->home.rules.parent = options.Text("stateFolder");
  if (read->clock != ClockKind::kInjected) {
    read->home.rules.now_ns = WallNs;
  }
  read->home.rules.step.name = options.Text("claimStep");
  read->home.rules.step.next = options.Text("claimNext");
  read->home.rules.step.floor = options.BigInt("claimFloor");
  return options.ok();
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
  environment.Retain();
  const auto drop = [handle](Napi::Env, Environment* data) {
    data->FreeHandle(handle);
    data->Release();
  };
  const auto owner = Napi::External<Environment>::New(info.Env(), &environment, drop);
  if (owner.IsEmpty()) {
    drop(info.Env(), &environment);
  } else {
    environment.mailbox().handle = handle;
  }
  return owner;
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

// page(): the path of the page in which the generator counts; undefined if it counts in
// memory of the process.
Napi::Value PageOf(const Napi::CallbackInfo& info, Environment& environment) {
  const Handle* const handle = environment.Current();
  if (handle == nullptr || handle->group->home.page() == nullptr) return {};
  return Napi::String::New(info.Env(), handle->group->home.page()->path());
}

// Reads a slot; false if something is thrown.
bool ReadSlot(const Napi::CallbackInfo& info, uint64_t* slot) {
  bool is_exact = false;
  if (info[0].IsBigInt()) *slot = info[0].As<Napi::BigInt>().Uint64Value(&is_exact);
  if (!is_exact) {
    Throw(info.Env(), "ERR_OPTION_INVALID", "the slot has to be a bigint of 64 bits");
  }
  return is_exact;
}

// raiseFloor(slot, highTick): RaiseFloorOf() of calls.h. Undefined if the generator is
// closed, or if there is a fault.
Napi::Value RaiseFloor(const Napi::CallbackInfo& info, Environment& environment) {
  uint64_t slot;
  if (!ReadSlot(info, &slot)) return {};
  const int64_t high_tick =
      info[1].IsNumber() ? info[1].As<Napi::Number>().Int64Value() : -1;
  if (high_tick < 0) {
    Throw(info.Env(), "ERR_OPTION_INVALID",
          "the tick has to be a whole number from 0 up");
    return {};
  }
  const std::optional<uint64_t> former =
      RaiseFloorOf(environment, slot, static_cast<uint64_t>(high_tick));
  if (!former.has_value()) return {};
  return Napi::BigInt::New(info.Env(), *former);
}

// raiseCeiling(slot): RaiseCeilingOf() of calls.h.
Napi::Value RaiseCeiling(const Napi::CallbackInfo& info, Environment& environment) {
  uint64_t slot;
  if (!ReadSlot(info, &slot)) return {};
  return Napi::Boolean::New(info.Env(), RaiseCeilingOf(environment, slot));
}

// awaitCeiling(attempt, blockMs): AwaitCeiling() of calls.h.
Napi::Value Await(const Napi::CallbackInfo& info, Environment& environment) {
  const bool are_numbers = info[0].IsNumber() && info[1].IsNumber();
  const int64_t attempt = are_numbers ? info[0].As<Napi::Number>().Int64Value() : -1;
  if (attempt < 0) {
    Throw(info.Env(), "ERR_OPTION_INVALID",
          "the attempt and the time have to be whole numbers from 0 up");
    return {};
  }
  const uint32_t block_ms = info[1].As<Napi::Number>().Uint32Value();
  const uint64_t next =
      AwaitCeiling(environment, static_cast<uint64_t>(attempt), block_ms);
  return Napi::Number::New(info.Env(), static_cast<double>(next));
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
      {"page", Respond<PageOf>},
      {"open", Respond<Open>},
      {"raiseFloor", Respond<RaiseFloor>},
      {"raiseCeiling", Respond<RaiseCeiling>},
      {"awaitCeiling", Respond<Await>},
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
