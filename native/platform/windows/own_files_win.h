#ifndef GRAUPEL_PLATFORM_OWN_FILES_WIN_H_
#define GRAUPEL_PLATFORM_OWN_FILES_WIN_H_

#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "../../host/fault.h"

namespace graupel {

// Checks that come before a file or folder is trusted, and code that several files of
// this folder need.

inline constexpr DWORD kShareAll =
    FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE;
// Opens the file or folder at the path itself, and follows no link.
inline constexpr DWORD kAsItIs =
    FILE_FLAG_OPEN_REPARSE_POINT | FILE_FLAG_BACKUP_SEMANTICS;
// Virus scanners and indexers open new files, and lock other processes out meanwhile.
inline constexpr int kScannerMs = 1000;

std::wstring Wide(const std::string& text);
std::string Narrow(const std::wstring& wide);

inline Fault LastFault(const char* call, const std::string& path) {
  return Fault::System(call, static_cast<int>(GetLastError()), path);
}

// A function of ntdll.dll, which is in no import library that every compiler links.
template <typename Function>
Function* FromNtdll(const char* name) {
  return reinterpret_cast<Function*>(
      reinterpret_cast<void*>(GetProcAddress(GetModuleHandleW(L"ntdll.dll"), name)));
}

// Repeats `call` until it succeeds, the time is over, or it fails for another reason
// than that another process has the file or its lock.
template <typename Call>
bool Within(int timeout_ms, Call call) {
  const ULONGLONG end = GetTickCount64() + static_cast<ULONGLONG>(timeout_ms);
  for (;;) {
    if (call()) return true;
    const DWORD error = GetLastError();
    const bool is_taken =
        error == ERROR_LOCK_VIOLATION || error == ERROR_SHARING_VIOLATION;
    if (!is_taken || GetTickCount64() >= end) return false;
    Sleep(1);
  }
}

inline OVERLAPPED At(uint64_t offset) {
  OVERLAPPED at{};
  at.Offset = static_cast<DWORD>(offset);
  at.OffsetHigh = static_cast<DWORD>(offset >> 32);
  return at;
}

// Writes all of the bytes, or fails.
Fault WriteAll(HANDLE handle, const std::string& path, uint64_t offset,
               const void* bytes, size_t count);

// The user's profile, from the process's token and not from its environment.
Fault ProfileFolder(std::wstring* folder);

// Security attributes for a new file or folder of this user alone, without the rights
// that its parent folder passes on.
class OwnOnly {
 public:
  OwnOnly() = default;
  ~OwnOnly();
  OwnOnly(const OwnOnly&) = delete;
  OwnOnly& operator=(const OwnOnly&) = delete;

  Fault Make(bool is_folder);
  SECURITY_ATTRIBUTES* attributes() { return &attributes_; }

 private:
  SECURITY_ATTRIBUTES attributes_{};
};

// kUnsafe unless the file or folder is this user's alone.
Fault CheckOwner(HANDLE handle, const std::string& path);

// kUnsafe unless the file is on a volume of this machine that stores owners.
Fault CheckVolume(HANDLE handle, const std::string& path);

}  // namespace graupel

#endif  // GRAUPEL_PLATFORM_OWN_FILES_WIN_H_
