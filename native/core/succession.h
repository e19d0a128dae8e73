#ifndef GRAUPEL_CORE_SUCCESSION_H_
#define GRAUPEL_CORE_SUCCESSION_H_

#include <atomic>
#include <cstdint>

#include "state.h"

// A state that follows another one: a page that replaces a deleted page, or the page to
// which the word of a process moves.

namespace graupel {

// Lets `to` continue at the word of `from`, and seals `from`. Reservations on `from`
// then end with kMoved, and their threads go to `to`. False if `to` is sealed itself;
// `from` is then unchanged.
inline bool MoveTo(State& from, State& to) {
  // [move] Acquire and release as in Reserve.
  uint64_t word = from.word.load(std::memory_order_acquire);
  for (;;) {
    if (word == kSealed) return true;
    // Raised first, and then sealed: a thread that reads the seal must find these slots
    // taken in `to`. A process that ends between the two loses nothing.
    if (!RaiseFloor(to, word)) return false;
    // [begin] Published by the seal.
    RaiseTo(from.last, word);
    if (from.word.compare_exchange_weak(word, kSealed, std::memory_order_acq_rel,
                                        std::memory_order_acquire)) {
      break;
    }
  }
  RaiseTo(to.high_tick, from.high_tick.load(std::memory_order_relaxed));
  RaiseTo(to.observed_tick, from.observed_tick.load(std::memory_order_relaxed));
  return true;
}

// The slot at which a word that is 0 or sealed may begin, in a page that is the one at
// its path: above all that this page has issued, and after every tick that a clock has
// shown (docs/memory-order.md has the argument). `now_tick` is a fresh reading; null
// for an injected clock, which only its thread can read.
inline uint64_t BeginningOf(const State& state, const Layout& layout,
                            const uint64_t* now_tick) {
  const bool is_sealed = state.word.load(std::memory_order_acquire) == kSealed;
  // [begin] Relaxed: the word that was read brings both.
  const uint64_t last = state.last.load(std::memory_order_relaxed);
  uint64_t tick = state.high_tick.load(std::memory_order_relaxed);
  if (now_tick != nullptr && *now_tick > tick) tick = *now_tick;
  if (tick > layout.max_tick) tick = layout.max_tick;
  // Above `last`, because an exchange may still expect `last` itself.
  uint64_t slot = is_sealed ? last + 1 : last;
  const uint64_t next_tick = layout.FirstSlot(tick + 1);
  if ((is_sealed || now_tick != nullptr) && slot < next_tick) slot = next_tick;
  const uint64_t end = layout.FirstSlot(layout.max_tick + 1);
  return slot < end ? slot : end;
}

// Lets a word that is 0 or sealed, as `expected` says, continue at `slot`, which comes
// from BeginningOf(). Only one process at a time may begin a sealed word.
inline void BeginAt(State& state, uint64_t expected, uint64_t slot) {
  // [floor] Raised before the word.
  if (History* history = HistoryOf(state)) history->RaiseFloor(slot);
  // [begin] As in Reserve.
  state.word.compare_exchange_strong(expected, slot, std::memory_order_acq_rel,
                                     std::memory_order_acquire);
}

}  // namespace graupel

#endif  // GRAUPEL_CORE_SUCCESSION_H_
