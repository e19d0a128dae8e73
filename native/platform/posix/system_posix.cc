#if !defined(_WIN32)

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "../../host/system.h"

#if defined(__APPLE__)
#include <sys/sysctl.h>
#endif

namespace graupel {
namespace {

[[maybe_unused]] Fault NoBootId(const char* call, int error, const char* source) {
  Fault fault = Fault::System(call, error, source);
  fault.subject = Fault::Subject::kBootId;
  return fault;
}

}  // namespace

Fault BootId(std::string* id) {
#if defined(__linux__)
  static constexpr char kPath[] = "/proc/sys/kernel/random/boot_id";
  const int fd = open(kPath, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return NoBootId("open", errno, kPath);
  char buffer[64];
  const ssize_t length = read(fd, buffer, sizeof buffer);
  const int error = errno;
  close(fd);
  if (length <= 0) return NoBootId("read", length < 0 ? error : EIO, kPath);
  id->assign(buffer, static_cast<size_t>(length));
  while (!id->empty() && id->back() == '\n') id->pop_back();
#elif defined(__APPLE__)
  char buffer[64];
  size_t length = sizeof buffer;
  if (sysctlbyname("kern.bootsessionuuid", buffer, &length, nullptr, 0) != 0) {
    return NoBootId("sysctlbyname", errno, "kern.bootsessionuuid");
  }
  id->assign(buffer);
#else
  struct timespec up;
  clock_gettime(CLOCK_MONOTONIC, &up);
  // Other systems have no name for a start; this is its second, by the clock.
  *id = "up-since-" + std::to_string(time(nullptr) - up.tv_sec);
#endif
  return {};
}

Fault StartThread(void (*run)(void*), void* data) {
  struct Start {
    void (*run)(void*);
    void* data;
  };
  auto* start = new Start{run, data};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  // Signals are blocked, because they are for threads that expect an interruption.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  pthread_t thread;
  const int error = pthread_create(
      &thread, &attributes,
      [](void* argument) -> void* {
        const Start own = *static_cast<Start*>(argument);
        delete static_cast<Start*>(argument);
        own.run(own.data);
        return nullptr;
      },
      start);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_attr_destroy(&attributes);
  if (error == 0) return {};
  delete start;
  return Fault::System("pthread_create", error, "");
}

}  // namespace graupel

#endif  // !_WIN32
