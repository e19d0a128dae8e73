#if defined(_WIN32)

#include <cstdio>
#include <cstring>
#include <random>

#include "own_files_win.h"
#include "shared_state.h"

namespace graupel {
namespace {

using Kind = Fault::Kind;

constexpr DWORD kShareAll = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
// What is at the path itself, a folder too.
constexpr DWORD kAsItIs = FILE_FLAG_OPEN_REPARSE_POINT | FILE_FLAG_BACKUP_SEMANTICS;
// Virus scanners and indexers open what is new, and let nobody else have it.
constexpr int kScannerMs = 1000;

// Calls `attempt` until it succeeds, fails with something else than that another
// has the file or its lock, or the time is over.
template <typename Attempt>
bool Within(int timeout_ms, Attempt attempt) {
  const ULONGLONG end = GetTickCount64() + static_cast<ULONGLONG>(timeout_ms);
  for (;;) {
    if (attempt()) return true;
    const DWORD error = GetLastError();
    const bool is_taken =
        error == ERROR_LOCK_VIOLATION || error == ERROR_SHARING_VIOLATION;
    if (!is_taken || GetTickCount64() >= end) return false;
    Sleep(1);
  }
}

// By 128 bits on ReFS, and 64 elsewhere. ReFS has the folder's number in one half
// and the file's number within it in the other: at one path, both tell the same.
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

// Whether an error says that there is nothing at a path; every other one leaves it
// open.
bool IsGone(DWORD error) {
  return error == ERROR_FILE_NOT_FOUND || error == ERROR_PATH_NOT_FOUND;
}

OVERLAPPED At(uint64_t offset) {
  OVERLAPPED at{};
  at.Offset = static_cast<DWORD>(offset);
  at.OffsetHigh = static_cast<DWORD>(offset >> 32);
  return at;
}

Fault WriteAll(HANDLE handle, const std::string& path, uint64_t offset,
               const void* bytes, size_t count) {
  OVERLAPPED at = At(offset);
  DWORD written = 0;
  if (!WriteFile(handle, bytes, static_cast<DWORD>(count), &written, &at)) {
    return LastFault("WriteFile", path);
  }
  // A file on a disk takes everything, or fails.
  return written == count ? Fault()
                          : Fault::System("WriteFile", ERROR_WRITE_FAULT, path);
}

// Nobody can read or write bytes that somebody else has locked, so these are bytes
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

struct Start {
  void (*run)(void*);
  void* data;
};

DWORD WINAPI RunStart(void* argument) {
  const Start own = *static_cast<Start*>(argument);
  delete static_cast<Start*>(argument);
  own.run(own.data);
  return 0;
}

// Not GetTempPath(): it goes by TMP, which each process may have another of, and
// the sessions of a terminal server do; nor SHGetKnownFolderPath(), which goes by
// USERPROFILE. With different folders, processes would not meet, and not notice.
//
// A section without a file would be gone with the last process that has it open,
// and a restart would not know of what was issued before the clock was set back.
Fault UsualParent(std::wstring* path) {
  const Fault fault = ProfileFolder(path);
  if (!fault.IsNone()) return fault;
  // The profile of a service may lack some.
  for (const wchar_t* part : {L"\\AppData", L"\\Local", L"\\Temp"}) {
    *path += part;
    CreateDirectoryW(path->c_str(), nullptr);
  }
  return {};
}

Fault OwnFolder(const std::wstring& path, const std::string& name) {
  OwnOnly own_only;
  Fault fault = own_only.Make(true);
  if (!fault.IsNone()) return fault;
  // An error shows below: the folder may be there in a place that is read-only.
  const bool is_made = CreateDirectoryW(path.c_str(), own_only.attributes()) != 0;
  const DWORD made_error = GetLastError();
  const HANDLE handle =
      CreateFileW(path.c_str(), FILE_READ_ATTRIBUTES | READ_CONTROL, kShareAll, nullptr,
                  OPEN_EXISTING, kAsItIs, nullptr);
  if (handle == INVALID_HANDLE_VALUE) {
    if (is_made || made_error == ERROR_ALREADY_EXISTS) {
      return LastFault("CreateFileW", name);
    }
    return Fault::System("CreateDirectoryW", static_cast<int>(made_error), name);
  }
  BY_HANDLE_FILE_INFORMATION info;
  if (!GetFileInformationByHandle(handle, &info)) {
    fault = LastFault("GetFileInformationByHandle", name);
  } else if ((info.dwFileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0) {
    fault = Fault::Of(Kind::kUnsafe, name, "a symbolic link or mount point");
  } else if ((info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) == 0) {
    fault = Fault::Of(Kind::kUnsafe, name, "not a folder");
  } else {
    fault = CheckOwner(handle, name);
  }
  CloseHandle(handle);
  return fault;
}

}  // namespace

Fault MemoryFolder(const std::string& parent, std::string* folder) {
  std::wstring path = Wide(parent);
  Fault fault;
  if (parent.empty()) fault = UsualParent(&path);
  path += L"\\graupel";
  *folder = Narrow(path);
  if (fault.IsNone()) fault = OwnFolder(path, *folder);
  fault.subject = Fault::Subject::kFolder;
  return fault;
}

// When the system started, and the number of that start. The time alone may be the
// same twice where no battery keeps the clock. The number alone may be the same
// after a disk was set back to a former state. If they ever changed while the
// system runs, that would only make who opens a file go by its ceilings.
Fault BootId(std::string* id) {
  // SystemTimeOfDayInformation. Setting the clock moves `boot`, and `bias` with it.
  constexpr ULONG kTimeOfDay = 3;
  struct TimeOfDay {
    uint64_t boot;
    uint64_t now_and_zone[3];
    uint64_t bias;
    uint64_t sleep_bias;
  };
  // KUSER_SHARED_DATA.BootId: the page is at this address in every process.
  const ULONG number = *reinterpret_cast<const volatile ULONG*>(uintptr_t{0x7ffe02c4});
  using Query = LONG NTAPI(ULONG, void*, ULONG, ULONG*);
  const auto query = FromNtdll<Query>("NtQuerySystemInformation");
  uint64_t start = 0;
  // Again if the clock was set between the two parts of an answer.
  for (uint64_t last = 1; start != last;) {
    TimeOfDay time{};
    if (query(kTimeOfDay, &time, sizeof time, nullptr) != 0) {
      return Fault::System("NtQuerySystemInformation", ERROR_NOT_SUPPORTED, "");
    }
    last = start;
    start = time.boot - time.bias;
  }
  char text[40];
  std::snprintf(text, sizeof text, "%08lx-%016llx", number,
                static_cast<unsigned long long>(start));
  *id = text;
  return {};
}

void RandomBytes(void* bytes, size_t count) {
  std::random_device random;
  for (size_t i = 0; i < count; ++i) {
    static_cast<unsigned char*>(bytes)[i] = static_cast<unsigned char>(random());
  }
}

// The module stays while the thread runs: it is pinned (module_copies_win.cc).
Fault StartThread(void (*run)(void*), void* data) {
  auto* start = new Start{run, data};
  const HANDLE thread = CreateThread(nullptr, 0, RunStart, start, 0, nullptr);
  if (thread != nullptr) {
    CloseHandle(thread);
    return {};
  }
  const Fault fault = LastFault("CreateThread", "");
  delete start;
  return fault;
}

Fault CreateFileWith(const std::string& path, const std::string& head, size_t size,
                     bool is_durable) {
  OwnOnly own_only;
  Fault fault = own_only.Make(false);
  if (!fault.IsNone()) return fault;
  const size_t name_at = path.find_last_of("/\\:") + 1;
  uint64_t random;
  RandomBytes(&random, sizeof random);
  const std::wstring fresh = Wide(path.substr(0, name_at) + "." + path.substr(name_at) +
                                  "." + std::to_string(random) + ".new");
  // Temporary: kept in memory as long as there is room.
  const HANDLE handle = CreateFileW(
      fresh.c_str(), GENERIC_READ | GENERIC_WRITE, kShareAll, own_only.attributes(),
      CREATE_NEW, is_durable ? FILE_ATTRIBUTE_NORMAL : FILE_ATTRIBUTE_TEMPORARY,
      nullptr);
  if (handle == INVALID_HANDLE_VALUE) return LastFault("CreateFileW", path);
  std::string bytes = head;
  bytes.resize(size);
  fault = WriteAll(handle, path, 0, bytes.data(), bytes.size());
  // A page too: its folder outlasts a loss of power, after which its name could
  // otherwise lead to nothing but zeros.
  if (fault.IsNone() && !FlushFileBuffers(handle)) {
    fault = LastFault("FlushFileBuffers", path);
  }
  const auto move = [&] {
    return MoveFileExW(fresh.c_str(), Wide(path).c_str(), MOVEFILE_WRITE_THROUGH) != 0;
  };
  const bool is_moved = fault.IsNone() && Within(kScannerMs, move);
  if (fault.IsNone() && !is_moved) {
    const DWORD error = GetLastError();
    fault = error == ERROR_ALREADY_EXISTS || error == ERROR_FILE_EXISTS
                ? Fault::Of(Kind::kExists, path)
                : LastFault("MoveFileExW", path);
  }
  // Its new name: NTFS writes its journal, in which that is, with the file.
  if (is_moved && is_durable && !FlushFileBuffers(handle)) {
    fault = LastFault("FlushFileBuffers", path);
  }
  CloseHandle(handle);
  if (!is_moved) DeleteFileW(fresh.c_str());
  return fault;
}

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
  // The volume first, as one without owners would name a strange one.
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

bool SharedFile::TryAlone() {
  // A handle's own shared lock stands in the way of its exclusive one.
  while (Release(handle_, kUse)) {
  }
  return TryLock(handle_, kUse, LOCKFILE_EXCLUSIVE_LOCK);
}

Fault SharedFile::ShareUse(int timeout_ms) {
  const auto share = [&] { return TryLock(handle_, kUse, 0); };
  if (!Within(timeout_ms, share)) return LockFault(path_);
  // A handle's exclusive lock lets its own shared ones pass, and is the first to be
  // released: who was alone gives that up, and nobody can come in between. Who was
  // not gives up one of two shared ones.
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
