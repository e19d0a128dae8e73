#if !defined(_WIN32)

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <random>

#include "shared_state.h"

#if defined(__linux__)
#include <sys/syscall.h>
#include <sys/vfs.h>
#else
#include <sys/mount.h>
#include <sys/param.h>
#endif
#if defined(__APPLE__)
#include <sys/sysctl.h>
#endif

namespace graupel {
namespace {

using Kind = Fault::Kind;

// Whether an error says that there is nothing at a path; every other one leaves it
// open.
bool IsGone(int error) { return error == ENOENT || error == ENOTDIR; }

std::string FolderOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// Where another machine may write the same file, neither memory nor locks are
// shared with it. FUSE may be anything, and says nothing about its syncs.
Fault CheckFileSystem(int fd, const std::string& path) {
  struct statfs system;
  if (fstatfs(fd, &system) != 0) return Fault::System("fstatfs", errno, path);
#if defined(__linux__)
  static constexpr struct {
    uint32_t magic;
    const char* name;
  } kRemote[] = {
      {0x6969, "NFS"},        {0x517b, "SMB"},        {0xff534d42, "CIFS"},
      {0xfe534d42, "SMB2"},   {0x01021997, "9p"},     {0x65735546, "FUSE"},
      {0x00c36400, "Ceph"},   {0x0bd00bd0, "Lustre"}, {0x47504653, "GPFS"},
      {0x5346414f, "AFS"},    {0x6b414653, "AFS"},    {0x73757245, "Coda"},
      {0x564c, "NCP"},        {0x01161970, "GFS2"},   {0x7461636f, "OCFS2"},
      {0x786f4256, "vboxsf"}, {0x19830326, "BeeGFS"}, {0x7c7c6673, "prl_fs"},
      {0xbacbacbc, "VMware"}, {0xaad7aaea, "PanFS"},  {0x013111a8, "IBRIX"},
      {0x61756673, "aufs"},
  };
  for (const auto& remote : kRemote) {
    if (static_cast<uint32_t>(system.f_type) == remote.magic) {
      return Fault::Of(Kind::kUnsafe, path, std::string("on ") + remote.name);
    }
  }
#else
  if ((system.f_flags & MNT_LOCAL) == 0) {
    return Fault::Of(Kind::kUnsafe, path, std::string("on ") + system.f_fstypename);
  }
#endif
  return {};
}

Fault CheckOwner(const struct stat& stat, const std::string& path) {
  if (stat.st_uid != geteuid()) {
    return Fault::Of(Kind::kUnsafe, path,
                     "owned by user " + std::to_string(stat.st_uid) + " and not by " +
                         std::to_string(geteuid()));
  }
  if ((stat.st_mode & 077) != 0) {
    char mode[8];
    snprintf(mode, sizeof mode, "%04o", static_cast<unsigned>(stat.st_mode & 07777));
    return Fault::Of(Kind::kUnsafe, path,
                     std::string("open to other users by its mode ") + mode);
  }
  return {};
}

// Moves a file to a place where there is none; never over another one.
int RenameNew(const char* from, const char* to) {
#if defined(__APPLE__)
  return renamex_np(from, to, RENAME_EXCL);
#else
#if defined(__linux__)
  // Not every C library has the function. 1 is RENAME_NOREPLACE, which not every file
  // system has.
  const long result = syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 1);
  if (result == 0 || (errno != EINVAL && errno != ENOSYS)) {
    return static_cast<int>(result);
  }
#endif
  // Who opens it between the two is refused, for its second name (SharedFile::Open).
  if (link(from, to) != 0) return -1;
  return unlink(from);
#endif
}

int SyncFile(int fd) {
#if defined(__APPLE__)
  // fsync() there leaves the bytes in the disk's own memory.
  return fcntl(fd, F_FULLFSYNC);
#else
  return fdatasync(fd);
#endif
}

// Calls `attempt` until it succeeds, fails with something else than EWOULDBLOCK,
// or the time is over. There is no call that waits for a lock only so long.
template <typename Attempt>
int Within(int timeout_ms, Attempt attempt) {
  for (int waited_ms = 0;; ++waited_ms) {
    const int result = attempt();
    if (result == 0 || (errno != EWOULDBLOCK && errno != EINTR)) return result;
    if (waited_ms >= timeout_ms) return errno = EWOULDBLOCK, -1;
    poll(nullptr, 0, 1);
  }
}

Fault WriteAll(int fd, const std::string& path, uint64_t offset, const char* bytes,
               size_t count) {
  while (count > 0) {
    const ssize_t written = pwrite(fd, bytes, count, static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Fault::System("pwrite", errno, path);
    bytes += written;
    offset += static_cast<uint64_t>(written);
    count -= static_cast<size_t>(written);
  }
  return {};
}

// Elsewhere than on Linux no folder is in memory.
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
  // The mode given to open() is narrowed by the umask, by which it could be none.
  if (fchmod(fd, 0600) != 0) return Fault::System("fchmod", errno, path);
  if (ftruncate(fd, static_cast<off_t>(size)) != 0) {
    return Fault::System("ftruncate", errno, path);
  }
  // Written and not only allocated: on a disk, the first write to what was only
  // allocated has to note that, and can fail for lack of room. In memory, what nobody
  // needs yet costs nothing (Allocate).
  std::string bytes = head;
  if (is_durable) bytes.resize(size);
  Fault fault = WriteAll(fd, path, 0, bytes.data(), bytes.size());
  // After a loss of power, a name without its contents would be a page that is damaged
  // for good.
  if (fault.IsNone() && is_durable && fsync(fd) != 0) {
    fault = Fault::System("fsync", errno, path);
  }
  return fault;
}

Fault SyncFolder(const std::string& folder) {
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return Fault::System("open", errno, folder);
  const int result = fsync(fd);
  const int error = errno;
  close(fd);
  return result == 0 ? Fault() : Fault::System("fsync", error, folder);
}

}  // namespace

