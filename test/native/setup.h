#ifndef GRAUPEL_TEST_SETUP_H_
#define GRAUPEL_TEST_SETUP_H_

#include <cstddef>
#include <cstdint>

#include "../../native/core/reuse.h"
#include "../../native/core/state.h"
#include "../../native/core/succession.h"

namespace graupel {

inline uint64_t LowBits(int bits) {
  return bits == 64 ? UINT64_MAX : (uint64_t{1} << bits) - 1;
}

// timestamp, node, sequence; or, as in sonyflake, timestamp, sequence, node.
// max_tick as in src/layout/layout.ts: one less than fits if time and
// sequence fill all 64 bits.
inline Layout MakeLayout(int timestamp_bits, int node_width, int sequence_bits,
                         uint64_t node = 0, bool sequence_above_node = false) {
  Layout layout;
  layout.sequence_bits = static_cast<uint8_t>(sequence_bits);
  layout.sequence_shift = static_cast<uint8_t>(sequence_above_node ? node_width : 0);
  layout.timestamp_shift = static_cast<uint8_t>(node_width + sequence_bits);
  layout.node_bits = sequence_above_node ? node : node << sequence_bits;
  layout.max_tick =
      LowBits(timestamp_bits) - (timestamp_bits + sequence_bits == 64 ? 1 : 0);
  return layout;
}

// The slot of an id, computed by other means. Sets `*is_own` to whether the rest of the
// id is the layout's node.
inline uint64_t SlotOfId(const Layout& layout, uint64_t id, bool* is_own) {
  const uint64_t sequence = id >> layout.sequence_shift & LowBits(layout.sequence_bits);
  const uint64_t tick = id >> layout.timestamp_shift;
  const uint64_t rest = id - tick * (uint64_t{1} << layout.timestamp_shift) -
                        sequence * (uint64_t{1} << layout.sequence_shift);
  *is_own = rest == layout.node_bits && tick <= layout.max_tick;
  return tick * (LowBits(layout.sequence_bits) + 1) + sequence;
}

inline Request Want(uint64_t now, uint64_t limit, uint64_t want,
                    bool one_tick = false) {
  Request request;
  request.now_tick = now;
  request.limit_tick = limit;
  request.want = want;
  request.one_tick = one_tick;
  return request;
}

// A State with memory for its history behind it, as in a page. Two histories, because
// in process memory two threads may each bring one at the same time.
struct OwnState : State {
  void Remember(const Layout& layout, uint64_t now_tick, size_t which = 0) {
    EnableHistory(*this, layout, now_tick, &histories[which]);
  }

  History histories[2];
};

}  // namespace graupel

#endif  // GRAUPEL_TEST_SETUP_H_
