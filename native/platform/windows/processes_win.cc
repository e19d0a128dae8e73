#if defined(_WIN32)

#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>

#include "../../host/processes.h"

namespace graupel {

uint64_t ThisProcess() { return GetCurrentProcessId(); }

uint64_t StartTimeOf(uint32_t) { return 0; }

bool HasEnded(uint64_t process, uint64_t) {
  const HANDLE handle =
      OpenProcess(SYNCHRONIZE, FALSE, static_cast<DWORD>(process & UINT32_MAX));
  // A process of another user gives another error.
  if (handle == nullptr) return GetLastError() == ERROR_INVALID_PARAMETER;
  // A process stays known for as long as a handle to it is open.
  const bool has_ended = WaitForSingleObject(handle, 0) == WAIT_OBJECT_0;
  CloseHandle(handle);
  return has_ended;
}

}  // namespace graupel

#endif  // _WIN32
