#ifndef GRAUPEL_CORE_HISTORY_H_
#define GRAUPEL_CORE_HISTORY_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "layout.h"

namespace graupel {

// Relaxed: a mark says nothing about other memory, and whoever must not miss it
// has come by the state word or by Open(); each caller names which.
inline void RaiseTo(std::atomic<uint64_t>& mark, uint64_t value) {
  uint64_t seen = mark.load(std::memory_order_relaxed);
  while (seen < value &&
         !mark.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

// How far each of the last kTicks ticks was used: the memory of the policy
// `reuse`. Entry `tick % kTicks` is one word, the first free slot of that tick;
// the full tick t is FirstSlot(t + 1), so the tick an entry speaks of is that
// of the slot before it, and zero speaks of none.
//
// An entry only grows. It is raised before the state word leaves its tick, so
// once the word has left, the entry is never below the truth.
class History {
 public:
  static constexpr size_t kTicks = 1024;

  // Ticks that begin below `slot` may hold ids that no mark knows of: they stay
  // untouched. To be called before the state word passes them without Leave().
  // [floor] Published by the release of the word, or of Open(), after it.
  void RaiseFloor(uint64_t slot) { RaiseTo(floor_, slot); }

  // No tick is usable before whoever made the history has set its floor.
  // [floor] The two pair with each other.
  void Open() { open_.store(true, std::memory_order_release); }
  bool Usable() const { return open_.load(std::memory_order_acquire); }

  // The state word is about to go from `word` to `next` by a run that begins
  // at `first`: marks every tick that this leaves behind. Harmless if the
  // exchange then fails: a mark that is too high loses slots, never repeats.
  void Leave(const Layout& layout, uint64_t word, uint64_t first, uint64_t next) {
    const uint64_t last_tick = layout.TickOf(next - 1);
    if (word != 0 && layout.TickOf(word - 1) < last_tick) Raise(layout, word);
    uint64_t tick = layout.TickOf(first);
    // A run longer than the ring overwrites its own marks; only the last count.
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
    // [reuse] What makes the slots ours is the exchange alone; the mark was
    // made visible by the acquire of the state word in ReserveUnused.
    uint64_t seen = mark.load(std::memory_order_relaxed);
    for (;;) {
      // An older entry: the word skipped this tick. A younger one has
      // overwritten it: unknown, so treat it as full.
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
