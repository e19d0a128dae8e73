#if defined(_WIN32)

#include <cstring>

#include "../../host/shared_file.h"
#include "own_files_win.h"

namespace graupel {
namespace {

using Kind = Fault::Kind;

// A file has a number of 128 bits on ReFS, and of 64 bits on other file systems. ReFS
// has the folder's number in one half and the file's number within it in the other: at
// one path, their XOR tells two files apart.
bool IdentityOf(HANDLE handle, uint64_t* device, uint64_t* file) {
  FILE_ID_INFO info;
  if (!GetFileInformationByHandleEx(handle, FileIdInfo, &info, sizeof info)) {
    return false;
  }
  uint64_t halves[2];
  static_assert(sizeof halves == sizeof info.FileId);
  std::memcpy(halves, &info.FileId, sizeof halves);
  *device = info.VolumeSerialNumber;
  *file = halves[0] ^ halves[1];
  return true;
}

bool IdentityAt(const std::string& path, uint64_t* device, uint64_t* file) {
  const HANDLE handle = CreateFileW(Wide(path).c_str(), FILE_READ_ATTRIBUTES, kShareAll,
                                    nullptr, OPEN_EXISTING, kAsItIs, nullptr);
  if (handle == INVALID_HANDLE_VALUE) return false;
  const bool is_known = IdentityOf(handle, device, file);
  const DWORD error = GetLastError();
  CloseHandle(handle);
  SetLastError(error);
  return is_known;
}

// Whether an error says that there is nothing at a path; any other error leaves that
// open.
bool IsGone(DWORD error) {
  return error == ERROR_FILE_NOT_FOUND || error == ERROR_PATH_NOT_FOUND;
}

// A locked byte cannot be read or written through another handle, so these are bytes
// that no file has. The locks belong to the handle, and end with it.
constexpr uint64_t kUse = uint64_t{1} << 62;
constexpr uint64_t kLock = kUse + 1;

bool TryLock(HANDLE handle, uint64_t which, DWORD flags) {
  OVERLAPPED at = At(which);
  return LockFileEx(handle, flags | LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &at) != 0;
}

bool Release(HANDLE handle, uint64_t which) {
  OVERLAPPED at = At(which);
  return UnlockFileEx(handle, 0, 1, 0, &at) != 0;
}

Fault LockFault(const std::string& path) {
  return GetLastError() == ERROR_LOCK_VIOLATION ? Fault::Of(Kind::kBusy, path)
                                                : LastFault("LockFileEx", path);
}

}  // namespace

Fault IsThere(const std::string& path, bool* is_there) {
  *is_there = GetFileAttributesW(Wide(path).c_str()) != INVALID_FILE_ATTRIBUTES;
  return *is_there || IsGone(GetLastError()) ? Fault()
                                             : LastFault("GetFileAttributesW", path);
}

SharedFile::~SharedFile() {
  if (handle_ != nullptr) CloseHandle(handle_);
}

Fault SharedFile::Open(const std::string& path) {
  path_ = path;
  const auto open = [&] {
    handle_ = CreateFileW(Wide(path).c_str(), GENERIC_READ | GENERIC_WRITE, kShareAll,
                          nullptr, OPEN_EXISTING, kAsItIs, nullptr);
    if (handle_ == INVALID_HANDLE_VALUE) handle_ = nullptr;
    return handle_ != nullptr;
  };
  if (!Within(kScannerMs, open)) {
    return IsGone(GetLastError()) ? Fault::Of(Kind::kMissing, path)
                                  : LastFault("CreateFileW", path);
  }
  if (GetFileType(handle_) != FILE_TYPE_DISK) {
    return Fault::Of(Kind::kUnsafe, path, "not a plain file");
  }
  BY_HANDLE_FILE_INFORMATION info;
  if (!GetFileInformationByHandle(handle_, &info)) {
    return LastFault("GetFileInformationByHandle", path);
  }
  if ((info.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0) {
    return Fault::Of(Kind::kUnsafe, path, "a symbolic link or another reparse point");
  }
  if ((info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0) {
    return Fault::Of(Kind::kUnsafe, path, "a folder");
  }
  if (info.nNumberOfLinks > 1) {
    return Fault::Of(Kind::kUnsafe, path, "a file with another name, by a hard link");
  }
  // The volume first, because a volume without owners reports a wrong owner.
  const Fault fault = CheckVolume(handle_, path);
  return fault.IsNone() ? CheckOwner(handle_, path) : fault;
}

Fault SharedFile::Size(uint64_t* size) const {
  LARGE_INTEGER found;
  if (!GetFileSizeEx(handle_, &found)) return LastFault("GetFileSizeEx", path_);
  *size = static_cast<uint64_t>(found.QuadPart);
  return {};
}

Fault SharedFile::Read(uint64_t offset, void* bytes, size_t count) const {
  OVERLAPPED at = At(offset);
  DWORD got = 0;
  if (!ReadFile(handle_, bytes, static_cast<DWORD>(count), &got, &at) &&
      GetLastError() != ERROR_HANDLE_EOF) {
    return LastFault("ReadFile", path_);
  }
  return got == count ? Fault() : Fault::Of(Kind::kCorrupt, path_, "it is too short");
}

Fault SharedFile::Write(uint64_t offset, const void* bytes, size_t count) const {
  return WriteAll(handle_, path_, offset, bytes, count);
}

Fault SharedFile::Sync() const {
  return FlushFileBuffers(handle_) ? Fault() : LastFault("FlushFileBuffers", path_);
}

// FlushFileBuffers() flushes the name, too, which NTFS writes with its journal.
Fault SharedFile::SyncName() { return Sync(); }

// Everything was written when the file was made (CreateFileWith).
Fault SharedFile::Allocate(uint64_t, uint64_t) const { return {}; }

Fault SharedFile::Map(size_t size, void** address) const {
  const HANDLE section = CreateFileMappingW(handle_, nullptr, PAGE_READWRITE, 0,
                                            static_cast<DWORD>(size), nullptr);
  if (section == nullptr) return LastFault("CreateFileMappingW", path_);
  *address = MapViewOfFile(section, FILE_MAP_READ | FILE_MAP_WRITE, 0, 0, size);
  const Fault fault = *address != nullptr ? Fault() : LastFault("MapViewOfFile", path_);
  // The view keeps the section.
  CloseHandle(section);
  return fault;
}

void Unmap(void* address, size_t) { UnmapViewOfFile(address); }

Fault SharedFile::StillThere() const {
  uint64_t own[2];
  uint64_t there[2];
  if (!IdentityOf(handle_, &own[0], &own[1])) {
    return LastFault("GetFileInformationByHandleEx", path_);
  }
  if (!IdentityAt(path_, &there[0], &there[1])) {
    return IsGone(GetLastError()) ? Fault::Of(Kind::kLost, path_, "deleted") : Fault();
  }
  if (own[0] != there[0] || own[1] != there[1]) {
    return Fault::Of(Kind::kLost, path_, "replaced by another file");
  }
  return {};
}

bool SharedFile::TryExclusiveUse() {
  // A handle's own shared lock prevents its exclusive lock.
  while (Release(handle_, kUse)) {
  }
  return TryLock(handle_, kUse, LOCKFILE_EXCLUSIVE_LOCK);
}

Fault SharedFile::ShareUse(int timeout_ms) {
  const auto share = [&] { return TryLock(handle_, kUse, 0); };
  if (!Within(timeout_ms, share)) return LockFault(path_);
  // A handle may add a shared lock to its own exclusive lock, and its first unlock
  // releases the exclusive lock: exclusive use turns into shared use without a gap.
  // Without exclusive use, the unlock releases one of two shared locks.
  if (!share()) return LockFault(path_);
  Release(handle_, kUse);
  return {};
}

Fault SharedFile::Lock(int timeout_ms) {
  const auto lock = [&] { return TryLock(handle_, kLock, LOCKFILE_EXCLUSIVE_LOCK); };
  return Within(timeout_ms, lock) ? Fault() : LockFault(path_);
}

void SharedFile::Unlock() { Release(handle_, kLock); }

FileIdentity::FileIdentity(const SharedFile& file) {
  IdentityOf(file.handle_, &device_, &file_);
}

bool FileIdentity::IsAt(const std::string& path) const {
  uint64_t device = 0;
  uint64_t file = 0;
  if (!IdentityAt(path, &device, &file)) return !IsGone(GetLastError());
  return device == device_ && file == file_;
}

}  // namespace graupel

#endif  // _WIN32
