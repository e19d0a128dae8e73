#ifndef GRAUPEL_CORE_HISTORY_H_
#define GRAUPEL_CORE_HISTORY_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "layout.h"

namespace graupel {

// Relaxed: a mark publishes no other memory. A reader that must see it has synchronised
// by the state word or by Open(); each caller names which.
inline void RaiseTo(std::atomic<uint64_t>& mark, uint64_t value) {
  uint64_t seen = mark.load(std::memory_order_relaxed);
  while (seen < value &&
         !mark.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

// How far each of the last kTicks ticks was used: the memory of the policy `reuse`.
// Entry `tick % kTicks` is one word, the first free slot of that tick; it only grows. A
// full tick t has FirstSlot(t + 1), so the tick of an entry is the tick of the slot
// before it, and zero names no tick.
class History {
 public:
  static constexpr size_t kTicks = 1024;

  // Ticks that begin below `slot` may hold ids without a mark, so none of their slots
  // is reused. Called before the state word passes them without Leave(). [floor]
  // Published by the release of the word, or of Open(), after it.
  void RaiseFloor(uint64_t slot) { RaiseTo(floor_, slot); }

  // No tick is usable before EnableHistory() has set the floor. [floor] The two pair
  // with each other.
  void Open() { open_.store(true, std::memory_order_release); }
  bool Usable() const { return open_.load(std::memory_order_acquire); }

  // Marks every tick that the state word leaves when it goes from `word` to `next` by a
  // reservation that begins at `first`. Called before the exchange, so the mark of a
  // tick that the word has left is never too low. If the exchange fails, the marks are
  // too high, which loses slots and repeats none.
  void Leave(const Layout& layout, uint64_t word, uint64_t first, uint64_t next) {
    const uint64_t last_tick = layout.TickOf(next - 1);
    if (word != 0 && layout.TickOf(word - 1) < last_tick) Raise(layout, word);
    uint64_t tick = layout.TickOf(first);
    // A range longer than the ring overwrites its own marks; only the last marks count.
    if (last_tick - tick > kTicks) tick = last_tick - kTicks;
    for (; tick < last_tick; ++tick) Raise(layout, layout.FirstSlot(tick + 1));
  }

  // Takes up to `want` free slots of the past tick `tick`.
  bool Take(const Layout& layout, uint64_t tick, uint64_t want, uint64_t* first,
            uint64_t* count) {
    const uint64_t begin = layout.FirstSlot(tick);
    // [floor] Relaxed: Usable() brings the first floor, and the state word that
    // ReserveUnused read brings every one that was set before it left this tick.
    if (!Usable() || begin < floor_.load(std::memory_order_relaxed)) return false;
    std::atomic<uint64_t>& mark = marks_[tick % kTicks];
    const uint64_t end = layout.FirstSlot(tick + 1);
    // [reuse] The exchange alone makes the slots ours. The acquire of the state word in
    // ReserveUnused made the mark visible.
    uint64_t seen = mark.load(std::memory_order_relaxed);
    for (;;) {
      // An older entry means that the word skipped this tick. A younger entry has
      // overwritten this tick's mark, so the tick counts as full.
      const uint64_t from = seen <= begin ? begin : seen;
      if (from >= end) return false;
      const uint64_t take = want < end - from ? want : end - from;
      if (mark.compare_exchange_weak(seen, from + take, std::memory_order_relaxed)) {
        *first = from;
        *count = take;
        return true;
      }
    }
  }

 private:
  void Raise(const Layout& layout, uint64_t free_slot) {
    // [reserve] Published by the release of the state word after it.
    RaiseTo(marks_[layout.TickOf(free_slot - 1) % kTicks], free_slot);
  }

  std::atomic<bool> open_{false};
  std::atomic<uint64_t> floor_{0};
  std::atomic<uint64_t> marks_[kTicks] = {};
};

}  // namespace graupel

#endif  // GRAUPEL_CORE_HISTORY_H_
