#if !defined(_WIN32)

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

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

uint64_t StartTimeOf([[maybe_unused]] uint32_t pid) {
#if defined(__linux__)
  const std::string path = "/proc/" + std::to_string(pid) + "/stat";
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  char text[1024];
  const ssize_t length = read(fd, text, sizeof text - 1);
  close(fd);
  if (length <= 0) return 0;
  text[length] = '\0';
  // The second field is the program's name, which may hold anything, in parentheses;
  // the start time is the 22nd (proc_pid_stat(5)).
  const char* at = std::strrchr(text, ')');
  for (int field = 2; at != nullptr && field < 22; ++field) {
    at = std::strchr(at + 1, ' ');
  }
  return at == nullptr ? 0 : std::strtoull(at, nullptr, 10);
#else
  return 0;
#endif
}

bool HasEnded(uint64_t process, uint64_t start_time) {
  if (process >> 32 != ThisProcess() >> 32) return false;
  const auto pid = static_cast<uint32_t>(process);
  // Numbers from 2^31 on would stand for groups of processes.
  if (pid == 0 || pid > INT32_MAX) return false;
  if (kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH) return true;
  const uint64_t found = start_time == 0 ? 0 : StartTimeOf(pid);
  return found != 0 && found != start_time;
}

}  // namespace graupel

#endif  // !_WIN32
