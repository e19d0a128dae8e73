// Random operations by several generators in one thread, against a slow and simple
// model: it stores every issued slot, and computes the result of each operation
// beforehand.
//
// --seed N replays a failure; --iterations N is the number of worlds.

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "../../native/core/generator.h"
#include "check.h"
#include "fuzz_model.h"
#include "random.h"
#include "setup.h"
#include "subcommand.h"

namespace graupel {
namespace {

// Counts the calls of Ask().
class FuzzCeiling : public Ceiling {
 public:
  void Ask(uint64_t now_tick, bool is_urgent) override {
    now = now_tick;
    ++(is_urgent ? urgent : early);
  }
  void Set(uint64_t slot, uint64_t alarm) { Raise(slot, alarm); }

  uint64_t now = 0;
  uint64_t urgent = 0;
  uint64_t early = 0;
};

// One state, its threads and generators, and a clock that goes forward and back.
class World {
 public:
  explicit World(uint64_t seed)
      : random_(seed),
        layout_(RandomLayout()),
        state_(states_.emplace_back(std::make_unique<OwnState>()).get()),
        model_(layout_),
        now_(random_.Below(40)) {
    if (random_.OneIn(8)) now_ = layout_.max_tick - std::min(layout_.max_tick, now_);
    for (uint64_t i = 0, count = 1 + random_.Below(3); i < count; ++i) {
      auto& access =
          accesses_.emplace_back(std::make_unique<ThreadAccess>(state_, layout_));
      if (random_.OneIn(2)) access->ceiling = &ceiling_;
      for (uint64_t id = 1, last = 1 + random_.Below(2); id <= last; ++id) {
        const auto mode = static_cast<Mode>(random_.Below(3));
        const SequenceStart start(mode, static_cast<uint32_t>(random_.Next()));
        callers_.push_back(
            {access.get(), Generator(access.get(), id, start), mode, random_.OneIn(3)});
      }
    }
  }

  void Play(int steps) {
    for (int i = 0; i < steps; ++i) {
      MoveClock();
      Step(callers_[random_.Below(callers_.size())]);
      CHECK(state_->word == model_.word, state_->word.load(), model_.word, now_);
      CHECK(state_->high_tick == model_.high_tick, state_->high_tick.load());
    }
    for (const Caller& caller : callers_) {
      CHECK(caller.generator.issued() == caller.issued, caller.issued);
    }
  }

 private:
  struct Caller {
    ThreadAccess* access;
    Generator generator;
    Mode mode;
    bool is_timid;           // Never asks to run ahead.
    uint64_t may_ahead = 0;  // The most that it has requested, in ticks.
    uint64_t issued = 0;
  };

  Layout RandomLayout() {
    // All 64 bits for time and sequence.
    if (random_.OneIn(10)) return MakeLayout(53, 0, 11);
    const int sequence = static_cast<int>(1 + random_.Below(random_.OneIn(4) ? 12 : 4));
    // Often there are so few ticks that the last tick is reached.
    const int timestamp =
        static_cast<int>(random_.OneIn(2) ? 41 : 6 + random_.Below(6));
    const int node = static_cast<int>(random_.Below(11));
    return MakeLayout(timestamp, node, sequence, random_.Next() & LowBits(node),
                      random_.OneIn(2));
  }

  // Mostly near the word, and at times far below it.
  void MoveCeiling() {
    const uint64_t base = std::max(model_.word, now_ * layout_.Capacity());
    const uint64_t slot = base + random_.Below(12 * layout_.Capacity()) + 1;
    const uint64_t less = random_.Below(6 * layout_.Capacity());
    ceiling_.Set(random_.OneIn(9) ? slot / 2 : slot, slot - std::min(slot, less));
  }

  void MoveClock() {
    if (random_.Below(2 + std::min<uint64_t>(layout_.Capacity(), 60)) < 2) now_ += 1;
    if (random_.OneIn(50)) now_ += random_.Below(5);
    if (random_.OneIn(30)) now_ -= std::min(now_, random_.Below(12));
    if (random_.OneIn(900)) now_ += random_.Below(1500);
    if (random_.OneIn(900)) now_ -= std::min(now_, random_.Below(1500));
    now_ = std::min(now_, layout_.max_tick);
  }

  void Step(Caller& caller) {
    if (random_.OneIn(20)) MoveCeiling();
    if (random_.OneIn(700)) Move();
    if (caller.access->state != state_) return MeetSeal(caller);
    switch (random_.Below(12)) {
      case 0:
        return Fill(caller);
      case 1:
        if (random_.OneIn(40)) return EnableHistory();
        if (random_.OneIn(80)) return RaiseFloor();
        return GrantUnused(caller);
      case 2:
        if (!caller.is_timid) return Grant(caller);
        [[fallthrough]];
      default:
        return Next(caller);
    }
  }

