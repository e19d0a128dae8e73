// Observed ids: the slot above an id of another node, the slots of a run below it, and
// the tick to which such ids have led the word.

#include "../../native/core/observed.h"

#include "../../native/core/generator.h"
#include "check.h"
#include "random.h"
#include "setup.h"
#include "subcommand.h"

namespace graupel {
namespace {

// A layout of at most 9 bits with node fields above and below the sequence.
struct SmallLayout {
  explicit SmallLayout(Random& random) {
    const auto bits = [&](uint64_t most) {
      return static_cast<int>(random.Below(most + 1));
    };
    const int below = bits(2);
    const int sequence = 1 + bits(1);
    const int above = bits(2);
    const int timestamp = 1 + bits(2);
    layout.sequence_bits = static_cast<uint8_t>(sequence);
    layout.sequence_shift = static_cast<uint8_t>(below);
    layout.timestamp_shift = static_cast<uint8_t>(below + sequence + above);
    layout.max_tick = LowBits(timestamp);
    const uint64_t node = random.Below(uint64_t{1} << (above + below));
    layout.node_bits = (node >> below << (below + sequence)) | (node & LowBits(below));
    ids = uint64_t{1} << (timestamp + above + sequence + below);
  }

  uint64_t IdOf(uint64_t slot) const {
    return layout.BaseId(layout.TickOf(slot)) +
           (layout.SequenceOf(slot) << layout.sequence_shift);
  }

  Layout layout;
  uint64_t ids;  // The number of ids of all nodes.
};

void TheSlotIsTheFirstOfAll() {
  Random random(test_seed);
  for (int round = 0; round < 500; ++round) {
    const SmallLayout small(random);
    const Layout& layout = small.layout;
    CHECK(layout.IsSound());
    const uint64_t end = layout.FirstSlot(layout.max_tick + 1);
    for (uint64_t id = 0; id < small.ids; ++id) {
      uint64_t least = 0;
      while (least < end && small.IdOf(least) <= id) ++least;
      uint64_t slot = 0;
      const bool is_found = SlotAbove(layout, id, &slot);
      CHECK(is_found == (least < end), id, least, round);
      CHECK(!is_found || slot == least, id, slot, least, round);
    }
    // An id of a tick that the layout does not have.
    uint64_t slot = 0;
    CHECK(!SlotAbove(layout, (layout.max_tick + 1) << layout.timestamp_shift, &slot));
  }
}

void ARunGoesOnAboveTheSlot() {
  const Layout layout = MakeLayout(41, 4, 8, 5);
  OwnState state;
  ThreadAccess access(&state, layout);
  Generator ids(&access, 1, SequenceStart());
  const auto sequence_of_next = [&](uint64_t now_tick) {
    uint64_t id = 0;
    CHECK(ids.Next(now_tick, &id) == Status::kOk, now_tick);
    bool is_own = false;
    return SlotOfId(layout, id, &is_own) - layout.FirstSlot(now_tick);
  };
  // The runs have 1, 2 and 4 slots, which is the most in a tick of 256.
  for (uint64_t i = 0; i < 4; ++i) CHECK(sequence_of_next(7) == i, i);
  ids.DropBelow(layout.FirstSlot(7) + 2);
  CHECK(sequence_of_next(7) == 4);
  ids.DropBelow(layout.FirstSlot(7) + 6);
  CHECK(sequence_of_next(7) == 6);
  // The slot is in no run of this thread: nothing of the run is left.
  const uint64_t slot = layout.FirstSlot(7) + 100;
  CHECK(RaiseFloor(state, slot).has_value());
  ids.DropBelow(slot);
  CHECK(sequence_of_next(7) == 100);
  ids.DropBelow(layout.FirstSlot(9));
  CHECK(sequence_of_next(7) > 100);
}

void SlotsOfAPastTickAreKept() {
  const Layout layout = MakeLayout(41, 4, 8, 5);
  OwnState state;
  state.Remember(layout, 5);
  ThreadAccess access(&state, layout);
  Generator ids(&access, 1, SequenceStart());
  uint64_t id = 0;
  CHECK(ids.Next(6, &id) == Status::kOk && ids.Next(9, &id) == Status::kOk);
  CHECK(ids.Next(6, &id) == Status::kAhead);
  CHECK(ids.GrantUnused(6, 8) == Status::kOk);
  CHECK(ids.Next(6, &id) == Status::kOk);
  const uint64_t first = id;
  ids.DropBelow(layout.FirstSlot(9));
  CHECK(ids.Next(6, &id) == Status::kOk && id == first + 1, id, first);
}

void IdsAheadOfTheClockLeadTheObservedTickOn() {
  const Layout layout = MakeLayout(41, 4, 3, 5);
  OwnState state;
  SequenceStart start;
  SlotRange range;
  // Nothing was observed, so the word is ahead for other reasons.
  CHECK(Reserve(state, layout, Want(4, 6, 9), start, &range) == Status::kOk);
  CHECK(state.observed_tick == 0, state.observed_tick.load());
  RaiseTo(state.observed_tick, 8);
  CHECK(RaiseFloor(state, layout.FirstSlot(8)).has_value());
  CHECK(Reserve(state, layout, Want(4, 12, 20), start, &range) == Status::kOk);
  CHECK(state.observed_tick == 10, state.observed_tick.load());
  // The clock has passed the observed tick: the ids are its own.
  CHECK(Reserve(state, layout, Want(11, 14, 20), start, &range) == Status::kOk);
  CHECK(state.observed_tick == 10, state.observed_tick.load());
  OwnState next;
  CHECK(MoveTo(state, next) && next.observed_tick == 10, next.observed_tick.load());
}

void Observed(int argc, char** argv) {
  test_seed = Argument(argc, argv, "--seed", 1);
  TheSlotIsTheFirstOfAll();
  ARunGoesOnAboveTheSlot();
  SlotsOfAPastTickAreKept();
  IdsAheadOfTheClockLeadTheObservedTickOn();
}

const Subcommand kObserved{"observed", Observed};

}  // namespace
}  // namespace graupel
