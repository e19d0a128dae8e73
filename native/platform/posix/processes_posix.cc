#if !defined(_WIN32)

#include <sys/stat.h>
#include <unistd.h>

#include "../../host/processes.h"

namespace graupel {

uint64_t ThisProcess() {
  uint64_t pid_namespace = 0;
#if defined(__linux__)
  struct stat stat;
  // A kernel without pid namespaces has one, and no file for it.
  if (::stat("/proc/self/ns/pid", &stat) == 0) {
    pid_namespace = static_cast<uint32_t>(stat.st_ino);
  }
#endif
  return pid_namespace << 32 | static_cast<uint32_t>(getpid());
}

}  // namespace graupel

#endif  // !_WIN32
