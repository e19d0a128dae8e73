#include "calls.h"
#include "options.h"

namespace graupel {
namespace {

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

}  // namespace

Napi::Value Open(const Napi::CallbackInfo& info, Environment& environment) {
  OpenOptions options;
  if (!ReadOptions(info, &options)) return {};
  HomeOptions& home = options.home;
  // Not the clock of JavaScript, which tests replace: the page would keep a test's time
  // for years.
  const int64_t now_ms = options.clock == ClockKind::kInjected
                             ? static_cast<int64_t>(environment.mailbox().now)
                             : environment.wall().ReadMs();
  // The state of a lease begins at the floor that a call raises, and so does its
  // history. The clock may be far above the ceiling.
  if (home.kind == StateKind::kLease) {
    home.rules.now_ns = nullptr;
  } else {
    home.layout.ToTick(now_ms, &home.now_tick);
  }
  GeneratorGroup* const group = environment.GroupFor(home, options.history);
  if (group == nullptr) return {};
  const uint32_t handle =
      environment.AddGenerator(group, options.start, options.clock, options.generation);
  return OwnerOf(info.Env(), environment, handle);
}

Napi::Value View(const Napi::CallbackInfo& info, Environment& environment) {
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

}  // namespace graupel
