#ifndef GRAUPEL_CORE_STATE_H_
#define GRAUPEL_CORE_STATE_H_

#include <atomic>
#include <cstdint>

#include "history.h"
#include "layout.h"
#include "sequence_start.h"

namespace graupel {

// What all threads, and with a page in shared memory all processes, share about
// one (namespace, layout, node). Zeroed memory is a valid state in which nothing
// has been issued.
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
  // Bytes from here to the high marks of past ticks, for the policy `reuse`; 0
  // until somebody asks for them (EnableHistory). A distance and not an address,
  // because each process has the page at another one.
  std::atomic<int64_t> history_at{0};
  // Where the word was when it was sealed, or that of the page which this one follows:
  // it begins there or above (BeginAt).
  std::atomic<uint64_t> last{0};
  // Where the word lies in the process: which engine counts the key (process_state.h).
  std::atomic<uint32_t> engine{0};
};

// Tells whether a state is still the one that others find. Asked once in each
// tick, because it costs a call to the system.
class Whereabouts {
 public:
  virtual ~Whereabouts() = default;
  virtual bool IsCurrent() const = 0;
};

// In the place of the word: these slots are counted elsewhere now (MoveTo). No
// layout has as many slots.
inline constexpr uint64_t kSealed = UINT64_MAX;

static_assert(std::atomic<uint64_t>::is_always_lock_free,
              "lock-free is address-free, and then good between processes");
static_assert(std::atomic<int64_t>::is_always_lock_free);
static_assert(sizeof(State) == 64, "one cache line, shared with no other node");

struct Run {
  uint64_t first = 0;  // Slot.
  uint64_t count = 0;
};

enum class Reserved : uint32_t {
  kRun,
  kAhead,    // The next free slot lies beyond the limit.
  kCeiling,  // It lies above the ceiling.
  kMoved,    // The word is sealed: somebody else hands these slots out.
};

struct Request {
  uint64_t now_tick = 0;
  uint64_t limit_tick = 0;        // No slot beyond this tick.
  uint64_t ceiling = UINT64_MAX;  // Nor this slot, nor any above it.
  uint64_t want = 1;              // At least one.
  bool one_tick = false;          // End the run with its first tick.
};

inline History* HistoryOf(State& state) {
  // [history] Read after the word by whoever reserves. Acquire pairs with the
  // release of EnableHistory: what the history holds comes with its place.
  const int64_t at = state.history_at.load(std::memory_order_acquire);
  if (at == 0) return nullptr;
  return reinterpret_cast<History*>(reinterpret_cast<char*>(&state) + at);
}

// Moves the word forward and hands out the slots it passed over: between one
// and `want` of them, in order. Otherwise nothing has changed.
inline Reserved Reserve(State& state, const Layout& layout, const Request& request,
                        SequenceStart& start, Run* run) {
  // [high] Only a hint for naming things, so no order is needed.
  RaiseTo(state.high_tick, request.now_tick);
  const uint64_t now_slot = layout.FirstSlot(request.now_tick);
  const uint64_t limit_tick =
      request.limit_tick < layout.max_tick ? request.limit_tick : layout.max_tick;
  // [acquire] pairs with the release of the compare-exchange below and of
  // EnableHistory's: a word read here brings the history's place with it.
  uint64_t word = state.word.load(std::memory_order_acquire);
  for (;;) {
    const uint64_t first =
        word > now_slot ? word : now_slot + start.First(layout, word);
    if (layout.TickOf(first) > limit_tick) {
      return word == kSealed ? Reserved::kMoved : Reserved::kAhead;
    }
    if (first >= request.ceiling) return Reserved::kCeiling;
    const uint64_t last_tick = request.one_tick ? layout.TickOf(first) : limit_tick;
    const uint64_t tick_end = layout.FirstSlot(last_tick) | (layout.Capacity() - 1);
    const uint64_t end = tick_end < request.ceiling ? tick_end : request.ceiling - 1;
    // Counted from zero, because the room of a 64-bit slot space is 2^64.
    const uint64_t room_less_one = end - first;
    const uint64_t count =
        request.want - 1 < room_less_one ? request.want : room_less_one + 1;
    const uint64_t next = first + count;
    if (History* history = HistoryOf(state)) history->Leave(layout, word, first, next);
    // [reserve] Release: the marks raised above are visible to whoever sees
    // the new word. Acquire on failure: as the load above.
    if (state.word.compare_exchange_weak(word, next, std::memory_order_acq_rel,
                                         std::memory_order_acquire)) {
      run->first = first;
      run->count = count;
      return Reserved::kRun;
    }
  }
}

// Moves the word up to `slot`, so that nothing below it is issued any more: others
// may have issued it, whom this state has never met. False where it is sealed.
inline bool RaiseFloor(State& state, uint64_t slot) {
  // [acquire] As in Reserve.
  uint64_t word = state.word.load(std::memory_order_acquire);
  for (;;) {
    if (word == kSealed) return false;
    // [floor] Raised before the word.
    if (History* history = HistoryOf(state)) history->RaiseFloor(slot);
    if (word >= slot) return true;
    // [reserve] As in Reserve.
    if (state.word.compare_exchange_weak(word, slot, std::memory_order_acq_rel,
                                         std::memory_order_acquire)) {
      return true;
    }
  }
}

