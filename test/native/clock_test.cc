// The clocks. With --steady-script SEED COUNT it prints the results of SteadyTime for
// a script, for a comparison with src/engine/js/clock.ts.

#include "../../native/core/clock.h"

#include <chrono>
#include <thread>

#include "check.h"
#include "random.h"
#include "subcommand.h"

namespace graupel {
namespace {

constexpr int64_t kMs = SteadyTime::kNsPerMs;

void SteadyTimeFollowsTheWallForward() {
  SteadyTime time;
  CHECK(time.Read(5000 * kMs, 70 * kMs) == 5000 * kMs);
  CHECK(time.Read(5001 * kMs, 71 * kMs) == 5001 * kMs);
  // A suspended machine: the wall went on, the monotonic clock did not.
  CHECK(time.Read(3'605'001 * kMs, 71 * kMs) == 3'605'001 * kMs);
  CHECK(time.Read(3'605'002 * kMs, 72 * kMs) == 3'605'002 * kMs);
  // Before 1970, too.
  SteadyTime early;
  CHECK(early.Read(-10 * kMs, 70 * kMs) == -10 * kMs);
  CHECK(early.Read(-9 * kMs, 71 * kMs) == -9 * kMs);
}

void SteadyTimeLosesASixteenthWhileTheWallIsBehind() {
  SteadyTime time;
  int64_t wall = 1'000'000 * kMs;
  int64_t monotonic = 0;
  int64_t last = time.Read(wall, monotonic);
  const int64_t first = last;
  wall -= 1000 * kMs;
  // It meets the wall clock after exactly 16 s.
  for (int ms = 1; ms <= 16'000; ++ms) {
    const int64_t now = time.Read(wall += kMs, monotonic += kMs);
    CHECK(now - last == kMs * 15 / 16, ms, now - last);
    CHECK(now >= wall && now - first == ms * kMs * 15 / 16, ms, now, wall);
    last = now;
  }
  CHECK(last == wall, last, wall);
  for (int ms = 0; ms < 100; ++ms) {
    wall += kMs;
    CHECK(time.Read(wall, monotonic += kMs) == wall, ms);
  }
  // The last step closes the gap and does not overshoot it.
  wall += kMs - kMs / 100;
  CHECK(time.Read(wall, monotonic += kMs) == wall);
}

void SteadyTimeSlewsAlsoWhereItIsReadOften() {
  // Readings less than a millisecond apart must not each be too short to count.
  SteadyTime time;
  int64_t wall = 0;
  int64_t monotonic = 0;
  time.Read(wall, monotonic);
  wall -= 100 * kMs;
  for (int i = 0; i < 1'600'000; ++i) time.Read(wall += 1000, monotonic += 1000);
  // Between two corrections it follows real time, so that it then stands
  // still for a 16th of a millisecond and does not go back.
  const int64_t last = time.Read(wall, monotonic);
  CHECK(last - wall >= 0 && last - wall < kMs / 16, last, wall);
  CHECK(time.Read(wall + kMs / 16, monotonic + kMs / 16) == wall + kMs / 16);
}

void SteadyTimeNeverGoesBack(uint64_t seed) {
  test_seed = seed;
  Random random(seed);
  SteadyTime time;
  int64_t wall = 1'700'000'000'000 * kMs;
  int64_t monotonic = 0;
  int64_t last = INT64_MIN;
  for (int i = 0; i < 200'000; ++i) {
    const auto passed = static_cast<int64_t>(random.Below(30 * kMs));
    monotonic += passed;
    wall += passed;
    if (random.OneIn(500)) wall += static_cast<int64_t>(random.Below(20'000 * kMs));
    if (random.OneIn(500)) wall -= static_cast<int64_t>(random.Below(20'000 * kMs));
    const int64_t now = time.Read(wall, monotonic);
    CHECK(now >= last && now >= wall, i, now, last, wall);
    // It goes forward only with time, or up to the wall clock.
    CHECK(i == 0 || now == wall || now - last <= passed, i, now - last, passed);
    last = now;
  }
}

void MillisecondsAreRoundedDown() {
  CHECK(FloorMs(0) == 0 && FloorMs(999'999) == 0 && FloorMs(kMs) == 1);
  CHECK(FloorMs(-1) == -1 && FloorMs(-kMs) == -1 && FloorMs(-kMs - 1) == -2);
  CHECK(FloorMs(INT64_MIN) == -9'223'372'036'855, FloorMs(INT64_MIN));
}

void GatesOpenOnlyInsideTheirWindow() {
  CounterGate shut(0);
  CHECK(!shut.StillFresh());
  shut.Mark();
  for (int i = 0; i < 1000; ++i) CHECK(!shut.StillFresh());
#if defined(GRAUPEL_COUNTER)
  CounterGate open(UINT64_MAX);
  open.Mark();
  CHECK(open.StillFresh());
  CounterGate narrow(1);
  narrow.Mark();
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  CHECK(!narrow.StillFresh());
#endif
}

void RealClocksAreSane() {
  // 2020 to 2120: the unit and the epoch are right.
  CHECK(WallNs() / 1'000'000'000 > 1'577'836'800, WallNs());
  CHECK(WallNs() / 1'000'000'000 < 4'733'510'400, WallNs());
  int64_t last = MonotonicNs();
  for (int i = 0; i < 100'000; ++i) {
    const int64_t now = MonotonicNs();
    CHECK(now >= last, i, now, last);
    last = now;
  }
  const int64_t start = MonotonicNs();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  // An upper bound would depend on the scheduler. A wrong unit is off by a
  // factor of 1000.
  CHECK(MonotonicNs() - start >= 20 * kMs, MonotonicNs() - start);
  CHECK(MonotonicNs() - start < 20'000 * kMs, MonotonicNs() - start);

  // The gate may keep an old reading, of less than a millisecond in any case.
  WallClock wall;
  SteadyClock steady;
  const int64_t until = MonotonicNs() + 30 * kMs;
  int64_t last_steady = INT64_MIN;
  while (MonotonicNs() < until) {
    const int64_t before = FloorMs(WallNs());
    const int64_t now = wall.NowMs();
    CHECK(now >= before - 1 && now <= FloorMs(WallNs()), now, before);
    const int64_t now_steady = steady.NowMs();
    CHECK(now_steady >= last_steady && now_steady >= before - 1, now_steady, before);
    last_steady = now_steady;
  }
}

// xorshift32 (Marsaglia 2003), which gives the same bits in JavaScript.
uint32_t XorShift(uint32_t& state) {
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return state;
}

// Whole milliseconds in, and sixteenths of a millisecond out. Both engines represent
// these exactly, the native engine in integers and the js engine in doubles.
void PrintSteadyScript(uint32_t seed, uint64_t count) {
  uint32_t random = seed;
  int64_t wall = 1'700'000'000'000;
  int64_t monotonic = 1000;
  SteadyTime time;
  for (uint64_t i = 0; i < count; ++i) {
    const int64_t passed = XorShift(random) % 40;
    monotonic += passed;
    wall += passed;
    if (XorShift(random) % 50 == 0) {
      wall += static_cast<int64_t>(XorShift(random) % 20'001) - 10'000;
    }
    const int64_t now = time.Read(wall * kMs, monotonic * kMs);
    std::printf("%" PRId64 "\n", now / (kMs / SteadyTime::kSlew));
  }
}

void Clocks(int argc, char** argv) {
  if (argc == 4 && std::strcmp(argv[1], "--steady-script") == 0) {
    PrintSteadyScript(static_cast<uint32_t>(std::strtoul(argv[2], nullptr, 10)),
                      std::strtoull(argv[3], nullptr, 10));
    return;
  }
  SteadyTimeFollowsTheWallForward();
  SteadyTimeLosesASixteenthWhileTheWallIsBehind();
  SteadyTimeSlewsAlsoWhereItIsReadOften();
  for (uint64_t seed = 1; seed <= 5; ++seed) SteadyTimeNeverGoesBack(seed);
  MillisecondsAreRoundedDown();
  GatesOpenOnlyInsideTheirWindow();
  RealClocksAreSane();
}

const Subcommand kClocks{"clock", Clocks};

}  // namespace
}  // namespace graupel
