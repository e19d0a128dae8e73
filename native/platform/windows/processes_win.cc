#if defined(_WIN32)

#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>

#include "../../host/processes.h"

namespace graupel {

uint64_t ThisProcess() { return GetCurrentProcessId(); }

}  // namespace graupel

#endif  // _WIN32
