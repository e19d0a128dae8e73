// Real threads on one state, with clocks that step back and forth under them.
// Each round begins with a fresh state, because the edges lie at its beginning.
//
// --seed N begins with the same random numbers (the threads race nevertheless);
// --rounds N, --threads N, --steps N.

#include <algorithm>
#include <atomic>
#include <barrier>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "../../native/core/generator.h"
#include "check.h"
#include "random.h"
#include "setup.h"
#include "subcommand.h"

namespace graupel {
namespace {

// The way in which a round gets its history.
enum class Remembering { kNever, kBefore, kMidway, kTwiceAtOnce };

struct Round {
  Layout layout;
  Remembering remembering;
  uint64_t threads;
  uint64_t steps;
};

// The data that all threads share.
struct Stage {
  explicit Stage(const Round& round)
      : start(static_cast<std::ptrdiff_t>(round.threads)) {}

  OwnState state;
  std::barrier<> start;
  std::atomic<uint64_t> clock{2000};
};

// One thread: its calls, the policy between them, and its ids.
class Worker {
 public:
  Worker(const Round& round, uint64_t index, Stage* stage, uint64_t seed)
      : round_(round),
        index_(index),
        stage_(*stage),
        random_(seed),
        access_(&stage->state, round.layout),
        generator_(&access_, 1,
                   SequenceStart(static_cast<SequenceStart::Mode>(random_.Below(3)),
                                 static_cast<uint32_t>(seed))) {}

  void Work() {
    stage_.start.arrive_and_wait();
    const bool remembers =
        (round_.remembering == Remembering::kTwiceAtOnce && index_ < 2) ||
        (round_.remembering == Remembering::kMidway && index_ == 0);
    const uint64_t when =
        round_.remembering == Remembering::kMidway ? round_.steps / 3 : index_;
    for (uint64_t i = 0; i < round_.steps; ++i) {
      const uint64_t now = Now();
      if (remembers && i == when) stage_.state.Remember(round_.layout, now, index_ % 2);
      Step(now);
    }
  }

  const std::vector<uint64_t>& slots() const { return slots_; }

 private:
  // All threads push one clock: mostly forward, now and then back or far ahead. Each
  // thread sees it some ticks too early or too late.
  uint64_t Now() {
    auto& clock = stage_.clock;
    if (random_.OneIn(6)) clock.fetch_add(1, std::memory_order_relaxed);
    if (random_.OneIn(60)) clock.fetch_sub(random_.Below(9), std::memory_order_relaxed);
    if (random_.OneIn(3000))
      clock.fetch_add(History::kTicks, std::memory_order_relaxed);
    if (random_.OneIn(4000))
      clock.fetch_sub(History::kTicks, std::memory_order_relaxed);
    const uint64_t now = clock.load(std::memory_order_relaxed);
    const uint64_t seen = random_.OneIn(5) ? now - 3 + random_.Below(5) : now;
    // The clock has no floor of its own, but the layout has one.
    return seen > round_.layout.max_tick ? 0 : seen;
  }

  void Step(uint64_t now) {
    if (random_.OneIn(8)) return Fill(now);
    uint64_t id;
    Status status = generator_.Next(now, &id);
    if (status == Status::kAhead) {
      status = random_.OneIn(2) ? generator_.GrantUnused(now, random_.Below(4))
                                : generator_.Grant(now, now + random_.Below(5));
      if (status == Status::kOk) status = generator_.Next(now, &id);
    }
    if (status == Status::kOk) {
      Take(id, access_.run.reused);
      if (access_.run.reused) CHECK(TickOf(slots_.back()) == now, slots_.back(), now);
    }
  }

  void Fill(uint64_t now) {
    uint64_t ids[40];
    const Run run = access_.run;
    const auto wanted = static_cast<size_t>(random_.Below(41));
    size_t count;
    const Status status =
        generator_.Fill(now, now + random_.Below(4), ids, wanted, &count);
    CHECK((status == Status::kOk) == (count == wanted), status, count, wanted);
    // Only the front can come from a run, and only a run can be reused.
    for (size_t i = 0; i < count; ++i) {
      Take(ids[i], run.reused && i < run.end - run.sequence &&
                       ids[i] >> round_.layout.timestamp_shift == run.tick);
    }
  }

  void Take(uint64_t id, bool reused) {
    bool is_own;
    const uint64_t slot = SlotOfId(round_.layout, id, &is_own);
    CHECK(is_own, id, slot);
    if (!reused) {
      CHECK(slots_.empty() || slot >= next_, slot, next_);
      next_ = slot + 1;
    }
    slots_.push_back(slot);
  }

  uint64_t TickOf(uint64_t slot) const { return slot >> round_.layout.sequence_bits; }

  const Round& round_;
  const uint64_t index_;
  Stage& stage_;
  Random random_;
  ThreadAccess access_;
  Generator generator_;
  uint64_t next_ = 0;  // Ids that are not reused ascend.
  std::vector<uint64_t> slots_;
};

// Returns the number of ids.
size_t Play(const Round& round, uint64_t seed) {
  Stage stage(round);
  if (round.remembering == Remembering::kBefore) {
    stage.state.Remember(round.layout, 0);
  }
  std::vector<std::unique_ptr<Worker>> workers;
  for (uint64_t i = 0; i < round.threads; ++i) {
    workers.push_back(std::make_unique<Worker>(round, i, &stage, seed * 64 + i));
  }
  std::vector<std::thread> threads;
  for (const auto& worker : workers) threads.emplace_back(&Worker::Work, worker.get());
  for (std::thread& thread : threads) thread.join();

  std::vector<uint64_t> slots;
  for (const auto& worker : workers) {
    slots.insert(slots.end(), worker->slots().begin(), worker->slots().end());
  }
  std::sort(slots.begin(), slots.end());
  const auto twice = std::adjacent_find(slots.begin(), slots.end());
  if (twice != slots.end()) {
    CHECK(false && "an id was made twice", *twice >> round.layout.sequence_bits, *twice,
          round.remembering, round.layout.sequence_bits);
  }
  return slots.size();
}

void Threads(int argc, char** argv) {
  test_seed = Argument(argc, argv, "--seed", std::random_device()());
  const uint64_t rounds = Argument(argc, argv, "--rounds", 400);
  const uint64_t threads = Argument(argc, argv, "--threads", 4);
  const uint64_t steps = Argument(argc, argv, "--steps", 20'000);
  size_t made = 0;
  for (uint64_t i = 0; i < rounds; ++i) {
    // Mostly short rounds and few slots in a tick; at times a real layout.
    const Layout layout =
        i % 8 == 7 ? MakeLayout(41, 10, 12, 5) : MakeLayout(41, 10, 3, 5);
    const auto remembering = static_cast<Remembering>(i % 4);
    const Round round{layout, remembering, threads, i % 16 < 2 ? steps : steps / 20};
    made += Play(round, test_seed + i);
  }
  std::printf("%zu ids from --seed %" PRIu64 "\n", made, test_seed);
}

const Subcommand kThreads{"threads", Threads};

}  // namespace
}  // namespace graupel
