#ifndef GRAUPEL_CORE_HISTORY_H_
#define GRAUPEL_CORE_HISTORY_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "layout.h"

namespace graupel {

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
  // No tick is usable until Open() has said where the marks begin.
  static constexpr uint64_t kClosed = UINT64_MAX;

  explicit History(const Layout& layout) : layout_(layout) {}

  bool Usable() const {
    return floor_tick_.load(std::memory_order_acquire) != kClosed;
  }

  // Ticks up to `tick` may hold ids that no mark knows of; they stay untouched.
  void Open(uint64_t tick) {
    uint64_t closed = kClosed;
    // [floor] The first to open wins; a later opener's floor would only be
    // higher, which is safe but forgets more.
    floor_tick_.compare_exchange_strong(closed, tick, std::memory_order_acq_rel,
                                        std::memory_order_relaxed);
  }

  // The state word is about to go from `word` to `next` by a run that begins
  // at `first`: marks every tick that this leaves behind. Harmless if the
  // exchange then fails: a mark that is too high loses slots, never repeats.
  void Leave(uint64_t word, uint64_t first, uint64_t next) {
    const uint64_t last_tick = layout_.TickOf(next - 1);
    if (word != 0 && layout_.TickOf(word - 1) < last_tick) Raise(word);
    uint64_t tick = layout_.TickOf(first);
    // A run longer than the ring overwrites its own marks; only the last count.
    if (last_tick - tick > kTicks) tick = last_tick - kTicks;
    for (; tick < last_tick; ++tick) Raise(layout_.FirstSlot(tick + 1));
  }

  // Takes up to `want` free slots of the past tick `tick`.
  bool Take(uint64_t tick, uint64_t want, uint64_t* first, uint64_t* count) {
    // [floor] Acquire pairs with Open(): marks are complete above the floor.
    const uint64_t floor = floor_tick_.load(std::memory_order_acquire);
    if (floor == kClosed || tick <= floor) return false;
    std::atomic<uint64_t>& mark = marks_[tick % kTicks];
    const uint64_t begin = layout_.FirstSlot(tick);
    const uint64_t end = layout_.FirstSlot(tick + 1);
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
  void Raise(uint64_t free_slot) {
    std::atomic<uint64_t>& mark = marks_[layout_.TickOf(free_slot - 1) % kTicks];
    // [reserve] Relaxed: published by the release of the state word after it.
    uint64_t seen = mark.load(std::memory_order_relaxed);
    while (seen < free_slot && !mark.compare_exchange_weak(
                                   seen, free_slot, std::memory_order_relaxed)) {
    }
  }

  const Layout layout_;
  std::atomic<uint64_t> floor_tick_{kClosed};
  std::atomic<uint64_t> marks_[kTicks] = {};
};

}  // namespace graupel

#endif  // GRAUPEL_CORE_HISTORY_H_
