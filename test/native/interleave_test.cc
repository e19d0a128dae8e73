// Every interleaving with few preemptions of short scenes on the real headers: a race
// that real threads meet once in a million rounds is met here each time.

#include <algorithm>
#include <cstdio>
#include <optional>

#include "scheduled_atomic.h"
// The core has to come after it.
#include "../../native/core/generator.h"
#include "check.h"
#include "setup.h"
#include "subcommand.h"

namespace graupel {
namespace interleaving {
namespace {

// The word of the device that announces copies.
std::atomic<uint64_t> machine{0};

// One thread of a scene: a generator and its ids. It begins on the first of two states,
// and goes to the second state when it learns that the slots moved.
class Actor {
 public:
  Actor(OwnState* states, size_t index, const Layout& layout)
      : states_(states),
        index_(index),
        layout_(layout),
        access_(states, layout),
        generator_(&access_, 1, {}) {}

  // Makes `count` ids, in ticks up to `limit`.
  void Fill(uint64_t now, uint64_t limit, size_t count) {
    uint64_t ids[64];
    size_t filled;
    Status status = generator_.Fill(now, limit, ids, count, &filled);
    if (status == Status::kMoved) {
      CHECK(filled == 0, filled);
      Follow();
      status = generator_.Fill(now, limit, ids, count, &filled);
    }
    CHECK(IsExpected(status), status);
    for (size_t i = 0; i < filled; ++i) Take(ids[i]);
  }
  void Next(uint64_t now) {
    uint64_t id;
    Status status = generator_.Next(now, &id);
    if (status == Status::kMoved) {
      Follow();
      status = generator_.Next(now, &id);
    }
    CHECK(IsExpected(status), status);
    if (status == Status::kOk) Take(id);
  }
  // Reuses slots of the past tick `now`: the clock stepped back.
  void Unused(uint64_t now, int count = 1) {
    for (; count > 0; --count) {
      if (generator_.GrantUnused(now, 1) == Status::kOk) Next(now);
    }
  }
  // The machine is copied in this step, and this is the copy: the original will issue
  // every slot that no call has taken.
  void Copy(const std::vector<std::unique_ptr<Actor>>& actors) {
    machine.store(1);
    original_from = states_[0].word.peek();
    for (const auto& actor : actors) {
      const Run& run = actor->access_.run;
      for (uint64_t at = run.sequence; at < run.end; ++at) {
        original_slots.push_back(layout_.FirstSlot(run.tick) + at);
      }
    }
  }
  void Enable(uint64_t now) { state().Remember(layout_, now, index_ % 2); }
  // Another owner of the node has issued all slots below tick `floor`.
  void Raise(uint64_t floor) {
    raised_to = layout_.FirstSlot(floor);
    std::optional<uint64_t> former;
    while (!(former = RaiseFloor(state(), raised_to)).has_value()) Follow();
    raised_from = *former;
  }
  // The process finds another page at the path.
  void Follow() {
    CHECK(MoveTo(states_[0], states_[1]));
    Go();
  }
  // The process has not noticed the move, and does not notice it now.
  void Try(uint64_t now) {
    uint64_t id;
    if (generator_.Next(now, &id) == Status::kOk) Take(id);
  }
  // The first page is at the path again, sealed, and the second page is deleted.
  void Begin(uint64_t now) {
    CHECK(states_[0].word.load() == kSealed);
    BeginAt(states_[0], kSealed, BeginningOf(states_[0], layout_, &now));
    access_.state = &states_[0];
  }
  // The process has only the second page.
  void Go() { access_.state = &states_[1]; }

  std::vector<uint64_t> slots;
  // The ceiling of the last call of Raise().
  uint64_t raised_from = 0;
  uint64_t raised_to = 0;
  // The slots that the original issues after Copy().
  uint64_t original_from = UINT64_MAX;
  std::vector<uint64_t> original_slots;

 private:
  static bool IsExpected(Status status) {
    return status == Status::kOk || status == Status::kAhead ||
           (status == Status::kCloned && machine.peek() != 0);
  }
  OwnState& state() { return static_cast<OwnState&>(*access_.state); }

  void Take(uint64_t id) {
    bool is_own;
    slots.push_back(SlotOfId(layout_, id, &is_own));
    CHECK(is_own, id);
  }

