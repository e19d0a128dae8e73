// The module: converts arguments, calls the core, and holds only the environment's
// data. Each function that JavaScript calls per id is a plain Node-API callback bound
// to that data, without arguments or result (calls.h).
//
// A thread may be ended inside any call of Node-API that runs JavaScript or makes an
// object. That call then fails, and so may every call after it. So each status is
// checked: after a failure the function releases what it has taken and returns null,
// and V8 unwinds. The result of a throw is not checked, because the function returns
// null in any case.

#include <node_api.h>

#include <optional>
#include <string>
#include <system_error>

#include "../host/process_state.h"
#include "calls.h"
#include "environment.h"
#include "options.h"

namespace graupel {
namespace {

using Call = void (*)(Environment&);

template <Call call>
napi_value Invoke(napi_env env, napi_callback_info info) {
  void* data;
  if (napi_get_cb_info(env, info, nullptr, nullptr, nullptr, &data) != napi_ok) {
    return nullptr;
  }
  call(*static_cast<Environment*>(data));
  return nullptr;
}

// The environment of a call, and its arguments; null where they cannot be had.
template <size_t count>
Environment* EnvironmentOf(napi_env env, napi_callback_info info,
                           napi_value (&arguments)[count]) {
  size_t argc = count;
  void* data;
  const napi_status status =
      napi_get_cb_info(env, info, &argc, arguments, nullptr, &data);
  return status == napi_ok ? static_cast<Environment*>(data) : nullptr;
}

napi_value Boolean(napi_env env, bool value) {
  napi_value result;
  return napi_get_boolean(env, value, &result) == napi_ok ? result : nullptr;
}

// What open() is told.
struct OpenOptions {
  HomeOptions home;
  bool history = false;
  SequenceStart start;
  ClockKind clock = ClockKind::kWall;
};

// False if something is thrown, or the thread ends.
bool ReadLayout(napi_env env, Options& options, Layout* layout) {
  constexpr const char* kCode = "ERR_LAYOUT_INVALID";
  layout->epoch_ms = options.Whole("epochMs");
  layout->tick_ms = options.Whole("tickMs", 1);
  layout->max_tick = options.BigInt("maxTick");
  layout->node_bits = options.BigInt("nodeBits");
  layout->sequence_bits = static_cast<uint8_t>(options.Whole("sequenceBits", 1, 63));
  layout->sequence_shift = static_cast<uint8_t>(options.Whole("sequenceShift", 0, 63));
  layout->timestamp_shift =
      static_cast<uint8_t>(options.Whole("timestampShift", 0, 63));
  if (!options.ok()) {
    options.Throw(kCode);
    return false;
  }
  if (layout->IsSound()) return true;
  napi_throw_type_error(env, kCode,
                        "the parts of the layout overlap, or do not fit 64 bits; pass "
                        "a layout that defineLayout has made");
  return false;
}

// False if something is thrown, or the thread ends. The facade has checked the options,
// so a wrong one is forged.
bool ReadOptions(napi_env env, napi_value object, OpenOptions* read) {
  Options options(env, object);
  if (!ReadLayout(env, options, &read->home.layout)) return false;
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
  read->home.lock_ms = static_cast<int>(options.Whole("lockMs", 0, INT32_MAX));
  read->home.rules.parent = options.Text("stateFolder");
  if (read->clock != ClockKind::kInjected) {
    read->home.rules.now_ns = WallNs;
  }
  read->home.rules.step.name = options.Text("claimStep");
  read->home.rules.step.next = options.Text("claimNext");
  read->home.rules.step.floor = options.BigInt("claimFloor");
  if (options.ok()) return true;
  options.Throw("ERR_OPTION_INVALID");
  return false;
}

// JavaScript has collected the generator whose handle is in `hint`.
void FinalizeGenerator(napi_env, void* data, void* hint) {
  auto* environment = static_cast<Environment*>(data);
  environment->FreeHandle(static_cast<uint32_t>(reinterpret_cast<uintptr_t>(hint)));
  environment->Release();
}

// open(options): keeps a generator for as long as the result is alive, and
// leaves its number in the mailbox; undefined where its state cannot be had.
napi_value Open(napi_env env, napi_callback_info info) {
  napi_value arguments[1];
  Environment* const environment = EnvironmentOf(env, info, arguments);
  if (environment == nullptr) return nullptr;
  OpenOptions options;
  if (!ReadOptions(env, arguments[0], &options)) return nullptr;
  HomeOptions& home = options.home;
  // Not by the clock of JavaScript, which tests replace: the page would keep such a
  // time for years.
  const int64_t now_ms = options.clock == ClockKind::kInjected
                             ? static_cast<int64_t>(environment->mailbox().now)
                             : environment->wall().ReadMs();
  home.layout.ToTick(now_ms, &home.now_tick);
  GeneratorGroup* const group = environment->GroupFor(home, options.history);
  if (group == nullptr) return nullptr;
  const uint32_t handle =
      environment->AddGenerator(group, options.start, options.clock);
  environment->Retain();
  void* const hint = reinterpret_cast<void*>(static_cast<uintptr_t>(handle));
  napi_value owner;
  if (napi_create_external(env, environment, FinalizeGenerator, hint, &owner) !=
      napi_ok) {
    FinalizeGenerator(env, environment, hint);
    return nullptr;
  }
  environment->mailbox().handle = handle;
  return owner;
}

// fault(): why the last call has no state.
napi_value FaultOf(napi_env env, napi_callback_info info) {
  napi_value unused[1];
  Environment* const environment = EnvironmentOf(env, info, unused);
  if (environment == nullptr) return nullptr;
  const Fault& fault = environment->fault();
  napi_value result;
  if (napi_create_object(env, &result) != napi_ok) return nullptr;
  bool is_whole = true;
  napi_value value;
  const auto set = [&](const char* name, napi_status made) {
    is_whole = is_whole && made == napi_ok &&
               napi_set_named_property(env, result, name, value) == napi_ok;
  };
  const auto set_text = [&](const char* name, const std::string& text) {
    set(name, napi_create_string_utf8(env, text.data(), text.size(), &value));
  };
  set("kind", napi_create_uint32(env, static_cast<uint32_t>(fault.kind), &value));
  set("error", napi_create_int32(env, fault.error, &value));
  set_text("reason", std::system_category().message(fault.error));
  set_text("call", fault.call);
  set_text("path", fault.path);
  set_text("detail", fault.detail);
  set("subject", napi_create_uint32(env, static_cast<uint32_t>(fault.subject), &value));
  return is_whole ? result : nullptr;
}

// page(): the path of the page in which the generator counts; undefined where that is
// in the process.
napi_value PageOf(napi_env env, napi_callback_info info) {
  napi_value unused[1];
  Environment* const environment = EnvironmentOf(env, info, unused);
  if (environment == nullptr) return nullptr;
  const Handle* const handle = environment->Current();
  if (handle == nullptr || handle->group->home.page == nullptr) return nullptr;
  const std::string& path = handle->group->home.page->path();
  napi_value result;
  const napi_status status =
      napi_create_string_utf8(env, path.data(), path.size(), &result);
  return status == napi_ok ? result : nullptr;
}

// A slot; false where something is thrown.
bool ReadSlot(napi_env env, napi_value value, uint64_t* slot) {
  bool is_exact;
  if (napi_get_value_bigint_uint64(env, value, slot, &is_exact) == napi_ok &&
      is_exact) {
    return true;
  }
  napi_throw_type_error(env, "ERR_OPTION_INVALID", "the slot is no bigint of 64 bits");
  return false;
}

// raiseFloor(slot, highTick): nothing below the slot is issued on the generator's state
// from now on, and its high tick is at least `highTick`. The word as it was before;
// undefined where the generator is closed, or there is a fault.
napi_value RaiseFloor(napi_env env, napi_callback_info info) {
  napi_value arguments[2];
  Environment* const environment = EnvironmentOf(env, info, arguments);
  uint64_t slot;
  if (environment == nullptr || !ReadSlot(env, arguments[0], &slot)) return nullptr;
  int64_t high_tick;
  if (napi_get_value_int64(env, arguments[1], &high_tick) != napi_ok || high_tick < 0) {
    napi_throw_type_error(env, "ERR_OPTION_INVALID",
                          "the tick is no whole number from 0 up");
    return nullptr;
  }
  const std::optional<uint64_t> former =
      RaiseFloorOf(*environment, slot, static_cast<uint64_t>(high_tick));
  napi_value result;
  if (!former.has_value() ||
      napi_create_bigint_uint64(env, *former, &result) != napi_ok) {
    return nullptr;
  }
  return result;
}

// raiseCeiling(slot): the generator may issue every slot below this one. False where it
// is closed, or was not opened with an external ceiling.
napi_value RaiseCeiling(napi_env env, napi_callback_info info) {
  napi_value arguments[1];
  Environment* const environment = EnvironmentOf(env, info, arguments);
  uint64_t slot;
  if (environment == nullptr || !ReadSlot(env, arguments[0], &slot)) return nullptr;
  return Boolean(env, RaiseCeilingOf(*environment, slot));
}

// awaitCeiling(attempt, blockMs): AwaitCeiling() of calls.h.
napi_value Await(napi_env env, napi_callback_info info) {
  napi_value arguments[2];
  Environment* const environment = EnvironmentOf(env, info, arguments);
  if (environment == nullptr) return nullptr;
  int64_t attempt;
  uint32_t block_ms;
  if (napi_get_value_int64(env, arguments[0], &attempt) != napi_ok || attempt < 0 ||
      napi_get_value_uint32(env, arguments[1], &block_ms) != napi_ok) {
    napi_throw_type_error(env, "ERR_OPTION_INVALID",
                          "the attempt or the time is no whole number from 0 up");
    return nullptr;
  }
  const uint64_t next =
      AwaitCeiling(*environment, static_cast<uint64_t>(attempt), block_ms);
  napi_value result;
  const napi_status status =
      napi_create_double(env, static_cast<double>(next), &result);
  return status == napi_ok ? result : nullptr;
}

// wallMs(): what the system's clock shows.
napi_value WallMs(napi_env env, napi_callback_info info) {
  napi_value unused[1];
  Environment* const environment = EnvironmentOf(env, info, unused);
  if (environment == nullptr) return nullptr;
  napi_value result;
  const auto now_ms = static_cast<double>(environment->wall().ReadMs());
  return napi_create_double(env, now_ms, &result) == napi_ok ? result : nullptr;
}

// keepEngine(key, engine): KeepEngine() of process_state.h.
napi_value Keep(napi_env env, napi_callback_info info) {
  napi_value arguments[2];
  if (EnvironmentOf(env, info, arguments) == nullptr) return nullptr;
  size_t length = 0;
  uint32_t engine;
  if (napi_get_value_string_utf8(env, arguments[0], nullptr, 0, &length) != napi_ok ||
      napi_get_value_uint32(env, arguments[1], &engine) != napi_ok) {
    napi_throw_type_error(env, "ERR_OPTION_INVALID",
                          "the key is no string, or the engine is no number");
    return nullptr;
  }
  std::string key(length, '\0');
  if (napi_get_value_string_utf8(env, arguments[0], key.data(), length + 1, &length) !=
      napi_ok) {
    return nullptr;
  }
  napi_value result;
  const uint32_t kept = KeepEngine(ProcessState(key), engine);
  return napi_create_uint32(env, kept, &result) == napi_ok ? result : nullptr;
}

napi_value Init(napi_env env, napi_value exports) {
  napi_value buffer;
  void* memory;
  if (napi_create_arraybuffer(env, sizeof(Mailbox), &memory, &buffer) != napi_ok) {
    return nullptr;
  }
  auto* const environment = new Environment(static_cast<Mailbox*>(memory));
  const auto drop = [](napi_env, void* data, void*) {
    static_cast<Environment*>(data)->Release();
  };
  if (napi_set_instance_data(env, environment, drop, nullptr) != napi_ok) {
    environment->Release();
    return nullptr;
  }
  // From here on Node frees the environment when it ends. Where the rest fails, some of
  // the functions may be set.
  napi_ref forever;
  if (napi_create_reference(env, buffer, 1, &forever) != napi_ok) return nullptr;
  if (napi_set_named_property(env, exports, "mailbox", buffer) != napi_ok) {
    return nullptr;
  }
  constexpr struct {
    const char* name;
    napi_callback call;
  } kFunctions[] = {
      {"next", Invoke<Next>},
      {"observe", Invoke<Observe>},
      {"grant", Invoke<Grant>},
      {"grantUnused", Invoke<GrantUnused>},
      {"close", Invoke<Close>},
      {"closeFiles", Invoke<CloseFiles>},
      {"fill", Fill},
      {"writeNumbers", WriteNumbers},
      {"fault", FaultOf},
      {"page", PageOf},
      {"open", Open},
      {"raiseFloor", RaiseFloor},
      {"raiseCeiling", RaiseCeiling},
      {"awaitCeiling", Await},
      {"wallMs", WallMs},
      {"keepEngine", Keep},
  };
  for (const auto& [name, call] : kFunctions) {
    napi_value function;
    if (napi_create_function(env, name, NAPI_AUTO_LENGTH, call, environment,
                             &function) != napi_ok ||
        napi_set_named_property(env, exports, name, function) != napi_ok) {
      return nullptr;
    }
  }
  return exports;
}

}  // namespace
}  // namespace graupel

NAPI_MODULE_INIT() { return graupel::Init(env, exports); }
