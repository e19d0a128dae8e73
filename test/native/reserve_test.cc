// One thread, one step at a time: the result of each reservation, and the edges of the
// slot space.

#include <array>
#include <vector>

#include "../../native/core/generator.h"
#include "check.h"
#include "setup.h"
#include "subcommand.h"

namespace graupel {
namespace {

using Mode = SequenceStart::Mode;
using enum Status;

void LayoutsPlaceTheirParts() {
  Layout layout = MakeLayout(39, 16, 8, 0xabcd, true);
  layout.epoch_ms = 1000;
  layout.tick_ms = 10;
  uint64_t tick = 77;
  CHECK(!layout.ToTick(999, &tick) && tick == 77, tick);
  CHECK(layout.ToTick(1000, &tick) && tick == 0, tick);
  CHECK(layout.ToTick(1019, &tick) && tick == 1, tick);
  layout.epoch_ms = -1000;
  layout.tick_ms = 1;
  CHECK(layout.ToTick(-1, &tick) && tick == 999, tick);
  CHECK(layout.BaseId(3) == (3ull << 24 | 0xabcd), layout.BaseId(3));
  const uint64_t slot = layout.FirstSlot(5) + 9;
  CHECK(layout.TickOf(slot) == 5 && layout.SequenceOf(slot) == 9, slot);
}

void RunsBeginAtTheClockOrAtTheWord() {
  const Layout layout = MakeLayout(41, 10, 3);
  OwnState state;
  SequenceStart start;
  SlotRange range;
  CHECK(kOk == Reserve(state, layout, Want(4, 4, 5), start, &range));
  CHECK(range.first == 32 && range.count == 5, range.first, range.count);
  // The rest of the tick, and no more than that.
  CHECK(kOk == Reserve(state, layout, Want(4, 4, 5), start, &range));
  CHECK(range.first == 37 && range.count == 3, range.first, range.count);
  CHECK(kAhead == Reserve(state, layout, Want(4, 4, 1), start, &range));
  CHECK(state.word == 40, state.word.load());
  // After a step back of the clock, a reservation needs permission.
  CHECK(kAhead == Reserve(state, layout, Want(1, 4, 1), start, &range));
  CHECK(state.word == 40 && state.high_tick == 4, state.word.load());
  CHECK(kOk == Reserve(state, layout, Want(1, 5, 100, true), start, &range));
  CHECK(range.first == 40 && range.count == 8, range.first, range.count);
  CHECK(kOk == Reserve(state, layout, Want(1, 8, 100), start, &range));
  CHECK(range.first == 48 && range.count == 24, range.first, range.count);
  CHECK(kOk == Reserve(state, layout, Want(20, 20, 1), start, &range));
  CHECK(range.first == 160 && state.high_tick == 20, range.first);
}

void NothingIsIssuedBelowTheFloor() {
  const Layout layout = MakeLayout(41, 10, 3);
  OwnState state;
  SequenceStart start;
  SlotRange range;
  CHECK(kOk == Reserve(state, layout, Want(4, 4, 1), start, &range));
  CHECK(RaiseFloor(state, 20) == 33);
  CHECK(state.word == 33, state.word.load());
  state.Remember(layout, 4);
  CHECK(kOk == Reserve(state, layout, Want(6, 6, 1), start, &range));
  CHECK(RaiseFloor(state, layout.FirstSlot(9) + 2) == 49);
  CHECK(kAhead == Reserve(state, layout, Want(8, 8, 1), start, &range));
  // No slot is reused that this state has issued or passed over.
  for (uint64_t tick = 0; tick <= 9; ++tick) {
    CHECK(kAhead == ReserveUnused(state, layout, tick, 1, &range), tick, range.first);
  }
  CHECK(kOk == Reserve(state, layout, Want(9, 9, 1), start, &range));
  CHECK(range.first == 74, range.first);
  // Marks are complete again above the floor.
  CHECK(kOk == Reserve(state, layout, Want(11, 11, 1), start, &range));
  CHECK(kAhead == ReserveUnused(state, layout, 9, 1, &range));
  CHECK(kOk == ReserveUnused(state, layout, 10, 3, &range) && range.first == 80,
        range.first);
  CHECK(RaiseFloor(state, layout.FirstSlot(10) + 5) == 89);
  CHECK(kAhead == ReserveUnused(state, layout, 10, 1, &range), range.first);
}

void ExhaustedLayoutsStayExhausted() {
  for (const auto [timestamp, node, sequence] : {std::array{48, 0, 16},
                                                 {41, 10, 12},
                                                 {53, 0, 10},
                                                 {53, 0, 11},
                                                 {10, 0, 53},
                                                 {11, 0, 53},
                                                 {63, 0, 1},
                                                 {2, 4, 1},
                                                 {32, 16, 16}}) {
    const Layout layout = MakeLayout(timestamp, node, sequence);
    OwnState state;
    SequenceStart start;
    SlotRange range;
    const uint64_t last = layout.max_tick;
    CHECK(kOk == Reserve(state, layout, Want(last, UINT64_MAX, 1), start, &range));
    CHECK(range.first == layout.FirstSlot(last) && range.count == 1, range.first);
    CHECK(kOk ==
          Reserve(state, layout, Want(last, UINT64_MAX, UINT64_MAX), start, &range));
    CHECK(range.count == layout.Capacity() - 1, range.count, timestamp, sequence);
    state.Remember(layout, last);
    for (const uint64_t now : {uint64_t{0}, last - 1, last}) {
      CHECK(kAhead == Reserve(state, layout, Want(now, UINT64_MAX, 1), start, &range),
            now);
    }
    CHECK(state.word == layout.FirstSlot(last) + layout.Capacity(), state.word.load());
  }
  // One range over the whole slot space.
  const Layout whole = MakeLayout(48, 0, 16);
  OwnState state;
  SequenceStart start;
  SlotRange range;
  CHECK(kOk == Reserve(state, whole, Want(0, UINT64_MAX, UINT64_MAX), start, &range));
  CHECK(range.first == 0 && range.count == UINT64_MAX - 0xffff, range.count);
}

void SequencesStartAsAsked() {
  const Layout layout = MakeLayout(41, 10, 3);
  const Layout narrow = MakeLayout(41, 10, 1);
  SequenceStart rotate(Mode::kRotate, 0);
  for (uint64_t next = 0; next < 8; ++next) {
    const uint64_t first = rotate.First(layout, 80 + next);
    CHECK(first == (next < 4 ? next : 0), next, first);
  }
  // A tick with two numbers starts at either number; otherwise all ids would be even.
  CHECK(rotate.First(narrow, 3) == 1);
  SequenceStart random(Mode::kRandom, 0);
  // The first numbers of xorshift32 from 1.
  const Layout wide = MakeLayout(10, 0, 53);
  CHECK(random.First(wide, 0) == 270369);
  CHECK(random.First(wide, 0) == 67634689);
  std::array<int, 8> seen{};
  for (int i = 0; i < 1000; ++i) ++seen[random.First(layout, 0)];
  for (size_t i = 0; i < 8; ++i) CHECK((seen[i] > 0) == (i < 4), i, seen[i]);
  // The option is for new ticks: a word ahead of the clock continues at its slot.
  OwnState state;
  SequenceStart again(Mode::kRotate, 0);
  SlotRange range;
  for (const auto& [now, first] :
       {std::array<uint64_t, 2>{5, 40}, {5, 41}, {6, 50}, {7, 59}, {8, 64}, {8, 65}}) {
    CHECK(kOk == Reserve(state, layout, Want(now, now, 1), again, &range));
    CHECK(range.first == first, now, first, range.first);
  }
}

void RunsDoubleUpToA64th() {
  const Layout layout = MakeLayout(41, 10, 10);
  OwnState state;
  ThreadAccess access(&state, layout);
  Generator generator(&access, 1, SequenceStart());
  uint64_t id;
  std::vector<uint64_t> sizes;
  uint64_t last_word = layout.FirstSlot(7);
  for (uint64_t i = 0; i < layout.Capacity(); ++i) {
    CHECK(generator.Next(7, &id) == Status::kOk && id == layout.BaseId(7) + i, i, id);
    const uint64_t word = state.word;
    if (word != last_word) sizes.push_back(word - last_word);
    last_word = word;
  }
  CHECK(sizes.size() > 5 && sizes[0] == 1 && sizes[1] == 2 && sizes[2] == 4);
  for (const uint64_t size : sizes) CHECK(size <= 16, size);
  CHECK(generator.Next(7, &id) == Status::kAhead);
  CHECK(generator.issued() == 1024, generator.issued());
  CHECK(generator.Next(8, &id) == Status::kOk && access.run.size == 1);
  CHECK(generator.Next(layout.max_tick + 1, &id) == Status::kExpired);
  size_t filled;
  CHECK(generator.Fill(layout.max_tick + 1, UINT64_MAX, &id, 1, &filled) ==
            Status::kExpired &&
        filled == 0);
  // If a 64th of the tick is less than one slot, runs have one slot.
  OwnState small;
  ThreadAccess other(&small, MakeLayout(41, 10, 3));
  Generator single(&other, 1, SequenceStart());
  for (uint64_t i = 0; i < 8; ++i) {
    CHECK(single.Next(7, &id) == Status::kOk && small.word == 57 + i, i);
  }
}

void RunsBelongToTheirPolicy() {
  const Layout layout = MakeLayout(41, 10, 10);
  OwnState state;
  RaiseFloor(state, layout.FirstSlot(12));
  ThreadAccess access(&state, layout);
  Generator bold(&access, 1, SequenceStart());
  Generator timid(&access, 2, SequenceStart());
  uint64_t id = 0;
  CHECK(bold.Next(10, &id) == Status::kAhead);
  CHECK(bold.Grant(10, 11) == Status::kAhead);
  for (int i = 0; i < 4; ++i) {
    if (bold.Next(10, &id) == Status::kOk) continue;
    CHECK(bold.Grant(10, 12) == Status::kOk);
    CHECK(bold.Next(10, &id) == Status::kOk);
  }
  // Runs of 1 + 2 + 4 slots, with four ids made.
  CHECK(id == layout.BaseId(12) + 3 && access.run.end == 7, id, access.run.end);
  CHECK(timid.Next(10, &id) == Status::kAhead);
  CHECK(bold.Next(9, &id) == Status::kAhead);
  CHECK(bold.Next(11, &id) == Status::kOk && id == layout.BaseId(12) + 4, id);
  // Another generator with permission continues the run, up to its limit.
  CHECK(timid.Grant(10, 11) == Status::kAhead);
  CHECK(timid.Grant(11, 12) == Status::kOk && state.word == layout.FirstSlot(12) + 7);
  CHECK(timid.Next(11, &id) == Status::kOk && id == layout.BaseId(12) + 5, id);
  CHECK(bold.Next(11, &id) == Status::kAhead);
  // At the tick itself no policy is needed, and the rest of the run is lost.
  CHECK(bold.Next(12, &id) == Status::kOk && id == layout.BaseId(12) + 7, id);
  CHECK(access.run.holder == 0);
  // A run of the clock's own tick stays shared, even if it is granted.
  CHECK(bold.Next(12, &id) == Status::kOk);
  CHECK(bold.Grant(12, 20) == Status::kOk && access.run.holder == 0);
}

void RunsOutliveStepsOfTheClock() {
  const Layout layout = MakeLayout(41, 10, 10);
  OwnState state;
  ThreadAccess access(&state, layout);
  Generator generator(&access, 1, SequenceStart());
  uint64_t id;
  for (int i = 0; i < 4; ++i) CHECK(generator.Next(10, &id) == Status::kOk);
  CHECK(access.run.end == 7);
  CHECK(generator.Next(9, &id) == Status::kAhead);
  CHECK(generator.Next(10, &id) == Status::kOk && id == layout.BaseId(10) + 4, id);
  CHECK(generator.Next(12, &id) == Status::kOk && id == layout.BaseId(12), id);
  CHECK(generator.Next(10, &id) == Status::kAhead);
  // fill() gives up the rest of the run, or the next id would be less than its last.
  std::array<uint64_t, 3> array;
  CHECK(generator.Next(12, &id) == Status::kOk && access.run.sequence == 2);
  size_t filled;
  CHECK(generator.Fill(13, 13, array.data(), 3, &filled) == Status::kOk &&
        array[2] == layout.BaseId(13) + 2);
  CHECK(generator.Next(12, &id) == Status::kAhead);
}

void FillGoesAcrossTicks() {
  for (const bool sequence_above_node : {false, true}) {
    const Layout layout = MakeLayout(41, 10, 7, 5, sequence_above_node);
    OwnState state;
    ThreadAccess access(&state, layout);
    Generator generator(&access, 1, SequenceStart());
    std::array<uint64_t, 400> array;
    CHECK(generator.Next(4, array.data()) == Status::kOk);
    CHECK(generator.Next(4, array.data()) == Status::kOk);
    CHECK(access.run.end - access.run.sequence == 1);
    SlotRange other;
    SequenceStart start;
    CHECK(kOk == Reserve(state, layout, Want(4, 4, 5), start, &other) &&
          other.count == 5);
    // The rest of the run, then what another thread left of tick 4, then ticks 5 and 6.
    size_t filled;
    CHECK(generator.Fill(4, 6, array.data(), 400, &filled) == Status::kAhead);
    CHECK(filled == 377, filled);
    for (uint64_t i = 0; i < 377; ++i) {
      bool is_own;
      const uint64_t slot = SlotOfId(layout, array[i], &is_own);
      CHECK(is_own && slot == layout.FirstSlot(4) + 2 + i + (i > 0 ? 5 : 0), i, slot);
    }
    CHECK(generator.Fill(4, 6, array.data(), 400, &filled) == Status::kAhead);
    CHECK(generator.issued() == 379 && filled == 0, generator.issued(), filled);
    CHECK(generator.Fill(4, 7, array.data(), 0, &filled) == Status::kOk && filled == 0);
    CHECK(state.word == layout.FirstSlot(7), state.word.load());
  }
}

void UnusedSlotsAreGivenOnce() {
  const Layout layout = MakeLayout(41, 10, 3);
  OwnState state;
  SequenceStart start;
  SlotRange range;
  CHECK(kAhead == ReserveUnused(state, layout, 0, 1, &range));
  CHECK(kOk == Reserve(state, layout, Want(5, 5, 2), start, &range));
  state.Remember(layout, 5);
  const uint64_t word = state.word;
  state.Remember(layout, 5);
  CHECK(state.word == word && HistoryOf(state)->Usable());
  CHECK(kOk == Reserve(state, layout, Want(7, 7, 2), start, &range));
  CHECK(kOk == Reserve(state, layout, Want(9, 11, 20), start, &range));
  CHECK(kAhead == ReserveUnused(state, layout, 5, 1, &range));
  // Tick 6 was skipped, 7 used in part, 9 and 10 are full, 11 is not over.
  CHECK(kOk == ReserveUnused(state, layout, 6, 3, &range) && range.first == 48 &&
        range.count == 3);
  CHECK(kOk == ReserveUnused(state, layout, 6, 9, &range) && range.first == 51 &&
        range.count == 5);
  CHECK(kAhead == ReserveUnused(state, layout, 6, 1, &range));
  CHECK(kOk == ReserveUnused(state, layout, 7, 1, &range) && range.first == 58 &&
        range.count == 1);
  for (const uint64_t tick : {9, 10, 11}) {
    CHECK(kAhead == ReserveUnused(state, layout, tick, 1, &range), tick);
  }
  // After a range longer than the ring, only skipped ticks are known to be free.
  const uint64_t far = 11 + 3 * History::kTicks;
  CHECK(kOk == Reserve(state, layout, Want(12, far, far * 8), start, &range));
  CHECK(state.word == layout.FirstSlot(far + 1), state.word.load());
  for (uint64_t tick = 0; tick <= far; ++tick) {
    CHECK(kAhead == ReserveUnused(state, layout, tick, 1, &range), tick);
  }
  CHECK(kOk == Reserve(state, layout, Want(far + 2, far + 2, 1), start, &range));
  CHECK(kOk == ReserveUnused(state, layout, far + 1, 1, &range));
}

void Reserving(int, char**) {
  LayoutsPlaceTheirParts();
  RunsBeginAtTheClockOrAtTheWord();
  NothingIsIssuedBelowTheFloor();
  ExhaustedLayoutsStayExhausted();
  SequencesStartAsAsked();
  RunsDoubleUpToA64th();
  RunsBelongToTheirPolicy();
  RunsOutliveStepsOfTheClock();
  FillGoesAcrossTicks();
  UnusedSlotsAreGivenOnce();
}

const Subcommand kReserving{"reserve", Reserving};

}  // namespace
}  // namespace graupel
