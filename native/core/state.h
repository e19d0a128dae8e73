#ifndef GRAUPEL_CORE_STATE_H_
#define GRAUPEL_CORE_STATE_H_

#include <atomic>
#include <cstdint>
#include <optional>

#include "history.h"
#include "layout.h"
#include "sequence_start.h"

namespace graupel {

// The state of one (namespace, layout, node). All threads share it; in a page, all
// processes share it too. Zeroed memory is a valid state in which nothing was issued.
//
// docs/memory-order.md has every argument about memory order; the words in brackets
// name its sections.
struct alignas(64) State {
  // The state word: the first free slot, one past the last slot issued. It only
  // grows, and ids are unique by that alone: the thread that moves it from a to b owns
  // the slots a..b-1.
  std::atomic<uint64_t> word{0};
  // The latest tick that a clock has shown to any reservation. A clock that shows less
  // has stepped back; a word ahead of both is an overflow.
  std::atomic<uint64_t> high_tick{0};
  // Bytes from this State to its History, for the policy `reuse`; 0 until
  // EnableHistory. A distance, because each process maps the page at another address.
  std::atomic<int64_t> history_at{0};
  // The word at the time it was sealed, or the word of the page that this one follows:
  // BeginAt() begins there or above. In the process's own state: the word of the last
  // page that the process had open.
  std::atomic<uint64_t> last{0};
  // In the process's own state only: the engine that counts the key (process_state.h).
  std::atomic<uint32_t> engine{0};
  // In the process's own state only: the ceiling that calls raise (ceiling.h).
  // 0 until the first such call.
  std::atomic<uint64_t> external_ceiling{0};
  // The latest tick to which observed ids have led the word, with the ids that were
  // made ahead of the clock afterwards. A word ahead of the clock, but not of this
  // tick, is neither a rollback nor an overflow.
  std::atomic<uint64_t> observed_tick{0};
};

// A holder of a state that another holder may replace: a page. IsCurrent() tells
// whether other processes find this holder now. It is called once in each tick, because
// it costs a system call.
class Replaceable {
 public:
  virtual ~Replaceable() = default;
  virtual bool IsCurrent() const = 0;
};

// The word of a sealed state, whose slots have moved to another state (MoveTo). No
// layout has as many slots.
inline constexpr uint64_t kSealed = UINT64_MAX;

static_assert(std::atomic<uint64_t>::is_always_lock_free,
              "lock-free is address-free, and then good between processes");
static_assert(std::atomic<int64_t>::is_always_lock_free);
static_assert(sizeof(State) == 64, "one cache line, shared with no other node");

struct SlotRange {
  uint64_t first = 0;  // Slot.
  uint64_t count = 0;
};

// The outcomes of a call. src/state/engine.ts repeats the numbers, and
// test/engine/numbers.test.ts compares them.
enum class Status : uint32_t {
  kOk = 0,
  kAhead = 1,        // The state word is ahead of the clock: ask the policy.
  kBeforeEpoch = 2,  // The clock shows a time before the layout's epoch.
  kExpired = 3,      // The clock shows a time that no longer fits the layout.
  kClosed = 4,
  kCeiling = 5,      // The next slot lies above the ceiling: wait for it to rise.
  kUnavailable = 6,  // The state was lost, and no other can be had.
  kCloned = 7,       // The machine was copied since the state was acquired.
  kMoved = 8,        // The state word has moved to another page; only inside of C++.
  kRaised = 9,       // The word has risen above an observed id.
};

struct Request {
  uint64_t now_tick = 0;
  uint64_t limit_tick = 0;        // No slot beyond this tick.
  uint64_t want = 1;              // At least one.
  bool one_tick = false;          // End the range with its first tick.
  uint64_t ceiling = UINT64_MAX;  // No slot from this one on.
};

inline History* HistoryOf(State& state) {
  // [history] Read after the word by each reservation. Acquire pairs with the release
  // of EnableHistory, so the contents of the history come with its place.
  const int64_t at = state.history_at.load(std::memory_order_acquire);
  if (at == 0) return nullptr;
  return reinterpret_cast<History*>(reinterpret_cast<char*>(&state) + at);
}

// Moves the word forward and hands out the slots that the word passed: between one and
// `want` slots, in order. kAhead if the next free slot lies beyond the limit. The word
// is unchanged unless the result is kOk.
inline Status Reserve(State& state, const Layout& layout, const Request& request,
                      SequenceStart& start, SlotRange* range) {
  // [high] Only tells rollback from overflow, so no order is needed.
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
      return word == kSealed ? Status::kMoved : Status::kAhead;
    }
    if (first >= request.ceiling) return Status::kCeiling;
    const uint64_t last_tick = request.one_tick ? layout.TickOf(first) : limit_tick;
    const uint64_t tick_end = layout.FirstSlot(last_tick) | (layout.Capacity() - 1);
    const uint64_t end = tick_end < request.ceiling ? tick_end : request.ceiling - 1;
    // One less than the room, because the room of a 64-bit slot space is 2^64.
    const uint64_t room_less_one = end - first;
    const uint64_t count =
        request.want - 1 < room_less_one ? request.want : room_less_one + 1;
    const uint64_t next = first + count;
    if (History* history = HistoryOf(state)) history->Leave(layout, word, first, next);
    // [reserve] Release: a thread that sees the new word sees the marks raised above.
    // Acquire on failure: as the load above.
    if (state.word.compare_exchange_weak(word, next, std::memory_order_acq_rel,
                                         std::memory_order_acquire)) {
      range->first = first;
      range->count = count;
      if (request.limit_tick > request.now_tick) [[unlikely]] {
        // [observed] Relaxed: ids that a policy allows ahead of the clock lead on from
        // an observed id.
        const uint64_t observed = state.observed_tick.load(std::memory_order_relaxed);
        if (observed > request.now_tick) {
          RaiseTo(state.observed_tick, layout.TickOf(next - 1));
        }
      }
      return Status::kOk;
    }
  }
}

// Moves the word up to `slot`, so that no slot below is reserved any more: other owners
// of the node may have issued it. Returns the former word, below which every slot
// reserved so far lies [floor]; none if the word is sealed.
inline std::optional<uint64_t> RaiseFloor(State& state, uint64_t slot) {
  // [acquire] As in Reserve.
  uint64_t word = state.word.load(std::memory_order_acquire);
  for (;;) {
    if (word == kSealed) return std::nullopt;
    // [floor] Raised before the word.
    if (History* history = HistoryOf(state)) history->RaiseFloor(slot);
    if (word >= slot) return word;
    // [reserve] As in Reserve.
    if (state.word.compare_exchange_weak(word, slot, std::memory_order_acq_rel,
                                         std::memory_order_acquire)) {
      return word;
    }
  }
}

}  // namespace graupel

#endif  // GRAUPEL_CORE_STATE_H_
