#ifndef GRAUPEL_CORE_CEILING_H_
#define GRAUPEL_CORE_CEILING_H_

#include <atomic>
#include <cstdint>
#include <cstring>

#include "header.h"
#include "layout.h"
#include "state.h"

namespace graupel {

// A bound that slots stay below, because what is beyond it might be given out
// again by those who come after a loss of the memory. It rises off the hot path and
// ahead of need, and never falls while the word is the same.
class Ceiling {
 public:
  virtual ~Ceiling() = default;

  // [ceiling] Acquire pairs with the release in Raise.
  uint64_t slot() const { return slot_.load(std::memory_order_acquire); }
  // A reservation that ends here or beyond asks for more.
  uint64_t alarm() const { return alarm_.load(std::memory_order_relaxed); }

  // Somebody whose clock shows `now_tick` comes near, or, if `is_urgent`, has to
  // wait. Never blocks.
  virtual void Ask(uint64_t now_tick, bool is_urgent) = 0;

 protected:
  // [ceiling] The release comes after the disk has it.
  void Raise(uint64_t slot, uint64_t alarm) {
    alarm_.store(alarm, std::memory_order_relaxed);
    slot_.store(slot, std::memory_order_release);
  }
  // [ceiling] For those who come to another word, and only for them: whoever still
  // has the former one may or may not see it.
  void Lower() { slot_.store(0, std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> slot_{0};
  std::atomic<uint64_t> alarm_{0};
};

// The part of a state file that changes. Slots: the first that may not be issued.
struct CeilingRecord {
  // Of the page, and of the start of the system, for which the word in the page
  // is the truth, and the numbers below are not needed.
  Lineage lineage;
  char boot_id[40];
  uint64_t intended;  // A ceiling that may not have reached the disk yet.
  uint64_t durable;   // One that has.
  uint64_t word;      // Where a clean close left it.
  uint32_t is_clean;
  uint32_t checksum;  // Of the bytes before it.

  bool IsOf(const CeilingRecord& own) const {
    return lineage == own.lineage &&
           std::memcmp(boot_id, own.boot_id, sizeof boot_id) == 0;
  }
  void TakeFrom(const CeilingRecord& own) {
    lineage = own.lineage;
    std::memcpy(boot_id, own.boot_id, sizeof boot_id);
  }
  // Where those go on who know nothing but this record.
  uint64_t Floor() const {
    if (is_clean != 0) return word;
    return intended > durable ? intended : durable;
  }
};
static_assert(sizeof(CeilingRecord) == 88);

// The protocol by which ceilings rise, over a `Storage` that can Read, Write and
// Sync the record, each false if that failed. Whoever calls holds the storage's
// lock. test/native/ceiling_model_test.cc interrupts it everywhere, and shows that
// it breaks when two of its steps change places.

// Makes `target` a durable ceiling, or leaves one that is higher.
template <typename Storage>
bool RaiseCeiling(Storage& storage, CeilingRecord& record, uint64_t target) {
  record.is_clean = 0;
  if (record.intended < target) record.intended = target;
  if (!storage.Write(record)) return false;
  if (!storage.Sync()) return false;
  // Only a note for others that they need no sync of their own: intended is on
  // the disk, and whoever starts from there goes by that.
  record.durable = record.intended;
  return storage.Write(record);
}

enum class Attached { kOk, kElsewhere, kMoved, kFailed };

// The ceiling that lasts for a window from now, or from the word if that is ahead.
inline uint64_t CeilingFrom(const Layout& layout, uint64_t word, uint64_t now_tick,
                            uint64_t window_ticks) {
  const uint64_t last = layout.max_tick;
  uint64_t tick = word == 0 ? now_tick : layout.TickOf(word - 1);
  if (tick < now_tick) tick = now_tick;
  if (tick > last) tick = last;
  const uint64_t end = window_ticks < last - tick ? tick + window_ticks : last;
  return (layout.FirstSlot(end) | (layout.Capacity() - 1)) + 1;
}

// Brings the word to where the record says that nobody has been, unless the word
// itself is what the record is about; then a ceiling to begin with, or to go on.
// `may_take_over` allows it where the record is about another memory, which nobody
// counts in any more.
template <typename Storage>
Attached Attach(Storage& storage, bool may_take_over, const CeilingRecord& own,
                State& state, const Layout& layout, uint64_t window_ticks,
                uint64_t now_tick, CeilingRecord* record) {
  if (!storage.Read(record)) return Attached::kFailed;
  const bool is_renamed = !record->IsOf(own);
  if (is_renamed) {
    if (!may_take_over) return Attached::kElsewhere;
    const uint64_t floor = record->Floor();
    // Before the record names this memory: who is killed in between leaves a
    // record that sends the next one to the floor again.
    if (!RaiseFloor(state, floor)) return Attached::kMoved;
    // Ids up to there may bear such a time, so a clock that shows less is behind.
    if (floor > 0) RaiseTo(state.high_tick, layout.TickOf(floor - 1));
    record->TakeFrom(own);
  }
  const uint64_t word = state.word.load(std::memory_order_relaxed);
  // Sealed since it was found: the seal is no slot to count a ceiling from.
  if (word == kSealed) return Attached::kMoved;
  // What another process has raised it to is good for half a window at least, or
  // all of them would write for themselves.
  const uint64_t enough = CeilingFrom(layout, word, now_tick, window_ticks / 2 + 1);
  if (!is_renamed && record->is_clean == 0 && record->durable >= enough) {
    return Attached::kOk;
  }
  const uint64_t target = CeilingFrom(layout, word, now_tick, window_ticks);
  return RaiseCeiling(storage, *record, target) ? Attached::kOk : Attached::kFailed;
}

// After the last one: the exact word in place of the ceilings.
template <typename Storage>
bool Detach(Storage& storage, const State& state) {
  CeilingRecord record;
  if (!storage.Read(&record)) return false;
  const uint64_t word = state.word.load(std::memory_order_acquire);
  if (word == kSealed) return false;
  record.word = record.intended = record.durable = word;
  record.is_clean = 1;
  return storage.Write(record) && storage.Sync();
}

}  // namespace graupel

#endif  // GRAUPEL_CORE_CEILING_H_
