// Where a reservation ends: at the ceiling, at a word that is sealed, and at a page
// that is no longer the one that others find.

#include <array>

#include "../../native/core/generator.h"
#include "check.h"
#include "setup.h"

namespace graupel {
namespace {

using enum Reserved;

void RunsEndBelowTheCeiling() {
  const Layout layout = MakeLayout(41, 10, 3);
  OwnState state;
  SequenceStart start;
  Run run;
  Request request = Want(4, 9, 100);
  request.ceiling = 32;
  CHECK(kCeiling == Reserve(state, layout, request, start, &run));
  CHECK(state.word == 0 && state.high_tick == 4, state.word.load());
  request.ceiling = 45;
  CHECK(kRun == Reserve(state, layout, request, start, &run));
  CHECK(run.first == 32 && run.count == 13, run.first, run.count);
  CHECK(kCeiling == Reserve(state, layout, request, start, &run));
  // The clock is at fault before the ceiling is.
  CHECK(kAhead == Reserve(state, layout, Want(4, 4, 1), start, &run));
  request.limit_tick = 4;
  CHECK(kAhead == Reserve(state, layout, request, start, &run));
  // A ceiling that fell behind, as that of a process that slept.
  request = Want(9, 9, 100);
  request.ceiling = 45;
  CHECK(kCeiling == Reserve(state, layout, request, start, &run));
  request.ceiling = UINT64_MAX;
  CHECK(kRun == Reserve(state, layout, request, start, &run) && run.count == 8);
}

void SealedStatesSendElsewhere() {
  const Layout layout = MakeLayout(41, 10, 3);
  OwnState from;
  OwnState to;
  OwnState last;
  SequenceStart start;
  Run run;
  CHECK(kRun == Reserve(from, layout, Want(7, 7, 3), start, &run));
  CHECK(kRun == Reserve(from, layout, Want(6, 7, 1), start, &run));
  CHECK(MoveTo(from, to) && from.word == kSealed && to.word == 60 && to.high_tick == 7);
  for (const uint64_t now : {uint64_t{0}, uint64_t{7}, layout.max_tick}) {
    CHECK(kMoved == Reserve(from, layout, Want(now, UINT64_MAX, 1), start, &run), now);
    CHECK(kMoved == ReserveUnused(from, layout, now, 1, &run), now);
  }
  CHECK(!RaiseFloor(from, 1000) && from.word == kSealed);
  from.Remember(layout, 9);
  CHECK(from.word == kSealed);
  // Whoever comes later finds it moved; what went on in between is not undone.
  CHECK(kRun == Reserve(to, layout, Want(7, 8, 9), start, &run) && run.first == 60);
  CHECK(MoveTo(from, to) && to.word == 69, to.word.load());
  // Not into a sealed one, where nobody would find it.
  CHECK(MoveTo(to, last) && last.word == 69);
  OwnState other;
  CHECK(kRun == Reserve(other, layout, Want(3, 3, 1), start, &run));
  CHECK(!MoveTo(other, to) && other.word == 25, other.word.load());
}

// Counts who asks.
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
  Thread thread(&state, layout);
  thread.ceiling = &ceiling;
  Generator generator(&thread, 1, SequenceStart());
  std::array<uint64_t, 64> ids;
  size_t filled;
  uint64_t id;
  // Before there is any.
  CHECK(generator.Next(2, &id) == Status::kCeiling && ceiling.urgent == 1);
  CHECK(generator.GrantUnused(2, 1) == Status::kAhead && ceiling.urgent == 1);
  ceiling.Set(40, 28);
  CHECK(generator.Next(2, &id) == Status::kOk && ceiling.early == 0);
  // Up to the alarm nobody is asked.
  CHECK(generator.Fill(2, 3, ids.data(), 11, &filled) == Status::kOk && filled == 11);
  CHECK(ceiling.early == 0 && state.word == 28, state.word.load());
  CHECK(generator.Fill(3, 3, ids.data(), 1, &filled) == Status::kOk);
  CHECK(ceiling.early == 1 && ceiling.now == 3, ceiling.early, ceiling.now);
  // The run that meets the ceiling ends there, and the next one has to wait.
  CHECK(generator.Fill(3, 9, ids.data(), 64, &filled) == Status::kAhead);
  CHECK(filled == 11 && ceiling.early == 2 && ceiling.urgent == 1, filled);
  CHECK(generator.Fill(6, 9, ids.data(), 64, &filled) == Status::kCeiling);
  CHECK(filled == 0 && ceiling.urgent == 2 && ceiling.now == 6, filled, ceiling.urgent);
  CHECK(generator.Grant(6, 9) == Status::kCeiling && ceiling.urgent == 3);
  ceiling.Set(80, 72);
  CHECK(generator.Fill(6, 6, ids.data(), 64, &filled) == Status::kAhead && filled == 8);
  // Ahead of the clock, the ceiling has nothing to do with it.
  CHECK(generator.Next(6, &id) == Status::kAhead && ceiling.urgent == 3);
  CHECK(ceiling.early == 2, ceiling.early);
}

// Says what it is told to, and counts how often it is asked.
struct Place : Whereabouts {
  bool IsCurrent() const override {
    ++asked;
    return is_current;
  }
  bool is_current = true;
  mutable int asked = 0;
};

void WhereaboutsAreAskedOncePerTick() {
  const Layout layout = MakeLayout(41, 10, 10);
  OwnState state;
  Place place;
  Thread thread(&state, layout);
  thread.whereabouts = &place;
  Generator generator(&thread, 1, SequenceStart());
  uint64_t id;
  for (int i = 0; i < 50; ++i) CHECK(generator.Next(7, &id) == Status::kOk);
  CHECK(place.asked == 1, place.asked);
  CHECK(generator.Next(8, &id) == Status::kOk && place.asked == 2, place.asked);
  // What was leased is this thread's, wherever the rest is counted now.
  CHECK(generator.Next(8, &id) == Status::kOk && generator.Next(8, &id) == Status::kOk);
  CHECK(thread.lease.end == 3 && place.asked == 2, thread.lease.end, place.asked);
  place.is_current = false;
  size_t filled;
  std::array<uint64_t, 9> ids;
  const uint64_t word = state.word;
  CHECK(generator.Next(9, &id) == Status::kMoved);
  CHECK(generator.Grant(9, 12) == Status::kMoved);
  CHECK(generator.GrantUnused(9, 1) == Status::kMoved);
  CHECK(generator.Fill(9, 9, ids.data(), 9, &filled) == Status::kMoved && filled == 0);
  CHECK(state.word == word && place.asked == 6, place.asked);
  // It is not remembered that it was elsewhere.
  place.is_current = true;
  CHECK(generator.Fill(9, 9, ids.data(), 9, &filled) == Status::kOk && filled == 9);
  CHECK(place.asked == 7, place.asked);
}

}  // namespace
}  // namespace graupel

int main() {
  using namespace graupel;
  RunsEndBelowTheCeiling();
  CeilingsAreAskedInTime();
  SealedStatesSendElsewhere();
  WhereaboutsAreAskedOncePerTick();
}
