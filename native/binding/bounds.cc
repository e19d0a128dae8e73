// The calls that raise or await the bounds of a state. Not for each id.

#include <optional>

#include "calls.h"
#include "options.h"

namespace graupel {
namespace {

// Reads a slot; false if something is thrown.
bool ReadSlot(const Napi::CallbackInfo& info, uint64_t* slot) {
  bool is_exact = false;
  if (info[0].IsBigInt()) *slot = info[0].As<Napi::BigInt>().Uint64Value(&is_exact);
  if (!is_exact) {
    Throw(info.Env(), "ERR_OPTION_INVALID", "the slot has to be a bigint of 64 bits");
  }
  return is_exact;
}

}  // namespace

Napi::Value RaiseFloor(const Napi::CallbackInfo& info, Environment& environment) {
  uint64_t slot;
  if (!ReadSlot(info, &slot)) return {};
  const auto tick_at = [&info](size_t at) {
    return info[at].IsNumber() ? info[at].As<Napi::Number>().Int64Value() : -1;
  };
  const int64_t high_tick = tick_at(1);
  const int64_t observed_tick = tick_at(2);
  if (high_tick < 0 || observed_tick < 0) {
    Throw(info.Env(), "ERR_OPTION_INVALID",
          "the ticks have to be whole numbers from 0 up");
    return {};
  }
  Handle* const handle = environment.Current();
  if (handle == nullptr) return {};
  std::optional<uint64_t> former;
  const Status status = environment.UseState(*handle, 0, [&] {
    State& state = handle->generator.state();
    // [observed] Raised before the word, which publishes it.
    RaiseTo(state.observed_tick, static_cast<uint64_t>(observed_tick));
    former = RaiseFloor(state, slot);
    return former.has_value() ? Status::kOk : Status::kMoved;
  });
  if (status != Status::kOk) return {};
  // [high] Only tells rollback from overflow.
  RaiseTo(handle->generator.state().high_tick, static_cast<uint64_t>(high_tick));
  return Napi::BigInt::New(info.Env(), *former);
}

Napi::Value RaiseCeiling(const Napi::CallbackInfo& info, Environment& environment) {
  uint64_t slot;
  if (!ReadSlot(info, &slot)) return {};
  const Handle* const handle = environment.Current();
  ExternalCeiling* const ceiling =
      handle == nullptr ? nullptr : handle->group->home.external_ceiling.get();
  if (ceiling != nullptr) ceiling->RaiseTo(slot);
  return Napi::Boolean::New(info.Env(), ceiling != nullptr);
}

Napi::Value AwaitCeiling(const Napi::CallbackInfo& info, Environment& environment) {
  const bool are_numbers = info[0].IsNumber() && info[1].IsNumber();
  const int64_t given = are_numbers ? info[0].As<Napi::Number>().Int64Value() : -1;
  if (given < 0) {
    Throw(info.Env(), "ERR_OPTION_INVALID",
          "the round and the time have to be whole numbers from 0 up");
    return {};
  }
  auto round = static_cast<uint64_t>(given);
  const uint32_t block_ms = info[1].As<Napi::Number>().Uint32Value();
  Mailbox& mailbox = environment.mailbox();
  const Handle* const handle = environment.CurrentOrClosed();
  if (handle == nullptr) {
    return Napi::Number::New(info.Env(), static_cast<double>(round));
  }
  using Outcome = DurableCeiling::Outcome;
  const Home& home = handle->group->home;
  // No thread of the module raises an external ceiling, so no round will end. A
  // generator without a ceiling does not wait.
  Outcome outcome =
      home.external_ceiling == nullptr ? Outcome::kRaised : Outcome::kTimeout;
  if (home.file_ceiling != nullptr) {
    Fault fault;
    outcome = home.file_ceiling->Await(static_cast<uint64_t>(mailbox.now), block_ms,
                                       &round, &fault);
    // If only the page was deleted, the next round finds the next page.
    if (outcome == Outcome::kFailed && !home.page()->IsCurrent()) {
      outcome = Outcome::kRaised;
    }
    if (outcome == Outcome::kFailed) environment.set_fault(std::move(fault));
  }
  mailbox.status = static_cast<uint32_t>(outcome);
  return Napi::Number::New(info.Env(), static_cast<double>(round));
}

}  // namespace graupel
