#ifndef GRAUPEL_CORE_STATE_H_
#define GRAUPEL_CORE_STATE_H_

#include <atomic>
#include <cstdint>

#include "history.h"
#include "layout.h"
#include "sequence_start.h"

namespace graupel {

// What all threads share about one (namespace, layout, node). Zeroed memory is
// a valid state in which nothing has been issued.
//
// Every argument about memory order is in docs/memory-order.md; the letters in
// brackets name its sections.
struct alignas(64) State {
  // The state word: the first slot that nobody has been given, one past the
  // last slot issued. It only ever grows, which is the whole of the promise:
  // whoever moves it from a to b owns the slots a..b-1, and nobody else does.
  std::atomic<uint64_t> word{0};
  // The latest tick the clock has shown to anybody who reserved. A clock that
  // shows less has stepped back; a word ahead of both is an overflow.
  std::atomic<uint64_t> high_tick{0};
  // High marks of past ticks, for the policy `reuse`; null until somebody
  // asks for it (EnableHistory).
  std::atomic<History*> history{nullptr};
};

static_assert(std::atomic<uint64_t>::is_always_lock_free);
static_assert(std::atomic<History*>::is_always_lock_free);
static_assert(sizeof(State) == 64, "one cache line, shared with no other node");

struct Run {
  uint64_t first = 0;  // Slot.
  uint64_t count = 0;
};

struct Request {
  uint64_t now_tick = 0;
  uint64_t limit_tick = 0;  // No slot beyond this tick.
  uint64_t want = 1;        // At least one.
  bool one_tick = false;    // End the run with its first tick.
};

// Moves the word forward and hands out the slots it passed over: between one
// and `want` of them, in order. False, and nothing changed, where the next
// free slot lies beyond `limit_tick`.
inline bool Reserve(State& state, const Layout& layout, const Request& request,
                    SequenceStart& start, Run* run) {
  // [high] Only a hint for naming things, so no order is needed.
  RaiseTo(state.high_tick, request.now_tick);
  const uint64_t now_slot = layout.FirstSlot(request.now_tick);
  const uint64_t limit_tick =
      request.limit_tick < layout.max_tick ? request.limit_tick : layout.max_tick;
  // [acquire] pairs with the release of the compare-exchange below and of
  // EnableHistory's: a word read here brings the history pointer with it.
  uint64_t word = state.word.load(std::memory_order_acquire);
  for (;;) {
    const uint64_t first =
        word > now_slot ? word : now_slot + start.First(layout, word);
    if (layout.TickOf(first) > limit_tick) return false;
    const uint64_t last_tick = request.one_tick ? layout.TickOf(first) : limit_tick;
    // Counted from zero, because the room of a 64-bit slot space is 2^64.
    const uint64_t room_less_one =
        (layout.FirstSlot(last_tick) | (layout.Capacity() - 1)) - first;
    const uint64_t count =
        request.want - 1 < room_less_one ? request.want : room_less_one + 1;
    const uint64_t next = first + count;
    // [history] Read after the word, see above.
    if (History* history = state.history.load(std::memory_order_acquire)) {
      history->Leave(layout, word, first, next);
    }
    // [reserve] Release: the marks raised above are visible to whoever sees
    // the new word. Acquire on failure: as the load above.
    if (state.word.compare_exchange_weak(word, next, std::memory_order_acq_rel,
                                         std::memory_order_acquire)) {
      run->first = first;
      run->count = count;
      return true;
    }
  }
}

// Moves the word up to `slot`, so that nothing below it is issued any more: others
// may have issued it, whom this state has never met.
inline void RaiseFloor(State& state, uint64_t slot) {
  // [acquire] As in Reserve.
  uint64_t word = state.word.load(std::memory_order_acquire);
  for (;;) {
    // [history] Read after the word, as in Reserve; [floor] raised before it.
    if (History* history = state.history.load(std::memory_order_acquire)) {
      history->RaiseFloor(slot);
    }
    if (word >= slot) return;
    // [reserve] As in Reserve.
    if (state.word.compare_exchange_weak(word, slot, std::memory_order_acq_rel,
                                         std::memory_order_acquire)) {
      return;
    }
  }
}

// Gives the state a history, so that from now on every tick that is left
// behind has its mark. Safe while other threads reserve: they may be between
// reading "no history" and their compare-exchange, so the word is changed once
// after the pointer is published, and every exchange that succeeds later was
// computed from a word that brought the pointer along [history].
inline void EnableHistory(State& state, const Layout& layout, uint64_t now_tick) {
  History* history = state.history.load(std::memory_order_acquire);
  if (history == nullptr) {
    auto* fresh = new History();
    if (state.history.compare_exchange_strong(history, fresh, std::memory_order_acq_rel,
                                              std::memory_order_acquire)) {
      history = fresh;
    } else {
      delete fresh;
    }
  }
  if (history->Usable()) return;
  const uint64_t end = layout.FirstSlot(layout.max_tick) | (layout.Capacity() - 1);
  uint64_t word = state.word.load(std::memory_order_acquire);
  uint64_t next;
  do {
    const uint64_t now_slot = layout.FirstSlot(now_tick);
    next = word < now_slot ? now_slot : word < end ? word + 1 : word;
    const uint64_t word_tick = layout.TickOf(next - 1);
    // [floor] Before the exchange: where two threads are here at once, the marks
    // count from the first one's exchange on, and the second's makes none.
    history->RaiseFloor(
        layout.FirstSlot((word_tick > now_tick ? word_tick : now_tick) + 1));
  } while (!state.word.compare_exchange_weak(word, next, std::memory_order_acq_rel,
                                             std::memory_order_acquire));
  history->Open();
}

// Slots of the past tick `now_tick` that nobody was ever given. False where
// there are none, or none that are known to be free.
inline bool ReserveUnused(State& state, const Layout& layout, uint64_t now_tick,
                          uint64_t want, Run* run) {
  // [reuse] Acquire pairs with the release in Reserve: a word that has left
  // `now_tick` brings that tick's final mark with it.
  const uint64_t word = state.word.load(std::memory_order_acquire);
  if (word == 0 || layout.TickOf(word - 1) <= now_tick) return false;
  History* history = state.history.load(std::memory_order_acquire);
  return history != nullptr &&
         history->Take(layout, now_tick, want, &run->first, &run->count);
}

}  // namespace graupel

#endif  // GRAUPEL_CORE_STATE_H_
