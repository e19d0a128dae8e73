#include "calls.h"

#include <optional>

#include "elements.h"
#include "options.h"

namespace graupel {

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

namespace {

// Null, with the status set, if there is no generator, or if its layout does not have
// the clock's time.
Handle* CurrentAtNow(Environment& environment, uint64_t* now_tick) {
  Handle* const handle = environment.CurrentOrClosed();
  if (handle == nullptr) return nullptr;
  const int64_t now_ms = NowMs(environment, *handle, false);
  if (!handle->generator.layout().ToTick(now_ms, now_tick)) {
    environment.set_status(Status::kBeforeEpoch);
    return nullptr;
  }
  return handle;
}

// True for a state that is neither sealed nor in a page that was deleted.
bool IsHere(const Handle& handle) {
  const Page* const page = handle.group->home.page().get();
  return handle.generator.state().word.load(std::memory_order_relaxed) != kSealed &&
         (page == nullptr || page->IsCurrent());
}

// Makes the next id that the policy allows: up to `limit`, or of an unused slot of a
// past tick. With `want`, only reserves the run, which fill() then uses up.
template <bool unused>
void NextGranted(Environment& environment) {
  Handle* const handle = environment.CurrentOrClosed();
  if (handle == nullptr) return;
  Mailbox& mailbox = environment.mailbox();
  const auto now_tick = static_cast<uint64_t>(mailbox.now);
  Generator& generator = handle->generator;
  const auto grant = [&] {
    return unused ? generator.GrantUnused(now_tick, static_cast<uint64_t>(mailbox.want))
                  : generator.Grant(now_tick, static_cast<uint64_t>(mailbox.limit));
  };
  Status status = environment.UseState(*handle, now_tick, grant);
  if (status == Status::kOk && mailbox.want == 0) {
    status = generator.Next(now_tick, &mailbox.id);
  }
  environment.set_status(status);
}

}  // namespace

void Next(Environment& environment) {
  uint64_t now_tick;
  Handle* const handle = CurrentAtNow(environment, &now_tick);
  if (handle == nullptr) return;
  uint64_t* const id = &environment.mailbox().id;
  environment.set_status(environment.UseState(
      *handle, now_tick, [&] { return handle->generator.Next(now_tick, id); }));
}

// Reads the clock afresh, and the state word beside it.
void Observe(Environment& environment) {
  Handle* const handle = environment.CurrentOrClosed();
  if (handle == nullptr) return;
  const Layout& layout = handle->generator.layout();
  Mailbox& mailbox = environment.mailbox();
  uint64_t now_tick = 0;
  bool is_found = IsHere(*handle);
  if (!is_found) {
    layout.ToTick(NowMs(environment, *handle, true), &now_tick);
    is_found = environment.Follow(*handle->group, now_tick,
                                  [] { return Status::kOk; }) == Status::kOk;
  }
  State& state = handle->generator.state();
  // [observe] Read before the clock: a clock that then shows less has stepped back. If
  // the clock were first, a thread that is suspended between the two would take the
  // progress of other threads for a rollback.
  uint64_t word = state.word.load(std::memory_order_acquire);
  const uint64_t high_tick = state.high_tick.load(std::memory_order_acquire);
  const int64_t now_ms = NowMs(environment, *handle, true);
  now_tick = 0;
  const bool after_epoch = layout.ToTick(now_ms, &now_tick);
  if (word == kSealed) word = 0;
  mailbox.now_ms = static_cast<double>(now_ms);
  mailbox.now = after_epoch ? static_cast<double>(now_tick) : -1;
  mailbox.head_tick = static_cast<double>(layout.TickOf(word));
  mailbox.last_tick = word == 0 ? -1 : static_cast<double>(layout.TickOf(word - 1));
  mailbox.high_tick = static_cast<double>(high_tick);
  // [observed] Read after the word, which brings it.
  mailbox.observed_tick =
      static_cast<double>(state.observed_tick.load(std::memory_order_relaxed));
  mailbox.issued = static_cast<double>(handle->generator.issued());
  const Ceiling* const ceiling = handle->group->home.ceiling();
  const uint64_t ceiling_slot = ceiling == nullptr ? 0 : ceiling->slot();
  mailbox.ceiling =
      ceiling == nullptr ? -1 : static_cast<double>(layout.TickOf(ceiling_slot));
  const uint64_t now_slot = layout.FirstSlot(now_tick);
  const uint64_t next_slot = word > now_slot ? word : now_slot;
  // Past the last tick of the layout there is no ceiling to wait for.
  const bool is_at_ceiling = ceiling != nullptr && next_slot >= ceiling_slot &&
                             layout.TickOf(next_slot) <= layout.max_tick;
  environment.set_status(!after_epoch                      ? Status::kBeforeEpoch
                         : now_tick > layout.max_tick      ? Status::kExpired
                         : !is_found                       ? Status::kUnavailable
                         : !handle->generator.IsOriginal() ? Status::kCloned
                         : is_at_ceiling                   ? Status::kCeiling
                                                           : Status::kOk);
}

void Grant(Environment& environment) { NextGranted<false>(environment); }
void GrantUnused(Environment& environment) { NextGranted<true>(environment); }

napi_value Fill(napi_env env, napi_callback_info info) {
  size_t argc = 3;
  napi_value argv[3];
  void* data;
  if (napi_get_cb_info(env, info, &argc, argv, nullptr, &data) != napi_ok) {
    return nullptr;
  }
  const std::optional<Elements> elements = ElementsOf(env, argv);
  if (!elements.has_value()) return nullptr;

  Environment& environment = *static_cast<Environment*>(data);
  Mailbox& mailbox = environment.mailbox();
  const bool has_limit = mailbox.limit >= 0;
  auto now_tick = has_limit ? static_cast<uint64_t>(mailbox.now) : 0;
  Handle* const handle =
      has_limit ? environment.CurrentOrClosed() : CurrentAtNow(environment, &now_tick);
  size_t filled = 0;
  if (handle != nullptr) {
    const auto limit_tick = has_limit ? static_cast<uint64_t>(mailbox.limit) : now_tick;
    const auto fill = [&] {
      size_t more = 0;
      const Status status =
          handle->generator.Fill(now_tick, limit_tick, elements->begin + filled,
                                 elements->count - filled, &more);
      filled += more;
      return status;
    };
    environment.set_status(environment.UseState(*handle, now_tick, fill));
  }
  napi_value result;
  if (napi_create_uint32(env, static_cast<uint32_t>(filled), &result) != napi_ok) {
    return nullptr;
  }
  return result;
}

void Close(Environment& environment) {
  environment.CloseGenerator(environment.mailbox().handle);
}

void CloseFiles(Environment& environment) { environment.CloseFiles(); }

}  // namespace graupel
