// Checks of the numbers from outside that describe a layout.

#include "../../native/core/layout.h"

#include "check.h"
#include "setup.h"
#include "subcommand.h"

namespace graupel {
namespace {

// Each part has its largest or smallest size, in any order.
void WhatDefineLayoutMakesIsSound() {
  for (int timestamp = 1; timestamp <= 53; ++timestamp) {
    for (int node = 0; node <= 53; ++node) {
      for (int sequence = 1; sequence <= 53; ++sequence) {
        if (timestamp + node + sequence > 64) continue;
        const Layout below = MakeLayout(timestamp, node, sequence, LowBits(node));
        CHECK(below.IsSound(), timestamp, node, sequence);
        const Layout above = MakeLayout(timestamp, node, sequence, LowBits(node), true);
        CHECK(above.IsSound(), timestamp, node, sequence);
      }
    }
  }
  // The time at the very right, with the sequence on top.
  Layout upside_down;
  upside_down.max_tick = LowBits(41);
  upside_down.sequence_bits = 12;
  upside_down.sequence_shift = 52;
  upside_down.node_bits = LowBits(11) << 41;
  CHECK(upside_down.IsSound());
  upside_down.tick_ms = INT64_MAX;
  upside_down.epoch_ms = INT64_MIN;
  CHECK(upside_down.IsSound());
  // The sanitizer must accept every time of the clock.
  uint64_t tick;
  for (const int64_t now_ms : {INT64_MIN, int64_t{0}, INT64_MAX}) {
    CHECK(upside_down.ToTick(now_ms, &tick) && tick <= 2, tick);
  }
}

template <typename Change>
void Refused(int line, Change change) {
  Layout layout = MakeLayout(41, 10, 12, 1023);
  CHECK(layout.IsSound());
  change(layout);
  CHECK(!layout.IsSound(), line);
}

#define REFUSED(change) Refused(__LINE__, [](Layout& layout) { layout.change; })

void WhatWouldDivideByZeroOrShiftTooFarIsNot() {
  REFUSED(tick_ms = 0);
  REFUSED(tick_ms = -1);
  REFUSED(sequence_bits = 0);
  REFUSED(sequence_bits = 64);
  REFUSED(sequence_bits = 255);
  REFUSED(sequence_shift = 53);
  REFUSED(sequence_shift = 64);
  REFUSED(sequence_shift = 255);
  REFUSED(timestamp_shift = 64);
  REFUSED(timestamp_shift = 255);
}

void WhatWouldMakeEqualIdsIsNot() {
  // Ticks that lose bits, or a word that would wrap around after the last tick.
  REFUSED(max_tick = LowBits(43));
  REFUSED(max_tick = LowBits(54));
  REFUSED(max_tick = UINT64_MAX);
  Layout whole = MakeLayout(44, 0, 20);
  CHECK(whole.IsSound());
  ++whole.max_tick;
  CHECK(!whole.IsSound());
  // Parts that overlap.
  REFUSED(timestamp_shift = 11);
  REFUSED(sequence_shift = 11);
  REFUSED(node_bits = 1);
  REFUSED(node_bits = UINT64_MAX);
  REFUSED(node_bits = uint64_t{1} << 22);
}

void Layouts(int, char**) {
  WhatDefineLayoutMakesIsSound();
  WhatWouldDivideByZeroOrShiftTooFarIsNot();
  WhatWouldMakeEqualIdsIsNot();
}

const Subcommand kLayouts{"layout", Layouts};

}  // namespace
}  // namespace graupel
