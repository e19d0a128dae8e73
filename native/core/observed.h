#ifndef GRAUPEL_CORE_OBSERVED_H_
#define GRAUPEL_CORE_OBSERVED_H_

#include <cstdint>

#include "layout.h"

namespace graupel {

// Finds the least slot whose id is larger than `id`, an id of any node of the layout.
// False if there is none. The timestamp has to be the most significant field: the ids
// of the later slots are then larger, too. src/engine/js/slot-above.ts is the same in
// TypeScript, and docs/order-proof.md has the argument.
inline bool SlotAbove(const Layout& layout, uint64_t id, uint64_t* slot) {
  const uint64_t tick = id >> layout.timestamp_shift;
  if (tick > layout.max_tick) return false;
  const uint64_t sequence = (id >> layout.sequence_shift) & (layout.Capacity() - 1);
  const uint64_t stride = uint64_t{1} << layout.sequence_shift;
  const uint64_t first = layout.BaseId(tick);
  const uint64_t same = first + (sequence << layout.sequence_shift);
  *slot = layout.FirstSlot(tick);
  if (first > id) return true;
  *slot += sequence;
  if (same > id) return true;
  *slot += 1;
  if (sequence + 1 < layout.Capacity() && same + stride > id) return true;
  *slot = layout.FirstSlot(tick + 1);
  return tick < layout.max_tick;
}

}  // namespace graupel

#endif  // GRAUPEL_CORE_OBSERVED_H_
