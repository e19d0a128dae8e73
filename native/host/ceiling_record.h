#ifndef GRAUPEL_HOST_CEILING_RECORD_H_
#define GRAUPEL_HOST_CEILING_RECORD_H_

#include <atomic>
#include <cstdint>
#include <cstring>

#include "../core/layout.h"
#include "../core/state.h"
#include "header.h"

namespace graupel {

// The part of a state file that changes. Each slot is the first slot that may not be
// issued.
struct CeilingRecord {
  // Name the page and the start of the system. In that page of that start, the word is
  // the truth, and the numbers below are not needed.
  Lineage lineage;
  char boot_id[40];
  uint64_t intended;  // A ceiling that may not have reached the disk yet.
  uint64_t durable;   // A ceiling that has reached the disk.
  uint64_t word;      // The state word after a clean close.
  uint32_t is_clean;
  uint32_t checksum;  // Covers the bytes before it.

  bool IsOf(const CeilingRecord& own) const {
    return lineage == own.lineage &&
           std::memcmp(boot_id, own.boot_id, sizeof boot_id) == 0;
  }
  void TakeFrom(const CeilingRecord& own) {
    lineage = own.lineage;
    std::memcpy(boot_id, own.boot_id, sizeof boot_id);
  }
  // The first slot for a process that has another memory, and knows only this record.
  uint64_t Floor() const {
    if (is_clean != 0) return word;
    return intended > durable ? intended : durable;
  }
};
static_assert(sizeof(CeilingRecord) == 88);

// The protocol by which ceilings rise, over a `Storage` that can Read, Write and Sync
// the record; each returns false if it fails. The caller holds the storage's lock.
// test/native/ceiling_test.cc interrupts the protocol at every step, and shows
// that it breaks when two steps change places.

// Makes `target` a durable ceiling, or leaves a higher ceiling.
template <typename Storage>
bool RaiseCeiling(Storage& storage, CeilingRecord& record, uint64_t target) {
  record.is_clean = 0;
  if (record.intended < target) record.intended = target;
  if (!storage.Write(record)) return false;
  if (!storage.Sync()) return false;
  // Tells other processes that they need no sync of their own. The change needs no sync
  // itself: `intended` is on the disk, and a process that starts from the record uses
  // it.
  record.durable = record.intended;
  return storage.Write(record);
}

enum class Attached { kOk, kOtherMemory, kMoved, kFailed };

// The ceiling `reserve_ticks` above now, or above the word if the word is ahead.
inline uint64_t CeilingFrom(const Layout& layout, uint64_t word, uint64_t now_tick,
                            uint64_t reserve_ticks) {
  const uint64_t last = layout.max_tick;
  uint64_t tick = word == 0 ? now_tick : layout.TickOf(word - 1);
  if (tick < now_tick) tick = now_tick;
  if (tick > last) tick = last;
  const uint64_t end = reserve_ticks < last - tick ? tick + reserve_ticks : last;
  return (layout.FirstSlot(end) | (layout.Capacity() - 1)) + 1;
}

// Brings the word to the record's floor, unless the record is about this very word.
// Then raises the ceiling, unless it is high enough. `may_take_over` allows this for a
// record of another memory, in which no process counts any more.
template <typename Storage>
Attached Attach(Storage& storage, bool may_take_over, const CeilingRecord& own,
                State& state, const Layout& layout, uint64_t reserve_ticks,
                uint64_t now_tick, CeilingRecord* record) {
  if (!storage.Read(record)) return Attached::kFailed;
  const bool is_renamed = !record->IsOf(own);
  if (is_renamed) {
    if (!may_take_over) return Attached::kOtherMemory;
    const uint64_t floor = record->Floor();
    // Before the record names this memory: a process that is killed in between leaves a
    // record that sends the next process to the floor again.
    if (!RaiseFloor(state, floor)) return Attached::kMoved;
    // Ids below the floor may have the floor's time, so an earlier clock has stepped
    // back.
    if (floor > 0) RaiseTo(state.high_tick, layout.TickOf(floor - 1));
    record->TakeFrom(own);
  }
  const uint64_t word = state.word.load(std::memory_order_relaxed);
  // The page was sealed since it was opened, and a seal is no slot for a ceiling.
  if (word == kSealed) return Attached::kMoved;
  // A ceiling of another process is enough if it lasts for half of `reserve_ticks`. If
  // it had to last for all of them, every process would write.
  const uint64_t enough = CeilingFrom(layout, word, now_tick, reserve_ticks / 2 + 1);
  if (!is_renamed && record->is_clean == 0 && record->durable >= enough) {
    return Attached::kOk;
  }
  const uint64_t target = CeilingFrom(layout, word, now_tick, reserve_ticks);
  return RaiseCeiling(storage, *record, target) ? Attached::kOk : Attached::kFailed;
}

// After the last process: writes the exact word in place of the ceilings.
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

#endif  // GRAUPEL_HOST_CEILING_RECORD_H_
