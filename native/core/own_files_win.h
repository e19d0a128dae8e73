#ifndef GRAUPEL_CORE_OWN_FILES_WIN_H_
#define GRAUPEL_CORE_OWN_FILES_WIN_H_

#ifndef NOMINMAX
#define NOMINMAX
#endif
#include <windows.h>

#include <string>

#include "fault.h"

namespace graupel {

// What shared_state_win.cc makes sure of before it trusts a file.

std::wstring Wide(const std::string& text);
std::string Narrow(const std::wstring& wide);

inline Fault LastFault(const char* call, const std::string& path) {
  return Fault::System(call, static_cast<int>(GetLastError()), path);
}

// Of the functions that are in no import library which every compiler links.
template <typename Function>
Function* FromNtdll(const char* name) {
  return reinterpret_cast<Function*>(
      reinterpret_cast<void*>(GetProcAddress(GetModuleHandleW(L"ntdll.dll"), name)));
}

// The user's profile, by the process's token and not by its environment.
Fault ProfileFolder(std::wstring* folder);

// For making what is this user's alone, whatever its folder hands down.
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

// kUnsafe unless the file is on a volume of this machine that knows owners.
Fault CheckVolume(HANDLE handle, const std::string& path);

}  // namespace graupel

#endif  // GRAUPEL_CORE_OWN_FILES_WIN_H_
