// The end of a reservation: at the ceiling, at a sealed word, and at a page that is no
// longer at its path.

#include <array>

#include "../../native/core/ceiling.h"
#include "../../native/core/generator.h"
#include "check.h"
#include "setup.h"
#include "subcommand.h"

namespace graupel {
namespace {

using enum Status;

void RunsEndBelowTheCeiling() {
  const Layout layout = MakeLayout(41, 10, 3);
  OwnState state;
  SequenceStart start;
  SlotRange range;
  Request request = Want(4, 9, 100);
  request.ceiling = 32;
  CHECK(kCeiling == Reserve(state, layout, request, start, &range));
  CHECK(state.word == 0 && state.high_tick == 4, state.word.load());
  request.ceiling = 45;
  CHECK(kOk == Reserve(state, layout, request, start, &range));
  CHECK(range.first == 32 && range.count == 13, range.first, range.count);
  CHECK(kCeiling == Reserve(state, layout, request, start, &range));
  // A word ahead of the clock is reported before the ceiling is.
  CHECK(kAhead == Reserve(state, layout, Want(4, 4, 1), start, &range));
  request.limit_tick = 4;
  CHECK(kAhead == Reserve(state, layout, request, start, &range));
  // The ceiling is below the clock, as after the sleep of a process.
  request = Want(9, 9, 100);
  request.ceiling = 45;
  CHECK(kCeiling == Reserve(state, layout, request, start, &range));
  request.ceiling = UINT64_MAX;
  CHECK(kOk == Reserve(state, layout, request, start, &range) && range.count == 8);
}

void SealedStatesAnswerThatTheyMoved() {
  const Layout layout = MakeLayout(41, 10, 3);
  OwnState from;
  OwnState to;
  OwnState last;
  SequenceStart start;
  SlotRange range;
  CHECK(kOk == Reserve(from, layout, Want(7, 7, 3), start, &range));
  CHECK(kOk == Reserve(from, layout, Want(6, 7, 1), start, &range));
  CHECK(MoveTo(from, to) && from.word == kSealed && to.word == 60 && to.high_tick == 7);
  for (const uint64_t now : {uint64_t{0}, uint64_t{7}, layout.max_tick}) {
    CHECK(kMoved == Reserve(from, layout, Want(now, UINT64_MAX, 1), start, &range),
          now);
    CHECK(kMoved == ReserveUnused(from, layout, now, 1, &range), now);
  }
  CHECK(!RaiseFloor(from, 1000) && from.word == kSealed);
  from.Remember(layout, 9);
  CHECK(from.word == kSealed);
  // A second MoveTo() finds the word moved, and does not undo what was issued since.
  CHECK(kOk == Reserve(to, layout, Want(7, 8, 9), start, &range) && range.first == 60);
  CHECK(MoveTo(from, to) && to.word == 69, to.word.load());
  // Slots do not move to a sealed state, because no thread would find them there.
  CHECK(MoveTo(to, last) && last.word == 69);
  OwnState other;
  CHECK(kOk == Reserve(other, layout, Want(3, 3, 1), start, &range));
  CHECK(!MoveTo(other, to) && other.word == 25, other.word.load());
}

// Counts the calls of Ask().
class CountingCeiling : public Ceiling {
 public:
  void Ask(uint64_t now_tick, bool is_urgent) override {
    now = now_tick;
    ++(is_urgent ? urgent : early);
  }
  void Set(uint64_t slot, uint64_t alarm) { Raise(slot, alarm); }

