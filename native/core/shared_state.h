#ifndef GRAUPEL_CORE_SHARED_STATE_H_
#define GRAUPEL_CORE_SHARED_STATE_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "fault.h"

namespace graupel {

// What the core needs of an operating system to share a state between processes:
// shared_state_posix.cc, shared_state_win.cc. Paths are in UTF-8.

// The folder of this user's pages, made if there is none, and proven to be this
// user's alone: in `parent`, or if that is empty, in memory where the system has a
// folder for that, else in one for temporary files. Nothing else counts that differs
// between the processes of a user.
Fault MemoryFolder(const std::string& parent, std::string* folder);

// Another one after each start of the system, up to 39 characters.
Fault BootId(std::string* id);

void RandomBytes(void* bytes, size_t count);

// Starts a thread that lives until `run` returns, and gets no signals.
Fault StartThread(void (*run)(void*), void* data);

// Makes a file of `size` bytes, zero beyond `head`, readable and writable by this
// user alone. It is there with all of its contents or not at all, after a loss of
// power too if `is_durable` or where it is not in memory. kExists where there is one
// already.
Fault CreateFileWith(const std::string& path, const std::string& head, size_t size,
                     bool is_durable);

// Whether there is anything at a path, of whatever kind.
Fault IsThere(const std::string& path, bool* is_there);

// An open file, proven to be a plain one of this user's alone, on a file system
// of this machine. Closed by its destructor.
class SharedFile {
 public:
  SharedFile() = default;
  ~SharedFile();
  SharedFile(const SharedFile&) = delete;
  SharedFile& operator=(const SharedFile&) = delete;

  // kMissing where there is none.
  Fault Open(const std::string& path);
  const std::string& path() const { return path_; }

  Fault Size(uint64_t* size) const;
  // Exactly `count` bytes.
  Fault Read(uint64_t offset, void* bytes, size_t count) const;
  Fault Write(uint64_t offset, const void* bytes, size_t count) const;
  // Returns when what was written is on the disk.
  Fault Sync() const;
  // Makes sure that the bytes have memory, which a write to a mapping could else
  // be the first to lack.
  Fault Allocate(uint64_t offset, uint64_t count) const;
  // Kept until the process ends, or Unmap().
  Fault Map(size_t size, void** address) const;

  // Whether this file is what the path leads to: kLost if certainly not.
  Fault StillThere() const;

  // Who has a file in use holds its use, any number at a time; and who is alone
  // can say so, and is then alone until ShareUse(). Both end with the process,
  // however it ends.
  bool TryAlone();
  Fault ShareUse(int timeout_ms);
  // Whoever changes what the file says holds this one. kBusy after the timeout.
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
#endif
};

void Unmap(void* address, size_t size);

// Which file it is that a path led to, for asking again cheaply.
class FileIdentity {
 public:
  FileIdentity() = default;
  explicit FileIdentity(const SharedFile& file);
  // False where the path certainly leads nowhere, or to another file. What cannot be
  // looked up, such as after the process has given up its rights, is still there.
  bool IsAt(const std::string& path) const;
  bool operator==(const FileIdentity& other) const {
    return device_ == other.device_ && file_ == other.file_;
  }

 private:
  uint64_t device_ = 0;
  uint64_t file_ = 0;
};

}  // namespace graupel

#endif  // GRAUPEL_CORE_SHARED_STATE_H_
