#ifndef GRAUPEL_CORE_LAYOUT_H_
#define GRAUPEL_CORE_LAYOUT_H_

#include <cstdint>

namespace graupel {

// Where the three parts of an id lie. The facade has checked every number in
// here (src/layout/define.ts), so nothing is checked again.
struct Layout {
  int64_t epoch_ms = 0;
  int64_t tick_ms = 1;
  uint64_t max_tick = 0;
  uint64_t node_bits = 0;  // The node's fields, already shifted to their place.
  uint8_t sequence_bits = 0;
  uint8_t sequence_shift = 0;
  uint8_t timestamp_shift = 0;

  // A slot is a point in time and sequence: tick << sequence_bits | sequence.
  uint64_t FirstSlot(uint64_t tick) const { return tick << sequence_bits; }
  uint64_t TickOf(uint64_t slot) const { return slot >> sequence_bits; }
  uint64_t SequenceOf(uint64_t slot) const { return slot & (Capacity() - 1); }

  // Ids in one tick.
  uint64_t Capacity() const { return uint64_t{1} << sequence_bits; }

  // The id of a tick's sequence number 0; add sequence << sequence_shift.
  uint64_t BaseId(uint64_t tick) const { return (tick << timestamp_shift) | node_bits; }

  // False when the time lies before the epoch, which no id can say.
  bool ToTick(int64_t now_ms, uint64_t* tick) const {
    if (now_ms < epoch_ms) return false;
    const auto since = static_cast<uint64_t>(now_ms - epoch_ms);
    // Most layouts count milliseconds, and a 64-bit division by a variable
    // costs as much as the rest of the call.
    *tick = tick_ms == 1 ? since : since / static_cast<uint64_t>(tick_ms);
    return true;
  }
};

}  // namespace graupel

#endif  // GRAUPEL_CORE_LAYOUT_H_
