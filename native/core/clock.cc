#include "clock.h"

#if defined(_WIN32)
#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>
#else
#include <time.h>
#endif

#if defined(__x86_64__) && !defined(_MSC_VER)
#include <cpuid.h>
#endif

namespace graupel {

#if defined(_WIN32)

int64_t WallNs() {
  FILETIME time;
  GetSystemTimePreciseAsFileTime(&time);
  const int64_t hundreds =
      (static_cast<int64_t>(time.dwHighDateTime) << 32) | time.dwLowDateTime;
  constexpr int64_t kHundredsFrom1601To1970 = 116'444'736'000'000'000;
  return (hundreds - kHundredsFrom1601To1970) * 100;
}

int64_t MonotonicNs() {
  LARGE_INTEGER frequency;
  LARGE_INTEGER count;
  QueryPerformanceFrequency(&frequency);
  QueryPerformanceCounter(&count);
  const int64_t seconds = count.QuadPart / frequency.QuadPart;
  const int64_t rest = count.QuadPart % frequency.QuadPart;
  return seconds * 1'000'000'000 + rest * 1'000'000'000 / frequency.QuadPart;
}

#else

static int64_t ReadNs(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  return static_cast<int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

int64_t WallNs() { return ReadNs(CLOCK_REALTIME); }
int64_t MonotonicNs() { return ReadNs(CLOCK_MONOTONIC); }

#endif

#if defined(__x86_64__) || defined(_M_X64)

// CPUID 0x80000007, EDX bit 8: "invariant TSC", one rate in all power states
// (Intel SDM 3B 18.17.1, AMD APM 3 appendix E). Without it the counter may
// stand still for as long as the processor sleeps.
static bool HasInvariantTsc() {
  constexpr unsigned kLeaf = 0x80000007;
  constexpr unsigned kInvariantBit = 1u << 8;
#if defined(_MSC_VER)
  int registers[4];
  __cpuid(registers, 0x80000000);
  if (static_cast<unsigned>(registers[0]) < kLeaf) return false;
  __cpuid(registers, kLeaf);
  return (static_cast<unsigned>(registers[3]) & kInvariantBit) != 0;
#else
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid(kLeaf, &eax, &ebx, &ecx, &edx) != 0 && (edx & kInvariantBit) != 0;
#endif
}

uint64_t CounterWindow() {
  // Invariant counters run at 1 to 5 GHz, so this is 7 to 33 microseconds,
  // without measuring the rate when the module is loaded.
  static const uint64_t window = HasInvariantTsc() ? uint64_t{1} << 15 : 0;
  return window;
}

#elif defined(GRAUPEL_COUNTER)

uint64_t CounterWindow() {
  // cntfrq_el0 is the rate in Hz that the firmware wrote down (Arm ARM D12);
  // a firmware that did not leaves 0, which closes the gate.
  uint64_t frequency;
  asm volatile("mrs %0, cntfrq_el0" : "=r"(frequency));
  constexpr uint64_t kWindowsPerSecond = 50'000;  // 20 microseconds.
  return frequency / kWindowsPerSecond;
}

#else

uint64_t CounterWindow() { return 0; }

#endif

}  // namespace graupel
