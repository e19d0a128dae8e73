#if defined(_WIN32)

#include <cstdio>

#include "../../host/system.h"
#include "own_files_win.h"

namespace graupel {
namespace {

struct Start {
  void (*run)(void*);
  void* data;
};

DWORD WINAPI RunStart(void* argument) {
  const Start own = *static_cast<Start*>(argument);
  delete static_cast<Start*>(argument);
  own.run(own.data);
  return 0;
}

}  // namespace

// The time of the system's start, and the number of the start. The time alone may
// repeat if no battery keeps the clock. The number alone may repeat after a disk was
// set back to an earlier state. If they changed while the system runs, a process that
// opens a file would only use its ceilings.
Fault BootId(std::string* id) {
  // SystemTimeOfDayInformation. Setting the clock moves `boot`, and `bias` with it.
  constexpr ULONG kTimeOfDay = 3;
  struct TimeOfDay {
    uint64_t boot;
    uint64_t now_and_zone[3];
    uint64_t bias;
    uint64_t sleep_bias;
  };
  // KUSER_SHARED_DATA.BootId: the page is at this address in every process.
  const ULONG number = *reinterpret_cast<const volatile ULONG*>(uintptr_t{0x7ffe02c4});
  using Query = LONG NTAPI(ULONG, void*, ULONG, ULONG*);
  const auto query = FromNtdll<Query>("NtQuerySystemInformation");
  uint64_t start = 0;
  // Repeated if the clock was set between the two parts of an answer.
  for (uint64_t last = 1; start != last;) {
    TimeOfDay time{};
    if (query(kTimeOfDay, &time, sizeof time, nullptr) != 0) {
      return Fault::System("NtQuerySystemInformation", ERROR_NOT_SUPPORTED, "");
    }
    last = start;
    start = time.boot - time.bias;
  }
  char text[40];
  std::snprintf(text, sizeof text, "%08lx-%016llx", number,
                static_cast<unsigned long long>(start));
  *id = text;
  return {};
}

// The module stays loaded while the thread runs: it is pinned (module_copies_win.cc).
Fault StartThread(void (*run)(void*), void* data) {
  auto* start = new Start{run, data};
  const HANDLE thread = CreateThread(nullptr, 0, RunStart, start, 0, nullptr);
  if (thread != nullptr) {
    CloseHandle(thread);
    return {};
  }
  const Fault fault = LastFault("CreateThread", "");
  delete start;
  return fault;
}

}  // namespace graupel

#endif  // _WIN32
