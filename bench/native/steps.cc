// Times each step of an id in the native core, without Node, so that a lost
// nanosecond can be found. Prints JSON for bench/native/run.ts.

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "../../native/core/clock.h"
#include "../../native/core/generator.h"
#include "../../native/host/home.h"

namespace graupel {
namespace {

using SteadyTimer = std::chrono::steady_clock;

// Keeps the compiler from removing a value that nothing reads.
template <typename T>
void Keep(T value) {
#if defined(_MSC_VER)
  static volatile T sink;
  sink = value;
#else
  asm volatile("" : : "g"(value) : "memory");
#endif
}

bool is_first = true;

// `run(thread, count)` does the step `count` times.
template <typename Run>
void Measure(const char* name, size_t threads, size_t rounds, const Run& run) {
  std::vector<double> figures;
  size_t count = 1024;
  // The first rounds warm up, and find a count that takes long enough to be timed.
  for (size_t round = 0; round < rounds;) {
    std::atomic<size_t> waiting{threads};
    std::vector<SteadyTimer::time_point> starts(threads);
    std::vector<SteadyTimer::time_point> ends(threads);
    const auto work = [&](size_t thread) {
      // No thread starts before all are ready.
      waiting.fetch_sub(1);
      while (waiting.load() > 0) {
      }
      starts[thread] = SteadyTimer::now();
      run(thread, count);
      ends[thread] = SteadyTimer::now();
    };
    std::vector<std::thread> others;
    for (size_t i = 1; i < threads; ++i) others.emplace_back(work, i);
    work(0);
    for (std::thread& other : others) other.join();
    const auto first = *std::min_element(starts.begin(), starts.end());
    const auto last = *std::max_element(ends.begin(), ends.end());
    const double ns = std::chrono::duration<double, std::nano>(last - first).count();
    if (ns < 4e6) {
      count *= 2;
      continue;
    }
    figures.push_back(ns / static_cast<double>(count));
    ++round;
  }
  std::sort(figures.begin(), figures.end());
  const auto quantile = [&](double q) {
    return figures[static_cast<size_t>(q * static_cast<double>(figures.size() - 1))];
  };
  std::printf(
      "%s\n  {\"step\": \"%s\", \"threads\": %zu, \"ns\": {\"low\": %.4g, "
      "\"median\": %.4g, \"high\": %.4g}}",
      is_first ? "[" : ",", name, threads, quantile(0.25), quantile(0.5),
      quantile(0.75));
  is_first = false;
}

// A sequence of 20 bits, which no loop uses up in a millisecond.
Layout RoomyLayout() {
  Layout layout;
  layout.epoch_ms = 1'577'836'800'000;
  layout.sequence_bits = 20;
  layout.timestamp_shift = 22;
  layout.node_bits = uint64_t{1} << 20;
  layout.max_tick = (uint64_t{1} << 41) - 1;
  return layout;
}

// The parts that threads share, and the parts of each thread, as in
// native/binding.
struct Own {
  Own(State* state, const Layout& layout)
      : access(state, layout), generator(&access, 1, {}) {}
  ThreadAccess access;
  Generator generator;
  WallClock clock;
};

[[noreturn]] void Fail(const char* what) {
  std::fprintf(stderr, "%s\n", what);
  std::exit(1);
}

void MakeIds(Own& own, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    uint64_t now_tick = 0;
    uint64_t id = 0;
    own.access.layout.ToTick(own.clock.NowMs(), &now_tick);
    // Another thread may already be in the next millisecond, and the word with
    // it. Then the clock itself is read, as the facade does.
    while (own.generator.Next(now_tick, &id) != Status::kOk) {
      own.access.layout.ToTick(own.clock.ReadMs(), &now_tick);
    }
    Keep(id);
  }
}

void ReserveRuns(State& state, const Layout& layout, size_t count, uint64_t want) {
  SequenceStart start;
  Request request;
  request.now_tick = 1;
  request.limit_tick = layout.max_tick;
  request.want = want;
  SlotRange range;
  for (size_t i = 0; i < count; ++i) {
    if (Reserve(state, layout, request, start, &range) != Status::kOk) {
      Fail("Reserve() refused");
    }
    Keep(range.first);
  }
}

void MeasureAll(size_t rounds) {
  const Layout layout = RoomyLayout();
  const size_t processors = std::max(1u, std::thread::hardware_concurrency());

  // Alone.
  Measure("read the time-stamp counter", 1, rounds, [](size_t, size_t count) {
    for (size_t i = 0; i < count; ++i) Keep(ReadCounter());
  });
  Measure("ask the counter gate", 1, rounds, [](size_t, size_t count) {
    CounterGate gate;
    for (size_t i = 0; i < count; ++i) Keep(gate.StillFresh());
  });
  Measure("read the wall clock", 1, rounds, [](size_t, size_t count) {
    for (size_t i = 0; i < count; ++i) Keep(WallNs());
  });
  Measure("read the monotonic clock", 1, rounds, [](size_t, size_t count) {
    for (size_t i = 0; i < count; ++i) Keep(MonotonicNs());
  });
  Measure("milliseconds behind the gate", 1, rounds, [](size_t, size_t count) {
    WallClock clock;
    for (size_t i = 0; i < count; ++i) Keep(clock.NowMs());
  });
  Measure("pack an id", 1, rounds, [&](size_t, size_t count) {
    Layout own = layout;
    Keep(&own);
    for (size_t i = 0; i < count; ++i) {
      Keep(own.BaseId(i) + ((i & 4095) << own.sequence_shift));
    }
  });
  Measure("ask whether the page is current", 1, rounds, [&](size_t, size_t count) {
    // The only system call, made once in each tick with ids.
    HomeOptions options;
    options.kind = StateKind::kHost;
    options.identity = {"bench graupel steps", "{}"};
    options.layout = layout;
    options.now_tick = 1;
    Home home;
    if (!OpenHome(options, &home).IsNone()) Fail("there is no page to be had");
    for (size_t i = 0; i < count; ++i) Keep(home.page()->IsCurrent());
    std::remove(home.page()->path().c_str());
  });

  // Together, on one word.
  for (size_t threads = 1; threads <= processors && threads <= 8; threads *= 2) {
    for (const uint64_t want : {1, 64, 1024}) {
      State state;
      const std::string name = "reserve " + std::to_string(want) + " at once";
      Measure(name.c_str(), threads, rounds,
              [&](size_t, size_t count) { ReserveRuns(state, layout, count, want); });
    }
    State state;
    std::vector<std::unique_ptr<Own>> owns;
    for (size_t i = 0; i < threads; ++i) {
      owns.push_back(std::make_unique<Own>(&state, layout));
    }
    Measure("an id, with all of this", threads, rounds,
            [&](size_t thread, size_t count) { MakeIds(*owns[thread], count); });
  }

  constexpr size_t kMany = 65'536;
  static std::array<uint64_t, kMany> ids;
  State state;
  Own own(&state, layout);
  Measure("fill 65 536 ids, each", 1, rounds, [&](size_t, size_t count) {
    for (size_t i = 0; i < count; i += kMany) {
      size_t filled = 0;
      own.generator.Fill(1, layout.max_tick, ids.data(), kMany, &filled);
      if (filled != kMany) Fail("Fill() refused");
    }
  });
  Measure("write 65 536 numbers, each", 1, rounds, [&](size_t, size_t count) {
    for (size_t i = 0; i < count; i += kMany) {
      std::fill(ids.begin(), ids.end(), i);
      Keep(ids.data());
    }
  });
  std::printf("\n]\n");
}

}  // namespace
}  // namespace graupel

int main(int argc, char**) {
  // Any argument makes it quick.
  graupel::MeasureAll(argc > 1 ? 5 : 25);
}
