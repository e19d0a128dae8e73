#ifndef GRAUPEL_CORE_CLOCK_H_
#define GRAUPEL_CORE_CLOCK_H_

#include <cstdint>

#if defined(__x86_64__) || defined(_M_X64)
#if defined(_MSC_VER)
#include <intrin.h>
#else
#include <x86intrin.h>
#endif
#define GRAUPEL_COUNTER 1
#elif defined(__aarch64__) && !defined(_MSC_VER)
#define GRAUPEL_COUNTER 1
#endif

namespace graupel {

int64_t WallNs();       // Since 1970, may step.
int64_t MonotonicNs();  // Since an unknown start, never back.

// Counts of the processor's time-stamp counter for which a clock reading may
// be used again, some ten to thirty microseconds; 0 if the counter cannot be
// trusted, so that every call has to read the clock.
uint64_t CounterWindow();

inline uint64_t ReadCounter() {
#if !defined(GRAUPEL_COUNTER)
  return 0;
#elif defined(__aarch64__)
  uint64_t count;
  asm volatile("mrs %0, cntvct_el0" : "=r"(count));
  return count;
#else
  return __rdtsc();
#endif
}

// Decides whether the clock has to be read again. No time is computed from the counter,
// so a counter that is wrong can only stamp an id too early, by at most the window. Ids
// stay distinct and in order at every value of the counter.
class CounterGate {
 public:
  explicit CounterGate(uint64_t window = CounterWindow()) : window_(window) {}

  bool StillFresh() const {
#if defined(GRAUPEL_COUNTER)
    // Unsigned: a counter that went back (another socket, a resumed machine)
    // makes a huge difference. With window 0 nothing is ever fresh.
    return ReadCounter() - read_at_ < window_;
#else
    return false;
#endif
  }
  // Called before the clock is read, so that the reading is never older than
  // the gate believes.
  void Mark() { read_at_ = ReadCounter(); }

 private:
  const uint64_t window_;
  uint64_t read_at_ = 0;
};

// Wall time carried by the monotonic clock. It follows the wall clock forward
// at once (a suspended machine, a late first synchronisation). While the wall
// clock is behind, it loses one part in kSlew until they meet, and never goes
// back. Pure; src/engine/js/clock.ts is the same in TypeScript.
class SteadyTime {
 public:
  static constexpr int64_t kSlew = 16;
  static constexpr int64_t kNsPerMs = 1'000'000;

  int64_t Read(int64_t wall_ns, int64_t monotonic_ns) {
    int64_t now = offset_ + monotonic_ns;
    if (!started_ || wall_ns >= now) {
      started_ = true;
      offset_ = wall_ns - monotonic_ns;
      slewed_at_ = monotonic_ns;
      now = wall_ns;
    } else if (monotonic_ns - slewed_at_ >= kNsPerMs) {
      const int64_t share = (monotonic_ns - slewed_at_) / kSlew;
      const int64_t behind = now - wall_ns;
      offset_ -= share < behind ? share : behind;
      slewed_at_ = monotonic_ns;
      now = offset_ + monotonic_ns;
    }
    if (now > last_) last_ = now;
    return last_;
  }

 private:
  bool started_ = false;
  int64_t offset_ = 0;
  int64_t slewed_at_ = 0;
  int64_t last_ = INT64_MIN;
};

inline int64_t FloorMs(int64_t ns) {
  const int64_t ms = ns / SteadyTime::kNsPerMs;
  return ns % SteadyTime::kNsPerMs < 0 ? ms - 1 : ms;
}

struct WallSource {
  int64_t ReadNs() { return WallNs(); }
};

struct SteadySource {
  int64_t ReadNs() { return time.Read(WallNs(), MonotonicNs()); }
  SteadyTime time;
};

// Milliseconds since 1970, one per thread. Not thread-safe.
template <typename Source>
class Clock {
 public:
  int64_t NowMs() { return gate_.StillFresh() ? now_ms_ : ReadMs(); }

  int64_t ReadMs() {
    gate_.Mark();
    now_ms_ = FloorMs(source_.ReadNs());
    return now_ms_;
  }

 private:
  CounterGate gate_;
  Source source_;
  int64_t now_ms_ = 0;
};

using WallClock = Clock<WallSource>;
using SteadyClock = Clock<SteadySource>;

}  // namespace graupel

#endif  // GRAUPEL_CORE_CLOCK_H_