namespace {

Fault UsualParent(std::string* parent) {
#if defined(__linux__)
  // Only where a system has no such folder at all, as on AWS Lambda: one that is full,
  // or read-only, is the one that the other processes have.
  static constexpr char kMemory[] = "/dev/shm";
  struct stat stat;
  const bool has_one =
      ::stat(kMemory, &stat) == 0 ? S_ISDIR(stat.st_mode) : !IsGone(errno);
  *parent = has_one ? kMemory : "/tmp";
#elif defined(__APPLE__)
  // The user's own; TMPDIR usually says the same, and may say anything.
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

// What is at the path of the folder and is none.
Fault NoFolder(const std::string& path) {
  struct stat stat;
  if (lstat(path.c_str(), &stat) != 0) return Fault::System("lstat", errno, path);
  return Fault::Of(
      Kind::kUnsafe, path,
      std::string(S_ISLNK(stat.st_mode) ? "a symbolic link" : "not a folder") +
          ", owned by user " + std::to_string(stat.st_uid));
}

Fault OwnFolder(const std::string& path) {
  // An error shows in open(): the folder may be there in a place that is read-only.
  const int made = mkdir(path.c_str(), 0700);
  const int made_error = errno;
  const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  const int fd = open(path.c_str(), flags);
  if (fd < 0) {
    if (errno == ELOOP || errno == ENOTDIR) return NoFolder(path);
    // Another user's, and closed to this one: its owner says more than the error does.
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
  folder->append("/graupel-").append(std::to_string(geteuid()));
  if (fault.IsNone()) fault = OwnFolder(*folder);
  fault.subject = Fault::Subject::kFolder;
  return fault;
}

Fault BootId(std::string* id) {
#if defined(__linux__)
  static constexpr char kPath[] = "/proc/sys/kernel/random/boot_id";
  const int fd = open(kPath, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return Fault::System("open", errno, kPath);
  char buffer[64];
  const ssize_t length = read(fd, buffer, sizeof buffer);
  const int error = errno;
  close(fd);
  if (length <= 0) return Fault::System("read", length < 0 ? error : EIO, kPath);
  id->assign(buffer, static_cast<size_t>(length));
  while (!id->empty() && id->back() == '\n') id->pop_back();
#elif defined(__APPLE__)
  char buffer[64];
  size_t length = sizeof buffer;
  if (sysctlbyname("kern.bootsessionuuid", buffer, &length, nullptr, 0) != 0) {
    return Fault::System("sysctlbyname", errno, "kern.bootsessionuuid");
  }
  id->assign(buffer);
#else
  struct timespec up;
  clock_gettime(CLOCK_MONOTONIC, &up);
  // No name there: the second in which it started, as well as the clock knows it.
  *id = "up-since-" + std::to_string(time(nullptr) - up.tv_sec);
#endif
  return {};
}

void RandomBytes(void* bytes, size_t count) {
  std::random_device random;
  for (size_t i = 0; i < count; ++i) {
    static_cast<unsigned char*>(bytes)[i] = static_cast<unsigned char>(random());
  }
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
  // Signals are for the threads that expect to be interrupted.
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
    fault = errno == EEXIST ? Fault::Of(Kind::kExists, path)
                            : Fault::System("rename", errno, path);
  }
  if (!fault.IsNone()) {
    unlink(fresh.c_str());
    return fault;
  }
  return is_durable ? SyncFolder(FolderOf(path)) : Fault();
}

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

Fault SharedFile::Allocate(uint64_t offset, uint64_t count) const {
#if defined(__linux__)
  const int error =
      posix_fallocate(fd_, static_cast<off_t>(offset), static_cast<off_t>(count));
  if (error != 0) return Fault::System("posix_fallocate", error, path_);
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

// flock() and not fcntl(): its locks belong to the open file and not to the
// process, whose other copies of this module open the same file; and other
// systems than Linux have nothing else of that kind.

bool SharedFile::TryAlone() { return flock(fd_, LOCK_EX | LOCK_NB) == 0; }

Fault SharedFile::ShareUse(int timeout_ms) {
  if (Within(timeout_ms, [&] { return flock(fd_, LOCK_SH | LOCK_NB); }) == 0) return {};
  return errno == EWOULDBLOCK ? Fault::Of(Kind::kBusy, path_)
                              : Fault::System("flock", errno, path_);
}

Fault SharedFile::Lock(int timeout_ms) {
  // The file's own lock says who uses it, so this is the folder's.
  if (folder_fd_ < 0) {
    const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
    folder_fd_ = open(FolderOf(path_).c_str(), flags);
    if (folder_fd_ < 0) return Fault::System("open", errno, FolderOf(path_));
  }
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
