#include "../core/observed.h"
#include "calls.h"

namespace graupel {

void Exceed(Environment& environment) {
  Handle* const handle = environment.CurrentOrClosed();
  if (handle == nullptr) return;
  Generator& generator = handle->generator;
  const Layout& layout = generator.layout();
  Mailbox& mailbox = environment.mailbox();
  uint64_t slot;
  if (!SlotAbove(layout, mailbox.id, &slot)) {
    return environment.set_status(Status::kExpired);
  }
  uint64_t now_tick = 0;
  const auto raise = [&] {
    State& state = generator.state();
    // [floor] Relaxed: if this thread reserves later, it reads this word or a later
    // one.
    const uint64_t word = state.word.load(std::memory_order_relaxed);
    if (word == kSealed) return Status::kMoved;
    if (word >= slot) return Status::kOk;
    // An old reading of the clock is earlier, so only a refusal needs a fresh one.
    for (const bool fresh : {false, true}) {
      if (!layout.ToTick(NowMs(environment, *handle, fresh), &now_tick)) {
        return Status::kBeforeEpoch;
      }
      const uint64_t limit_tick = now_tick + static_cast<uint64_t>(mailbox.limit);
      if (mailbox.id >> layout.timestamp_shift <= limit_tick) break;
      if (fresh) return Status::kAhead;
    }
    // [observed] Raised before the word, which publishes it.
    RaiseTo(state.observed_tick, layout.TickOf(slot));
    return RaiseFloor(state, slot).has_value() ? Status::kRaised : Status::kMoved;
  };
  const Status status = environment.UseState(*handle, now_tick, raise);
  if (status == Status::kOk || status == Status::kRaised) generator.DropBelow(slot);
  environment.set_status(status);
}

}  // namespace graupel