  uint64_t SlotOf(uint64_t id) const {
    bool is_own;
    const uint64_t slot = SlotOfId(layout_, id, &is_own);
    CHECK(is_own, id, slot);
    return slot;
  }

  void Take(Caller& caller, uint64_t slot, bool reused) {
    const uint64_t tick = model_.TickOf(slot);
    CHECK(slot < model_.word, slot, model_.word);
    if (reused) {
      CHECK(tick == now_, tick, now_);
    } else {
      uint64_t& next = next_slot_[caller.access];
      CHECK(slot >= next && tick - now_ <= caller.may_ahead, slot, next, tick, now_);
      next = slot + 1;
    }
    model_.Issue(slot);
    ++caller.issued;
  }

  static uint64_t CeilingOf(const Caller& caller) {
    return caller.access->ceiling == nullptr ? UINT64_MAX
                                             : caller.access->ceiling->slot();
  }

  // The reservation failed, and Ask() was called if the ceiling was the reason.
  void Refused(const Caller& caller, Status status, uint64_t limit) {
    model_.high_tick = std::max(model_.high_tick, now_);
    CHECK(model_.MayRefuse(status, now_, limit, CeilingOf(caller), caller.mode), status,
          now_, limit, model_.word, CeilingOf(caller));
    CheckAsked(status == Status::kCeiling ? 1 : 0, 0);
  }

  uint64_t Pass(const Caller& caller, uint64_t limit, uint64_t want, bool one_tick,
                uint64_t first) {
    model_.high_tick = std::max(model_.high_tick, now_);
    const uint64_t next = model_.Reserve(now_, limit, CeilingOf(caller), want, one_tick,
                                         caller.mode, first);
    CheckAsked(0, caller.access->ceiling != nullptr && next > ceiling_.alarm() ? 1 : 0);
    return next;
  }

  void CheckAsked(uint64_t urgent, uint64_t early) {
    CHECK(ceiling_.urgent == urgent && ceiling_.early == early, ceiling_.urgent, urgent,
          ceiling_.early, early);
    CHECK(urgent + early == 0 || ceiling_.now == now_, ceiling_.now, now_);
    ceiling_.urgent = ceiling_.early = 0;
  }

  void Next(Caller& caller) {
    const bool reused = caller.access->run.reused;
    uint64_t id;
    const Status status = caller.generator.Next(now_, &id);
    if (status != Status::kOk) return Refused(caller, status, now_);
    if (SlotOf(id) < model_.word) return Take(caller, SlotOf(id), reused);
    CheckSize(caller);
    Pass(caller, now_, caller.access->run.size, true, SlotOf(id));
    Take(caller, SlotOf(id), false);
  }

  void Grant(Caller& caller) {
    const uint64_t limit = now_ + random_.Below(random_.OneIn(9) ? 2000 : 9);
    const Status status = caller.generator.Grant(now_, limit);
    const Run& run = caller.access->run;
    if (status == Status::kOk) {
      caller.may_ahead = std::max(caller.may_ahead, limit - now_);
      CHECK(run.tick <= limit, run.tick, limit);
    }
    if (status != Status::kOk) return Refused(caller, status, limit);
    if (state_->word == model_.word) {
      CHECK(run.sequence < run.end && !run.reused);
    } else {
      CheckSize(caller);
      const uint64_t first = run.tick * layout_.Capacity() + run.sequence;
      Pass(caller, limit, run.size, true, first);
    }
    uint64_t id;
    CHECK(caller.generator.Next(now_, &id) == Status::kOk);
    Take(caller, SlotOf(id), false);
  }

  void GrantUnused(Caller& caller) {
    uint64_t first = 0;
    const uint64_t unused = model_.Unused(now_, &first);
    const uint64_t want = random_.Below(6);
    const Status status = caller.generator.GrantUnused(now_, want);
    CHECK((status == Status::kOk) == (unused > 0), now_, unused, model_.word);
    if (status != Status::kOk) return;
    const Run& run = caller.access->run;
    const uint64_t count = run.end - run.sequence;
    CHECK(count == std::min(run.size, unused), count, unused, run.size);
    if (want != 0) CHECK(run.size == want, run.size, want);
    if (want == 0) CheckSize(caller);
    model_.TakeUnused(now_, count);
    uint64_t id;
    CHECK(caller.generator.Next(now_, &id) == Status::kOk && SlotOf(id) == first,
          first);
    Take(caller, first, true);
  }

  void CheckSize(const Caller& caller) {
    const uint64_t size = caller.access->run.size;
    CHECK(size >= 1 && size <= std::max<uint64_t>(1, layout_.Capacity() / 64), size);
  }