// Lets `to` go on where `from` is, and seals `from`: whoever reserves there is
// told, and goes to `to` as well. False where `to` is sealed itself; `from` is
// unchanged then.
inline bool MoveTo(State& from, State& to) {
  // [move] Acquire and release as in Reserve.
  uint64_t word = from.word.load(std::memory_order_acquire);
  for (;;) {
    if (word == kSealed) return true;
    // First raised, then sealed: between the two, nobody may be told to go where
    // these slots are still free, and whoever dies has lost nothing.
    if (!RaiseFloor(to, word)) return false;
    // [begin] Published by the seal.
    RaiseTo(from.last, word);
    if (from.word.compare_exchange_weak(word, kSealed, std::memory_order_acq_rel,
                                        std::memory_order_acquire)) {
      break;
    }
  }
  RaiseTo(to.high_tick, from.high_tick.load(std::memory_order_relaxed));
  return true;
}

// Where a word that is 0 or sealed may begin in a page that is the one at its path:
// above all that this page has issued, and after every tick that a clock has shown
// (docs/memory-order.md has why). `now_tick` is a fresh reading, or null where the
// clock is one that only its owner can read.
inline uint64_t BeginningOf(const State& state, const Layout& layout,
                            const uint64_t* now_tick) {
  const bool is_sealed = state.word.load(std::memory_order_acquire) == kSealed;
  // [begin] Relaxed: the word that was read brings both.
  const uint64_t last = state.last.load(std::memory_order_relaxed);
  uint64_t tick = state.high_tick.load(std::memory_order_relaxed);
  if (now_tick != nullptr && *now_tick > tick) tick = *now_tick;
  if (tick > layout.max_tick) tick = layout.max_tick;
  // Not `last` itself, where an exchange could still be waiting for that very word.
  uint64_t slot = is_sealed ? last + 1 : last;
  const uint64_t next_tick = layout.FirstSlot(tick + 1);
  if ((is_sealed || now_tick != nullptr) && slot < next_tick) slot = next_tick;
  const uint64_t end = layout.FirstSlot(layout.max_tick + 1);
  return slot < end ? slot : end;
}

// Lets a word that is 0 or sealed, as `expected` says, go on at `slot`. A word that is
// sealed is only ever begun anew by one at a time, from BeginningOf() on.
inline void BeginAt(State& state, uint64_t expected, uint64_t slot) {
  // [floor] Raised before the word.
  if (History* history = HistoryOf(state)) history->RaiseFloor(slot);
  // [begin] As in Reserve.
  state.word.compare_exchange_strong(expected, slot, std::memory_order_acq_rel,
                                     std::memory_order_acquire);
}

// Gives the state a history, so that from now on every tick that is left
// behind has its mark. Safe while others reserve: they may be between reading
// "no history" and their compare-exchange, so the word is changed once after the
// history's place is published, and every exchange that succeeds later was
// computed from a word that brought the place along [history].
//
// `memory` is zeroed, lies where everybody who has the state has it, and is used
// from now on if the answer is true.
inline bool EnableHistory(State& state, const Layout& layout, uint64_t now_tick,
                          History* memory) {
  int64_t at = 0;
  const bool is_first = state.history_at.compare_exchange_strong(
      at, reinterpret_cast<char*>(memory) - reinterpret_cast<char*>(&state),
      std::memory_order_acq_rel, std::memory_order_acquire);
  History* const history = HistoryOf(state);
  if (history->Usable()) return is_first;
  // [high] This reading of the clock is the latest one: if the clock then shows less,
  // it has stepped back, even if nothing has been issued yet.
  if (now_tick > layout.max_tick) now_tick = layout.max_tick;
  RaiseTo(state.high_tick, now_tick);
  const uint64_t end = layout.FirstSlot(layout.max_tick) | (layout.Capacity() - 1);
  uint64_t word = state.word.load(std::memory_order_acquire);
  uint64_t next;
  do {
    if (word == kSealed) return is_first;
    const uint64_t now_slot = layout.FirstSlot(now_tick);
    // One slot of the clock's tick is left out, so that the word is in that tick.
    next = word <= now_slot ? now_slot + 1 : word < end ? word + 1 : word;
    const uint64_t word_tick = layout.TickOf(next - 1);
    // [floor] Before the exchange: where two threads are here at once, the marks
    // count from the first one's exchange on, and the second's makes none.
    history->RaiseFloor(
        layout.FirstSlot((word_tick > now_tick ? word_tick : now_tick) + 1));
  } while (!state.word.compare_exchange_weak(word, next, std::memory_order_acq_rel,
                                             std::memory_order_acquire));
  history->Open();
  return is_first;
}

// Slots of the past tick `now_tick` that nobody was ever given; kAhead where
// there are none, or none that are known to be free.
inline Reserved ReserveUnused(State& state, const Layout& layout, uint64_t now_tick,
                              uint64_t want, Run* run) {
  // [reuse] Acquire pairs with the release in Reserve: a word that has left
  // `now_tick` brings that tick's final mark with it.
  const uint64_t word = state.word.load(std::memory_order_acquire);
  if (word == kSealed) return Reserved::kMoved;
  if (word == 0 || layout.TickOf(word - 1) <= now_tick) return Reserved::kAhead;
  History* const history = HistoryOf(state);
  const bool is_taken = history != nullptr &&
                        history->Take(layout, now_tick, want, &run->first, &run->count);
  return is_taken ? Reserved::kRun : Reserved::kAhead;
}

}  // namespace graupel

#endif  // GRAUPEL_CORE_STATE_H_
