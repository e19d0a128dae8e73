#ifndef GRAUPEL_HOST_SHARED_FILE_H_
#define GRAUPEL_HOST_SHARED_FILE_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "fault.h"

namespace graupel {

// Makes a file of `size` bytes, zero beyond `head`, readable and writable by this user
// alone. It appears with all of its contents or not at all, also after a loss of power
// if `is_durable` or if the file is on a disk. SharedFile::SyncName() makes it stay.
// kExists if there is a file already.
Fault CreateFileWith(const std::string& path, const std::string& head, size_t size,
                     bool is_durable);

// Whether there is anything at a path: a file, a folder or a link.
Fault IsThere(const std::string& path, bool* is_there);

// An open file, checked to be a plain file of this user alone, on a file system of this
// machine. The destructor closes it.
class SharedFile {
 public:
  SharedFile() = default;
  ~SharedFile();
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;

  // kMissing if there is no file.
  Fault Open(const std::string& path);
  const std::string& path() const { return path_; }

  Fault Size(uint64_t* size) const;
  // Exactly `count` bytes.
  Fault Read(uint64_t offset, void* bytes, size_t count) const;
  Fault Write(uint64_t offset, const void* bytes, size_t count) const;
  // Returns when the written bytes are on the disk.
  Fault Sync() const;
  // Returns when the file's name is on the disk; on macOS, a Sync() has to follow,
  // which empties the disk's own cache.
  Fault SyncName();
  // Gives the bytes memory, so that a later write to the mapping cannot fail for lack
  // of it.
  Fault Allocate(uint64_t offset, uint64_t count) const;
  // The mapping stays until the process ends, or until Unmap().
  Fault Map(size_t size, void** address) const;

  // Whether the path leads to this file: kLost if it certainly does not.
  Fault StillThere() const;

  // A lock of the file's use. TryExclusiveUse() succeeds if no other process has the
  // file in use, and ShareUse() then turns the exclusive use into a shared one, of
  // which there may be any number. Both end with the process.
  bool TryExclusiveUse();
  Fault ShareUse(int timeout_ms);
  // The lock of the file's contents, held while they change. kBusy after the timeout.
  Fault Lock(int timeout_ms);
  void Unlock();

 private:
  friend class FileIdentity;
  std::string path_;
#if defined(_WIN32)
  void* handle_ = nullptr;
#else
  int fd_ = -1;
  int folder_fd_ = -1;
  Fault OpenFolder();
#endif
};

void Unmap(void* address, size_t size);

// Identifies the file to which a path led, so that a later check is cheap.
class FileIdentity {
 public:
  FileIdentity() = default;
  explicit FileIdentity(const SharedFile& file);
  // False if the path certainly leads nowhere, or to another file. True if it cannot be
  // looked up, such as after the process has given up its rights.
  bool IsAt(const std::string& path) const;
  bool operator==(const FileIdentity& other) const {
    return device_ == other.device_ && file_ == other.file_;
  }

 private:
  uint64_t device_ = 0;
  uint64_t file_ = 0;
};

}  // namespace graupel

#endif  // GRAUPEL_HOST_SHARED_FILE_H_