  void Fill(Caller& caller) {
    const Run run = caller.access->run;
    const uint64_t ahead =
        caller.is_timid ? 0 : random_.Below(random_.OneIn(9) ? 3000 : 6);
    const uint64_t limit = now_ + ahead;
    std::vector<uint64_t> ids(random_.Below(random_.OneIn(60) ? 20'000 : 40));
    size_t filled;
    const Status status =
        caller.generator.Fill(now_, limit, ids.data(), ids.size(), &filled);
    CHECK((status == Status::kOk) == (filled == ids.size()), status, filled);
    size_t i = 0;
    for (; i < filled && SlotOf(ids[i]) < model_.word; ++i) {
      Take(caller, SlotOf(ids[i]), run.reused);
    }
    CHECK(i <= run.end - run.sequence, i);
    if (i == ids.size()) return;
    if (i == filled) return Refused(caller, status, limit);
    CHECK(status == Status::kOk || status == Status::kAhead, status);
    uint64_t slot = SlotOf(ids[i]);
    const uint64_t next = Pass(caller, limit, ids.size() - i, false, slot);
    CHECK(next - slot == filled - i, next, slot, filled);
    const uint64_t had = std::exchange(caller.may_ahead, ahead);
    for (; i < filled; ++i, ++slot) {
      CHECK(SlotOf(ids[i]) == slot, i, slot);
      Take(caller, slot, false);
    }
    caller.may_ahead = had;
  }

  void EnableHistory() {
    state_->Remember(layout_, now_);
    if (model_.has_history) return;
    model_.high_tick = std::max(model_.high_tick, now_);
    const uint64_t now_slot = now_ * layout_.Capacity();
    const uint64_t end = (layout_.max_tick + 1) * layout_.Capacity() - 1;
    if (model_.word <= now_slot) {
      model_.word = now_slot + 1;
    } else if (model_.word < end) {
      model_.word += 1;
    }
    model_.has_history = true;
    const uint64_t last_tick = model_.TickOf(model_.word - 1);
    model_.floor = (std::max(now_, last_tick) + 1) * layout_.Capacity();
  }

  void RaiseFloor() {
    const uint64_t slot =
        std::min(model_.word + random_.Below(60), layout_.FirstSlot(layout_.max_tick));
    CHECK(graupel::RaiseFloor(*state_, slot) == model_.word);
    if (model_.has_history) model_.floor = std::max(model_.floor, slot);
    if (slot > model_.word) model_.Pass(model_.word, slot);
  }

  // The word moves to a new state.
  void Move() {
    const OwnState* const former = state_;
    states_.push_back(std::make_unique<OwnState>());
    state_ = states_.back().get();
    for (const auto& state : states_)
      CHECK(state.get() == state_ || MoveTo(*state, *state_));
    CHECK(former->word == kSealed && former->high_tick == state_->high_tick);
    model_.Move();
  }

  // On a sealed state, only the rest of the run is left.
  void MeetSeal(Caller& caller) {
    const Run run = caller.access->run;
    const bool grants = !caller.is_timid && random_.OneIn(3);
    const Status status = grants ? caller.generator.Grant(now_, now_ + random_.Below(9))
                                 : caller.generator.GrantUnused(now_, 1);
    if (status == Status::kMoved) {
      size_t filled;
      std::vector<uint64_t> ids(4096);
      CHECK(caller.generator.Fill(now_, now_, ids.data(), ids.size(), &filled) ==
            Status::kMoved);
      for (size_t i = 0; i < filled; ++i) Take(caller, SlotOf(ids[i]), run.reused);
      caller.access->state = state_;
    } else {
      CHECK(grants && status == Status::kOk && run.sequence < run.end, status);
      caller.may_ahead = std::max(caller.may_ahead, run.span);
    }
    CheckAsked(0, 0);
  }

  Random random_;
  const Layout layout_;
  std::vector<std::unique_ptr<OwnState>> states_;
  OwnState* state_;
  FuzzCeiling ceiling_;
  Model model_;
  uint64_t now_;
  std::vector<std::unique_ptr<ThreadAccess>> accesses_;
  std::vector<Caller> callers_;
  std::map<const ThreadAccess*, uint64_t> next_slot_;
};

void Fuzz(int argc, char** argv) {
  const uint64_t seed = Argument(argc, argv, "--seed", std::random_device()());
  const uint64_t iterations = Argument(argc, argv, "--iterations", 300);
  for (uint64_t i = 0; i < iterations; ++i) {
    test_seed = seed + i;
    World(test_seed).Play(4000);
  }
  std::printf("%" PRIu64 " worlds from --seed %" PRIu64 "\n", iterations, seed);
}

const Subcommand kFuzz{"fuzz", Fuzz};

}  // namespace
}  // namespace graupel