  uint64_t now = 0;
  int urgent = 0;
  int early = 0;
};

void CeilingsAreAskedInTime() {
  const Layout layout = MakeLayout(41, 10, 3);
  OwnState state;
  CountingCeiling ceiling;
  ThreadAccess access(&state, layout);
  access.ceiling = &ceiling;
  Generator generator(&access, 1, SequenceStart());
  std::array<uint64_t, 64> ids;
  size_t filled;
  uint64_t id;
  // The ceiling was never raised.
  CHECK(generator.Next(2, &id) == Status::kCeiling && ceiling.urgent == 1);
  CHECK(generator.GrantUnused(2, 1) == Status::kAhead && ceiling.urgent == 1);
  ceiling.Set(40, 28);
  CHECK(generator.Next(2, &id) == Status::kOk && ceiling.early == 0);
  // Below the alarm, Ask() is not called.
  CHECK(generator.Fill(2, 3, ids.data(), 11, &filled) == Status::kOk && filled == 11);
  CHECK(ceiling.early == 0 && state.word == 28, state.word.load());
  CHECK(generator.Fill(3, 3, ids.data(), 1, &filled) == Status::kOk);
  CHECK(ceiling.early == 1 && ceiling.now == 3, ceiling.early, ceiling.now);
  // The run that meets the ceiling ends there, and the next run has to wait.
  CHECK(generator.Fill(3, 9, ids.data(), 64, &filled) == Status::kAhead);
  CHECK(filled == 11 && ceiling.early == 2 && ceiling.urgent == 1, filled);
  CHECK(generator.Fill(6, 9, ids.data(), 64, &filled) == Status::kCeiling);
  CHECK(filled == 0 && ceiling.urgent == 2 && ceiling.now == 6, filled, ceiling.urgent);
  CHECK(generator.Grant(6, 9) == Status::kCeiling && ceiling.urgent == 3);
  ceiling.Set(80, 72);
  CHECK(generator.Fill(6, 6, ids.data(), 64, &filled) == Status::kAhead && filled == 8);
  // A word ahead of the clock asks for no ceiling.
  CHECK(generator.Next(6, &id) == Status::kAhead && ceiling.urgent == 3);
  CHECK(ceiling.early == 2, ceiling.early);
}

// One call raises it for all threads, and no call lowers it.
void ExternalCeilingsRiseByCalls() {
  const Layout layout = MakeLayout(41, 10, 3);
  OwnState process_state;
  ExternalCeiling ceiling(process_state.external_ceiling);
  ExternalCeiling other(process_state.external_ceiling);
  ThreadAccess access(&process_state, layout);
  access.ceiling = &ceiling;
  Generator generator(&access, 1, SequenceStart());
  std::array<uint64_t, 64> ids;
  size_t filled;
  uint64_t id;
  CHECK(generator.Next(2, &id) == Status::kCeiling && process_state.word == 0);
  other.RaiseTo(20);
  ceiling.RaiseTo(19);
  CHECK(ceiling.slot() == 20 && other.slot() == 20, ceiling.slot());
  CHECK(generator.Fill(2, 9, ids.data(), 64, &filled) == Status::kAhead && filled == 4);
  CHECK(generator.Fill(2, 9, ids.data(), 64, &filled) == Status::kCeiling);
  CHECK(filled == 0 && process_state.word == 20, process_state.word.load());
  other.RaiseTo(21);
  CHECK(generator.Next(2, &id) == Status::kOk);
  CHECK(generator.Next(2, &id) == Status::kCeiling);
}

// Answers `is_current`, and counts the calls.
struct Place : Replaceable {
  bool IsCurrent() const override {
    ++asked;
    return is_current;
  }
  bool is_current = true;
  mutable int asked = 0;
};

void PagesAreCheckedOncePerTick() {
  const Layout layout = MakeLayout(41, 10, 10);
  OwnState state;
  Place place;
  ThreadAccess access(&state, layout);
  access.replaceable = &place;
  Generator generator(&access, 1, SequenceStart());
  uint64_t id;
  for (int i = 0; i < 50; ++i) CHECK(generator.Next(7, &id) == Status::kOk);
  CHECK(place.asked == 1, place.asked);
  CHECK(generator.Next(8, &id) == Status::kOk && place.asked == 2, place.asked);
  // The rest of a run belongs to the thread, even if the word has moved.
  CHECK(generator.Next(8, &id) == Status::kOk && generator.Next(8, &id) == Status::kOk);
  CHECK(access.run.end == 3 && place.asked == 2, access.run.end, place.asked);
  place.is_current = false;
  size_t filled;
  std::array<uint64_t, 9> ids;
  const uint64_t word = state.word;
  CHECK(generator.Next(9, &id) == Status::kMoved);
  CHECK(generator.Grant(9, 12) == Status::kMoved);
  CHECK(generator.GrantUnused(9, 1) == Status::kMoved);
  CHECK(generator.Fill(9, 9, ids.data(), 9, &filled) == Status::kMoved && filled == 0);
  CHECK(state.word == word && place.asked == 6, place.asked);
  // The answer is not kept: the next call asks again.
  place.is_current = true;
  CHECK(generator.Fill(9, 9, ids.data(), 9, &filled) == Status::kOk && filled == 9);
  CHECK(place.asked == 7, place.asked);
}

void Bounds(int, char**) {
  RunsEndBelowTheCeiling();
  CeilingsAreAskedInTime();
  ExternalCeilingsRiseByCalls();
  SealedStatesAnswerThatTheyMoved();
  PagesAreCheckedOncePerTick();
}

const Subcommand kBounds{"bounds", Bounds};

}  // namespace
}  // namespace graupel
