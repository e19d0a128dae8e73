#ifndef GRAUPEL_TEST_FUZZ_MODEL_H_
#define GRAUPEL_TEST_FUZZ_MODEL_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>

#include "../../native/core/generator.h"
#include "check.h"
#include "setup.h"

namespace graupel {

using Mode = SequenceStart::Mode;

// The expected state: with divisions instead of shifts, and a record of every slot and
// every tick.
class Model {
 public:
  explicit Model(const Layout& layout)
      : capacity_(LowBits(layout.sequence_bits) + 1), max_tick_(layout.max_tick) {}

  uint64_t word = 0;
  uint64_t high_tick = 0;

  void Issue(uint64_t slot) { CHECK(issued_.insert(slot).second, slot, TickOf(slot)); }

  // Reserves the slots from `first` on, and returns the slot after the last.
  uint64_t Reserve(uint64_t now, uint64_t limit, uint64_t ceiling, uint64_t want,
                   bool one_tick, Mode mode, uint64_t first) {
    CHECK(CanReserve(now, limit) && first < ceiling, now, limit, word, ceiling);
    const uint64_t now_slot = now * capacity_;
    if (word > now_slot) {
      CHECK(first == word, first, word);
    } else {
      const uint64_t skipped = first - now_slot;
      const uint64_t half = capacity_ == 2 ? 2 : capacity_ / 2;
      const uint64_t next = word % capacity_;
      if (mode == Mode::kZero) CHECK(skipped == 0, skipped);
      if (mode == Mode::kRandom) CHECK(skipped < half, skipped);
      if (mode == Mode::kRotate) CHECK(skipped == (next < half ? next : 0), skipped);
    }
    const uint64_t last_tick = one_tick ? TickOf(first) : std::min(limit, max_tick_);
    const uint64_t room = std::min((last_tick + 1) * capacity_, ceiling) - first;
    Pass(first, first + std::min(want, room));
    return word;
  }
  bool CanReserve(uint64_t now, uint64_t limit) const {
    return std::max(word / capacity_, now) <= std::min(limit, max_tick_);
  }

  // Whether this status is right for a caller who gets no slot. If a new tick begins in
  // the middle of the call, both answers about the ceiling are right.
  bool MayRefuse(Status status, uint64_t now, uint64_t limit, uint64_t ceiling,
                 Mode mode) const {
    if (status == Status::kAhead) return !CanReserve(now, limit);
    if (status != Status::kCeiling || !CanReserve(now, limit)) return false;
    const uint64_t now_slot = now * capacity_;
    const uint64_t skipped = word > now_slot || mode == Mode::kZero ? 0 : capacity_ - 1;
    return std::max(word, now_slot) + skipped >= ceiling;
  }

  // The word moves to another state, whose history knows no past ticks.
  void Move() {
    has_history = false;
    marked_.clear();
  }

  // The number of slots of a past tick that may be reused, and the first of them.
  uint64_t Unused(uint64_t tick, uint64_t* first) const {
    if (!has_history || tick * capacity_ < floor || word == 0 ||
        TickOf(word - 1) <= tick)
      return 0;
    const auto marked = marked_.find(tick % History::kTicks);
    if (marked != marked_.end() && marked->second > tick) return 0;
    const auto next = next_.find(tick);
    const uint64_t used = next == next_.end() ? 0 : next->second;
    *first = tick * capacity_ + used;
    return capacity_ - used;
  }
  void TakeUnused(uint64_t tick, uint64_t count) {
    next_[tick] += count;
    Mark(tick);
  }

  // The word goes to `next`, and the slots from `first` on are used.
  void Pass(uint64_t first, uint64_t next) {
    const uint64_t last_tick = TickOf(next - 1);
    if (word != 0 && TickOf(word - 1) < last_tick) Mark(TickOf(word - 1));
    // A long range overwrites every place of the ring with its last ticks.
    uint64_t tick = TickOf(first);
    if (last_tick - tick > 2 * History::kTicks) tick = last_tick - 2 * History::kTicks;
    for (; tick < last_tick; ++tick) {
      next_[tick] = capacity_;
      Mark(tick);
    }
    next_[last_tick] = (next - 1) % capacity_ + 1;
    word = next;
  }

  uint64_t TickOf(uint64_t slot) const { return slot / capacity_; }

  bool has_history = false;
  uint64_t floor = 0;  // Slot.

 private:
  void Mark(uint64_t tick) {
    if (!has_history) return;
    uint64_t& marked = marked_[tick % History::kTicks];
    marked = std::max(marked, tick);
  }

  const uint64_t capacity_;
  const uint64_t max_tick_;
  std::set<uint64_t> issued_;
  std::map<uint64_t, uint64_t> next_;    // By tick, its next sequence number.
  std::map<uint64_t, uint64_t> marked_;  // By place in the ring, the tick there.
};

}  // namespace graupel

#endif  // GRAUPEL_TEST_FUZZ_MODEL_H_
