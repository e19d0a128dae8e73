#if !defined(_WIN32)

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../host/shared_file.h"
#include "own_files_posix.h"

namespace graupel {
namespace {

using Kind = Fault::Kind;

int SyncFile(int fd) {
#if defined(__APPLE__)
  // fsync() on macOS leaves the bytes in the cache of the disk.
  return fcntl(fd, F_FULLFSYNC);
#else
  return fdatasync(fd);
#endif
}

// Repeats `call` until it succeeds, fails with another error than EWOULDBLOCK, or the
// time is over. No system call waits for a lock with a time limit.
template <typename Call>
int Within(int timeout_ms, Call call) {
  for (int waited_ms = 0;; ++waited_ms) {
    const int result = call();
    if (result == 0 || (errno != EWOULDBLOCK && errno != EINTR)) return result;
    if (waited_ms >= timeout_ms) return errno = EWOULDBLOCK, -1;
    poll(nullptr, 0, 1);
  }
}

}  // namespace

Fault IsThere(const std::string& path, bool* is_there) {
  struct stat stat;
  *is_there = lstat(path.c_str(), &stat) == 0;
  return *is_there || IsGone(errno) ? Fault() : Fault::System("lstat", errno, path);
}

SharedFile::~SharedFile() {
  if (fd_ >= 0) close(fd_);
  if (folder_fd_ >= 0) close(folder_fd_);
}

Fault SharedFile::Open(const std::string& path) {
  path_ = path;
  fd_ = open(path.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
  if (fd_ < 0) {
    switch (errno) {
      case ENOENT:
        return Fault::Of(Kind::kMissing, path);
      case ELOOP:
        return Fault::Of(Kind::kUnsafe, path, "a symbolic link");
      case EISDIR:
        return Fault::Of(Kind::kUnsafe, path, "a folder");
      case ENXIO:
        return Fault::Of(Kind::kUnsafe, path, "not a plain file");
      default:
        return Fault::System("open", errno, path);
    }
  }
  struct stat stat;
  if (fstat(fd_, &stat) != 0) return Fault::System("fstat", errno, path);
  if (!S_ISREG(stat.st_mode)) {
    return Fault::Of(Kind::kUnsafe, path, "not a plain file");
  }
  if (stat.st_nlink > 1) {
    return Fault::Of(Kind::kUnsafe, path, "a file with another name, by a hard link");
  }
  const Fault fault = CheckOwner(stat, path);
  return fault.IsNone() ? CheckFileSystem(fd_, path) : fault;
}

Fault SharedFile::Size(uint64_t* size) const {
  struct stat stat;
  if (fstat(fd_, &stat) != 0) return Fault::System("fstat", errno, path_);
  *size = static_cast<uint64_t>(stat.st_size);
  return {};
}

Fault SharedFile::Read(uint64_t offset, void* bytes, size_t count) const {
  auto* to = static_cast<char*>(bytes);
  while (count > 0) {
    const ssize_t got = pread(fd_, to, count, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Fault::System("pread", errno, path_);
    if (got == 0) return Fault::Of(Kind::kCorrupt, path_, "it is too short");
    to += got;
    offset += static_cast<uint64_t>(got);
    count -= static_cast<size_t>(got);
  }
  return {};
}

Fault SharedFile::Write(uint64_t offset, const void* bytes, size_t count) const {
  return WriteAll(fd_, path_, offset, static_cast<const char*>(bytes), count);
}

Fault SharedFile::Sync() const {
  return SyncFile(fd_) == 0 ? Fault() : Fault::System("fdatasync", errno, path_);
}

Fault SharedFile::SyncName() {
  const Fault fault = OpenFolder();
  if (!fault.IsNone()) return fault;
  return fsync(folder_fd_) == 0 ? Fault()
                                : Fault::System("fsync", errno, FolderOf(path_));
}

Fault SharedFile::OpenFolder() {
  if (folder_fd_ >= 0) return {};
  folder_fd_ = open(FolderOf(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  return folder_fd_ >= 0 ? Fault() : Fault::System("open", errno, FolderOf(path_));
}

Fault SharedFile::Allocate(uint64_t offset, uint64_t count) const {
#if defined(__linux__)
  // Not posix_fallocate(): its fallback writes to the file, which others have mapped. A
  // file system without fallocate() has the bytes since the file was made (FillNew).
  int result;
  do {
    result = fallocate(fd_, 0, static_cast<off_t>(offset), static_cast<off_t>(count));
  } while (result != 0 && errno == EINTR);
  if (result != 0 && errno != EOPNOTSUPP)
    return Fault::System("fallocate", errno, path_);
#else
  // Everything was written when the file was made (FillNew).
  (void)offset, (void)count;
#endif
  return {};
}

Fault SharedFile::Map(size_t size, void** address) const {
  void* const mapped = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
  if (mapped == MAP_FAILED) return Fault::System("mmap", errno, path_);
  *address = mapped;
  return {};
}

void Unmap(void* address, size_t size) { munmap(address, size); }

Fault SharedFile::StillThere() const {
  struct stat own;
  struct stat there;
  if (fstat(fd_, &own) != 0) return Fault::System("fstat", errno, path_);
  if (lstat(path_.c_str(), &there) != 0) {
    return IsGone(errno) ? Fault::Of(Kind::kLost, path_, "deleted") : Fault();
  }
  if (own.st_dev != there.st_dev || own.st_ino != there.st_ino) {
    return Fault::Of(Kind::kLost, path_, "replaced by another file");
  }
  return {};
}

// flock(), because its locks belong to the open file. The locks of fcntl() belong to
// the process, in which other copies of this module may open the same file. Systems
// other than Linux have no other lock of an open file.

bool SharedFile::TryExclusiveUse() { return flock(fd_, LOCK_EX | LOCK_NB) == 0; }

Fault SharedFile::ShareUse(int timeout_ms) {
  if (Within(timeout_ms, [&] { return flock(fd_, LOCK_SH | LOCK_NB); }) == 0) return {};
  return errno == EWOULDBLOCK ? Fault::Of(Kind::kBusy, path_)
                              : Fault::System("flock", errno, path_);
}

Fault SharedFile::Lock(int timeout_ms) {
  // The file's own lock is the lock of its use, so the folder has this lock.
  const Fault fault = OpenFolder();
  if (!fault.IsNone()) return fault;
  if (Within(timeout_ms, [&] { return flock(folder_fd_, LOCK_EX | LOCK_NB); }) == 0) {
    return {};
  }
  return errno == EWOULDBLOCK ? Fault::Of(Kind::kBusy, path_)
                              : Fault::System("flock", errno, FolderOf(path_));
}

void SharedFile::Unlock() { flock(folder_fd_, LOCK_UN); }

FileIdentity::FileIdentity(const SharedFile& file) {
  struct stat stat;
  if (fstat(file.fd_, &stat) != 0) return;
  device_ = static_cast<uint64_t>(stat.st_dev);
  file_ = static_cast<uint64_t>(stat.st_ino);
}

bool FileIdentity::IsAt(const std::string& path) const {
  struct stat stat;
  if (lstat(path.c_str(), &stat) != 0) return !IsGone(errno);
  return static_cast<uint64_t>(stat.st_dev) == device_ &&
         static_cast<uint64_t>(stat.st_ino) == file_;
}

}  // namespace graupel

#endif  // !_WIN32