  OwnState* const states_;
  const size_t index_;
  const Layout layout_;
  ThreadAccess access_;
  Generator generator_;
};

using Play = std::function<void(Actor&)>;

struct Scene {
  const char* name;
  // Lower ticks belong to another owner after RaiseFloor has returned.
  uint64_t foreign_below;
  Play before;
  std::vector<Play> plays;
};

size_t Explore(const Scene& scene, int preemptions) {
  const Layout layout = MakeLayout(20, 0, 2);
  std::unique_ptr<OwnState[]> states;
  std::vector<std::unique_ptr<Actor>> actors;
  const auto prepare = [&] {
    states = std::make_unique<OwnState[]>(2);
    actors.clear();
    for (size_t i = 0; i <= scene.plays.size(); ++i) {
      actors.push_back(std::make_unique<Actor>(states.get(), i, layout));
    }
    scene.before(*actors.back());
    std::vector<Scheduler::Body> bodies;
    for (size_t i = 0; i < scene.plays.size(); ++i) {
      bodies.push_back([&scene, &actor = *actors[i], i] { scene.plays[i](actor); });
    }
    return bodies;
  };
  const auto check = [&] {
    Actor& last = *actors.back();
    const size_t count_before = last.slots.size();
    const bool is_moved = states[0].word.load() == kSealed;
    // Issues all free slots afterwards: the rest of each tick, which includes an issued
    // slot if a mark is too low. On both states, because some process may not have
    // noticed the move.
    for (uint64_t tick = 0; tick < 40; ++tick) last.Unused(tick, 5);
    if (is_moved) {
      CHECK(last.slots.size() == count_before);
      last.Go();
      for (uint64_t tick = 0; tick < 40; ++tick) last.Unused(tick, 5);
      last.Fill(0, 60, 10);
    }
    std::vector<uint64_t> slots;
    for (const auto& actor : actors) {
      slots.insert(slots.end(), actor->slots.begin(), actor->slots.end());
    }
    std::sort(slots.begin(), slots.end());
    const auto twice = std::adjacent_find(slots.begin(), slots.end());
    if (twice != slots.end()) {
      std::fprintf(stderr, "scene: %s\n", scene.name);
      CHECK(false && "a slot was issued twice", layout.TickOf(*twice), *twice);
    }
    for (const uint64_t slot : last.slots) {
      CHECK(layout.TickOf(slot) >= scene.foreign_below, slot);
    }
    // A floor was raised over slots that no thread has taken. If the slots moved, some
    // threads may have continued in the state without the floor.
    for (const auto& actor : actors) {
      for (const uint64_t slot : slots) {
        CHECK(is_moved || slot < actor->raised_from || slot >= actor->raised_to, slot,
              actor->raised_from);
      }
    }
  };
  return Scheduler::Explore({prepare, check}, preemptions);
}

// Two threads make ids while the machine is copied. Neither thread may return a slot
// that the original issues.
size_t ExploreCopies(int preemptions) {
  const Layout layout = MakeLayout(20, 0, 2);
  std::unique_ptr<OwnState[]> states;
  std::vector<std::unique_ptr<Actor>> actors;
  const auto prepare = [&] {
    machine.store(0);
    states = std::make_unique<OwnState[]>(2);
    actors.clear();
    for (size_t i = 0; i < 3; ++i) {
      actors.push_back(std::make_unique<Actor>(states.get(), i, layout));
    }
    return std::vector<Scheduler::Body>{
        [&] { actors[0]->Next(5), actors[0]->Next(5), actors[0]->Fill(5, 7, 4); },
        [&] { actors[1]->Fill(5, 6, 3), actors[1]->Next(7); },
        [&] { actors[2]->Copy(actors); }};
  };
  const auto check = [&] {
    const Actor& copier = *actors[2];
    const auto& originals = copier.original_slots;
    for (const auto& actor : actors) {
      for (const uint64_t slot : actor->slots) {
        const bool is_twice =
            slot >= copier.original_from ||
            std::find(originals.begin(), originals.end(), slot) != originals.end();
        CHECK(!is_twice && "a copy issued a slot of the original", slot);
      }
    }
    machine.store(0);
  };
  return Scheduler::Explore({prepare, check}, preemptions);
}

const Play kNothing = [](Actor&) {};
const Play kHistory = [](Actor& actor) { actor.Enable(1); };

// Ticks have four slots.
const Scene kScenes[] = {
    {"three threads overflow one tick",
     0,
     kNothing,
     {[](Actor& actor) { actor.Next(5), actor.Next(5); },
      [](Actor& actor) { actor.Fill(5, 6, 3); },
      [](Actor& actor) { actor.Next(6), actor.Next(4); }}},
    {"one leaves a tick while another reuses it",
     0,
     kHistory,
     {[](Actor& actor) { actor.Fill(5, 7, 6), actor.Next(8); },
      [](Actor& actor) { actor.Next(5), actor.Unused(5), actor.Unused(6); }}},
    {"two reuse the same tick",
     0,
     [](Actor& actor) { actor.Enable(1), actor.Next(5), actor.Next(7); },
     {[](Actor& actor) { actor.Unused(5, 2); },
      [](Actor& actor) { actor.Unused(5, 2); },
      [](Actor& actor) { actor.Next(5 + History::kTicks + 1); }}},
    {"the ring comes round while a tick is reused",
     0,
     [](Actor& actor) { actor.Enable(1), actor.Next(5), actor.Next(7); },
     {[](Actor& actor) { actor.Unused(5, 3); },
      [](Actor& actor) { actor.Next(5 + History::kTicks), actor.Next(3000); }}},
    {"the history begins while others reserve",
     0,
     kNothing,
     {[](Actor& actor) { actor.Fill(5, 7, 9), actor.Next(9); },
      [](Actor& actor) { actor.Enable(4), actor.Unused(6), actor.Unused(5); },
      [](Actor& actor) { actor.Next(7), actor.Next(8); }}},
    {"two begin the history at once",
     0,
     kNothing,
     {[](Actor& actor) { actor.Enable(4), actor.Next(5), actor.Next(6); },
      [](Actor& actor) { actor.Enable(8), actor.Unused(5), actor.Unused(6); }}},
    {"two begin the history while others reserve and reuse",
     0,
     kNothing,
     {[](Actor& actor) { actor.Enable(4); }, [](Actor& actor) { actor.Enable(8); },
      [](Actor& actor) { actor.Next(6); }, [](Actor& actor) { actor.Unused(6); }}},
    {"the floor rises while others reserve",
     20,
     kHistory,
     {[](Actor& actor) { actor.Next(5), actor.Fill(6, 7, 6), actor.Next(30); },
      [](Actor& actor) { actor.Raise(20); }}},
    {"the floor rises while the history begins",
     20,
     kNothing,
     {[](Actor& actor) { actor.Enable(4), actor.Next(30); },
      [](Actor& actor) { actor.Raise(20); },
      [](Actor& actor) { actor.Fill(5, 6, 6); }}},
    {"the slots move while others reserve",
     0,
     kNothing,
     {[](Actor& actor) { actor.Fill(5, 6, 3), actor.Next(6); },
      [](Actor& actor) { actor.Follow(), actor.Fill(5, 6, 3); },
      [](Actor& actor) { actor.Next(5), actor.Next(5); }}},
    {"two find the new page at once",
     0,
     [](Actor& actor) { actor.Fill(4, 5, 3); },
     {[](Actor& actor) { actor.Follow(), actor.Next(5), actor.Next(5); },
      [](Actor& actor) { actor.Follow(), actor.Fill(4, 6, 3); },
      [](Actor& actor) { actor.Next(4), actor.Next(5); }}},
    {"the slots move while the floor of the new page rises",
     20,
     kNothing,
     {[](Actor& actor) { actor.Follow(), actor.Next(30); },
      [](Actor& actor) { actor.Go(), actor.Raise(20); },
      [](Actor& actor) { actor.Fill(5, 6, 5); }}},
    {"the slots move while their floor rises",
     20,
     kHistory,
     {[](Actor& actor) { actor.Follow(), actor.Enable(3), actor.Next(30); },
      [](Actor& actor) { actor.Raise(20); },
      [](Actor& actor) { actor.Fill(5, 6, 5); }}},
    {"the slots move while the history begins in both pages",
     0,
     [](Actor& actor) { actor.Next(2); },
     {[](Actor& actor) { actor.Enable(4), actor.Next(6), actor.Unused(5); },
      [](Actor& actor) { actor.Follow(), actor.Enable(5), actor.Unused(6); },
      [](Actor& actor) { actor.Fill(5, 7, 6), actor.Next(8); }}},
    {"a sealed page is begun anew while others still reserve in it",
     0,
     kHistory,
     {[](Actor& actor) { actor.Try(5), actor.Try(5), actor.Unused(5); },
      [](Actor& actor) {
        actor.Follow(), actor.Fill(5, 5, 2), actor.Begin(5), actor.Fill(6, 6, 2);
      },
      [](Actor& actor) { actor.Try(5), actor.Try(6), actor.Unused(5); }}},
    {"the slots move into a page with a history, and past ticks are reused",
     0,
     [](Actor& actor) { actor.Enable(1), actor.Next(5), actor.Next(8); },
     {[](Actor& actor) { actor.Unused(5, 2), actor.Unused(6, 2); },
      [](Actor& actor) { actor.Go(), actor.Enable(2), actor.Follow(), actor.Next(9); },
      [](Actor& actor) { actor.Unused(6), actor.Next(8), actor.Unused(6); }}},
};

void Interleavings(int argc, char** argv) {
  const auto preemptions = static_cast<int>(Argument(argc, argv, "--preemptions", 2));
  const uint64_t only = Argument(argc, argv, "--scene", 0);
  device_word = &machine;
  uint64_t number = 1;
  if (only <= number) {
    const size_t copies = ExploreCopies(preemptions);
    CHECK(copies > 10, copies);
    std::printf("%6zu schedules:  1 the machine is copied\n", copies);
  }
  for (const Scene& scene : kScenes) {
    if (++number != only && only != 0) continue;
    const size_t count = Explore(scene, preemptions);
    CHECK(count > 10, count);
    std::printf("%6zu schedules: %2d %s\n", count, static_cast<int>(number),
                scene.name);
  }
  CHECK(only <= number && "there is no such scene", only);
}

const Subcommand kInterleavings{"interleave", Interleavings};

}  // namespace
}  // namespace interleaving
}  // namespace graupel
