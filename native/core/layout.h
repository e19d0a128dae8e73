#ifndef GRAUPEL_CORE_LAYOUT_H_
#define GRAUPEL_CORE_LAYOUT_H_

#include <bit>
#include <cstdint>

namespace graupel {

// The bits of the three parts of an id. The functions divide and shift by its numbers
// without a check, so code that takes the numbers from outside calls IsSound() first.
struct Layout {
  int64_t epoch_ms = 0;
  int64_t tick_ms = 1;
  uint64_t max_tick = 0;
  uint64_t node_bits = 0;  // The node's fields, shifted as in an id.
  uint8_t sequence_bits = 0;
  uint8_t sequence_shift = 0;
  uint8_t timestamp_shift = 0;

  // Whether the parts lie side by side in 64 bits. The rules of src/layout/define.ts
  // are narrower.
  bool IsSound() const {
    // A tick has to be exact as a double.
    constexpr uint64_t kMaxTick = (uint64_t{1} << 53) - 1;
    if (tick_ms < 1 || max_tick > kMaxTick) return false;
    if (sequence_bits < 1 || sequence_bits > 63 || timestamp_shift > 63) return false;
    if (sequence_shift > 64 - sequence_bits) return false;
    // The state word counts one past the last slot, and kSealed is no slot.
    if (max_tick >= UINT64_MAX >> sequence_bits) return false;
    if (max_tick > UINT64_MAX >> timestamp_shift) return false;
    return (Sequences() & Ticks()) == 0 && ((Sequences() | Ticks()) & node_bits) == 0;
  }

  // Whether tags with these bits leave the bits of the other parts free.
  bool HasRoomFor(uint64_t tag_bits) const {
    return ((Sequences() | Ticks() | node_bits) & tag_bits) == 0;
  }

  // The bits of an id that its sequence may have.
  uint64_t Sequences() const { return (Capacity() - 1) << sequence_shift; }
  // The bits of its timestamp: all ones up to the highest one of the last tick.
  uint64_t Ticks() const {
    if (max_tick == 0) return 0;
    return UINT64_MAX >> std::countl_zero(max_tick) << timestamp_shift;
  }

  // A slot is a point in time and sequence: tick << sequence_bits | sequence.
  uint64_t FirstSlot(uint64_t tick) const { return tick << sequence_bits; }
  uint64_t TickOf(uint64_t slot) const { return slot >> sequence_bits; }
  uint64_t SequenceOf(uint64_t slot) const { return slot & (Capacity() - 1); }

  // Ids in one tick.
  uint64_t Capacity() const { return uint64_t{1} << sequence_bits; }

  // The id of a tick's sequence number 0; add sequence << sequence_shift.
  uint64_t BaseId(uint64_t tick) const { return (tick << timestamp_shift) | node_bits; }

  // False if the time lies before the epoch, because no id has such a time.
  bool ToTick(int64_t now_ms, uint64_t* tick) const {
    if (now_ms < epoch_ms) return false;
    // Unsigned, because the difference may be more than an int64_t holds.
    const uint64_t since =
        static_cast<uint64_t>(now_ms) - static_cast<uint64_t>(epoch_ms);
    // Most layouts count milliseconds, and a 64-bit division by a variable
    // costs as much as the rest of the call.
    *tick = tick_ms == 1 ? since : since / static_cast<uint64_t>(tick_ms);
    return true;
  }
};

}  // namespace graupel

#endif  // GRAUPEL_CORE_LAYOUT_H_
