#ifndef GRAUPEL_CORE_REUSE_H_
#define GRAUPEL_CORE_REUSE_H_

#include <atomic>
#include <cstdint>

#include "history.h"
#include "state.h"

// A past tick may have slots that were never issued. The policy `reuse` issues them.

namespace graupel {

// Gives the state a history: from now on, each tick that the word leaves has its mark.
// Safe while other threads reserve, because the word is changed once after the
// history's place is published [history]. `memory` is zeroed, lies at the same distance
// for all users of the state, and is used from now on if the answer is true.
inline bool EnableHistory(State& state, const Layout& layout, uint64_t now_tick,
                          History* memory) {
  int64_t at = 0;
  const bool is_first = state.history_at.compare_exchange_strong(
      at, reinterpret_cast<char*>(memory) - reinterpret_cast<char*>(&state),
      std::memory_order_acq_rel, std::memory_order_acquire);
  History* const history = HistoryOf(state);
  if (history->Usable()) return is_first;
  // [high] This reading of the clock is the latest one: a clock that shows less later
  // has stepped back, even if nothing has been issued yet.
  if (now_tick > layout.max_tick) now_tick = layout.max_tick;
  RaiseTo(state.high_tick, now_tick);
  const uint64_t end = layout.FirstSlot(layout.max_tick) | (layout.Capacity() - 1);
  uint64_t word = state.word.load(std::memory_order_acquire);
  uint64_t next;
  do {
    if (word == kSealed) return is_first;
    const uint64_t now_slot = layout.FirstSlot(now_tick);
    // Leaves out one slot of the clock's tick, so that the word is in that tick.
    next = word <= now_slot ? now_slot + 1 : word < end ? word + 1 : word;
    const uint64_t word_tick = layout.TickOf(next - 1);
    // [floor] Before the exchange: if two threads enable the history at once, the marks
    // count from the first exchange on, and the second exchange makes none.
    history->RaiseFloor(
        layout.FirstSlot((word_tick > now_tick ? word_tick : now_tick) + 1));
  } while (!state.word.compare_exchange_weak(word, next, std::memory_order_acq_rel,
                                             std::memory_order_acquire));
  history->Open();
  return is_first;
}

// Hands out slots of the past tick `now_tick` that were never issued; kAhead if there
// are none, or none that are known to be free.
inline Status ReserveUnused(State& state, const Layout& layout, uint64_t now_tick,
                            uint64_t want, SlotRange* range) {
  // [reuse] Acquire pairs with the release in Reserve: a word that has left `now_tick`
  // brings the final mark of that tick.
  const uint64_t word = state.word.load(std::memory_order_acquire);
  if (word == kSealed) return Status::kMoved;
  if (word == 0 || layout.TickOf(word - 1) <= now_tick) return Status::kAhead;
  History* const history = HistoryOf(state);
  const bool is_taken =
      history != nullptr &&
      history->Take(layout, now_tick, want, &range->first, &range->count);
  return is_taken ? Status::kOk : Status::kAhead;
}

}  // namespace graupel

#endif  // GRAUPEL_CORE_REUSE_H_
