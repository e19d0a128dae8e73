#if !defined(_WIN32)

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../host/shared_file.h"
#include "../../host/system.h"
#include "own_files_posix.h"

#if defined(__linux__)
#include <sys/syscall.h>
#include <sys/vfs.h>
#endif

namespace graupel {
namespace {

// Renames a file to a path; fails if there is a file at the path.
int RenameNew(const char* from, const char* to) {
#if defined(__APPLE__)
  return renamex_np(from, to, RENAME_EXCL);
#else
#if defined(__linux__)
  // Not every C library has the function. 1 is RENAME_NOREPLACE, which not every file
  // system supports.
  const long result = syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 1);
  if (result == 0 || (errno != EINVAL && errno != ENOSYS)) {
    return static_cast<int>(result);
  }
#endif
  // An open between the two calls is refused, because the file has two names
  // (SharedFile::Open).
  if (link(from, to) != 0) return -1;
  return unlink(from);
#endif
}

// False on systems other than Linux, which have no folder in memory.
bool IsInMemory([[maybe_unused]] int fd) {
#if defined(__linux__)
  constexpr uint32_t kTmpfs = 0x01021994;
  constexpr uint32_t kRamfs = 0x858458f6;
  struct statfs system;
  if (fstatfs(fd, &system) != 0) return false;
  const auto magic = static_cast<uint32_t>(system.f_type);
  return magic == kTmpfs || magic == kRamfs;
#else
  return false;
#endif
}

Fault FillNew(int fd, const std::string& path, const std::string& head, size_t size,
              bool is_durable) {
  // The umask narrows the mode of open(), and could leave no rights.
  if (fchmod(fd, 0600) != 0) return Fault::System("fchmod", errno, path);
  if (ftruncate(fd, static_cast<off_t>(size)) != 0) {
    return Fault::System("ftruncate", errno, path);
  }
  // Written, not only allocated: on a disk, the first write to an allocated block
  // changes metadata, and can fail for lack of room. In memory, unused pages cost
  // nothing (Allocate).
  std::string bytes = head;
  if (is_durable) bytes.resize(size);
  Fault fault = WriteAll(fd, path, 0, bytes.data(), bytes.size());
  // After a loss of power, a name without its contents would be a damaged page.
  if (fault.IsNone() && is_durable && fsync(fd) != 0) {
    fault = Fault::System("fsync", errno, path);
  }
  return fault;
}

}  // namespace

Fault CreateFileWith(const std::string& path, const std::string& head, size_t size,
                     bool is_durable) {
  const size_t slash = path.rfind('/');
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  uint64_t random;
  RandomBytes(&random, sizeof random);
  const std::string fresh =
      FolderOf(path) + "/." + name + "." + std::to_string(random) + ".new";
  const int fd = open(fresh.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return Fault::System("open", errno, path);
  is_durable = is_durable || !IsInMemory(fd);
  Fault fault = FillNew(fd, path, head, size, is_durable);
  close(fd);
  if (fault.IsNone() && RenameNew(fresh.c_str(), path.c_str()) != 0) {
    fault = errno == EEXIST ? Fault::Of(Fault::Kind::kExists, path)
                            : Fault::System("rename", errno, path);
  }
  if (!fault.IsNone()) unlink(fresh.c_str());
  return fault;
}

}  // namespace graupel

#endif  // !_WIN32
