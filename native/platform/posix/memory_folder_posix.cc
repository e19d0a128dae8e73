#if !defined(_WIN32)

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../host/memory_folder.h"
#include "own_files_posix.h"

namespace graupel {
namespace {

using Kind = Fault::Kind;

Fault UsualParent(std::string* parent) {
#if defined(__linux__)
  // /tmp only if the system has no such folder, as on AWS Lambda. A folder that is full
  // or read-only is still the folder of the other processes.
  static constexpr char kMemory[] = "/dev/shm";
  struct stat stat;
  const bool has_one =
      ::stat(kMemory, &stat) == 0 ? S_ISDIR(stat.st_mode) : !IsGone(errno);
  *parent = has_one ? kMemory : "/tmp";
#elif defined(__APPLE__)
  // The folder of the user. TMPDIR usually has the same value, but may have any other.
  char buffer[1024];
  const size_t length = confstr(_CS_DARWIN_USER_TEMP_DIR, buffer, sizeof buffer);
  if (length == 0 || length > sizeof buffer) {
    return Fault::System("confstr", errno, "_CS_DARWIN_USER_TEMP_DIR");
  }
  *parent = buffer;
#else
  *parent = "/tmp";
#endif
  return {};
}

// The number in the name of a user's folder: the user's id outside of the process's
// user namespace (unshare -Ur), so that both sides have one folder. Each line of the
// map is the first id inside, the first id outside, and a count (user_namespaces(7)).
// The map leads one level up; the system does not show the levels above.
uint64_t NumberOf(uint64_t user) {
#if defined(__linux__)
  FILE* const map = fopen("/proc/self/uid_map", "re");
  if (map == nullptr) return user;
  unsigned long long inside;
  unsigned long long outside;
  unsigned long long count;
  while (fscanf(map, "%llu %llu %llu", &inside, &outside, &count) == 3) {
    if (user < inside || user - inside >= count) continue;
    user = outside + (user - inside);
    break;
  }
  fclose(map);
#endif
  return user;
}

// The fault for a path that does not lead to a folder.
Fault NoFolder(const std::string& path) {
  struct stat stat;
  if (lstat(path.c_str(), &stat) != 0) return Fault::System("lstat", errno, path);
  return Fault::Of(
      Kind::kUnsafe, path,
      std::string(S_ISLNK(stat.st_mode) ? "a symbolic link" : "not a folder") +
          ", owned by user " + std::to_string(stat.st_uid));
}

Fault OwnFolder(const std::string& path) {
  // open() finds errors: the folder may exist in a place that is read-only.
  const int made = mkdir(path.c_str(), 0700);
  const int made_error = errno;
  const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  int fd = open(path.c_str(), flags);
  // The umask narrows the mode of a new folder, and may leave no right to open it.
  if (fd < 0 && errno == EACCES && made == 0 && chmod(path.c_str(), 0700) == 0) {
    fd = open(path.c_str(), flags);
  }
  if (fd < 0) {
    if (errno == ELOOP || errno == ENOTDIR) return NoFolder(path);
    // The folder of another user, closed to this user: its owner explains more than the
    // error.
    const int error = errno;
    struct stat stat;
    if (error == EACCES && lstat(path.c_str(), &stat) == 0) {
      const Fault fault = CheckOwner(stat, path);
      if (!fault.IsNone()) return fault;
    }
    if (made != 0 && made_error != EEXIST) {
      return Fault::System("mkdir", made_error, path);
    }
    return Fault::System("open", error, path);
  }
  struct stat stat;
  Fault fault;
  if (made == 0 && fchmod(fd, 0700) != 0) {
    fault = Fault::System("fchmod", errno, path);
  } else if (fstat(fd, &stat) != 0) {
    fault = Fault::System("fstat", errno, path);
  } else {
    fault = CheckOwner(stat, path);
  }
  close(fd);
  return fault;
}

}  // namespace

Fault MemoryFolder(const std::string& parent, std::string* folder) {
  *folder = parent;
  Fault fault;
  if (parent.empty()) fault = UsualParent(folder);
  folder->append("/graupel-").append(std::to_string(NumberOf(geteuid())));
  if (fault.IsNone()) fault = OwnFolder(*folder);
  fault.subject = Fault::Subject::kFolder;
  return fault;
}

}  // namespace graupel

#endif  // !_WIN32
