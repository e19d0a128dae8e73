#if defined(_WIN32)

#include "own_files_win.h"

#include <aclapi.h>
#include <sddl.h>
#include <userenv.h>
#include <winternl.h>

namespace graupel {
namespace {

using Kind = Fault::Kind;

std::string NameOf(PSID sid) {
  char* text = nullptr;
  if (!ConvertSidToStringSidA(sid, &text)) return "an unknown account";
  const std::string name = text;
  LocalFree(text);
  return name;
}

// The data of the process's token.
class Self {
 public:
  ~Self() {
    if (token_ != nullptr) CloseHandle(token_);
  }

  Fault Ask() {
    DWORD used = 0;
    if (!OpenProcessToken(GetCurrentProcess(), TOKEN_QUERY, &token_)) {
      return LastFault("OpenProcessToken", "");
    }
    if (!GetTokenInformation(token_, TokenUser, user_, sizeof user_, &used) ||
        !GetTokenInformation(token_, TokenOwner, owner_, sizeof owner_, &used)) {
      return LastFault("GetTokenInformation", "");
    }
    return {};
  }
  HANDLE token() const { return token_; }
  PSID user() { return reinterpret_cast<TOKEN_USER*>(user_)->User.Sid; }
  // The default owner of new files: the administrators if the process is elevated.
  PSID owner() { return reinterpret_cast<TOKEN_OWNER*>(owner_)->Owner; }

 private:
  HANDLE token_ = nullptr;
  alignas(8) char user_[sizeof(TOKEN_USER) + SECURITY_MAX_SID_SIZE];
  alignas(8) char owner_[sizeof(TOKEN_OWNER) + SECURITY_MAX_SID_SIZE];
};

// Names another account to which the list gives any right; empty if there is none. The
// system and the administrators do not count, because they can take every right.
std::string OtherIn(ACL* list, PSID user) {
  for (DWORD i = 0; i < list->AceCount; ++i) {
    void* entry;
    if (!GetAce(list, i, &entry)) return "an unknown account";
    auto* const rule = static_cast<ACCESS_ALLOWED_ACE*>(entry);
    const BYTE type = rule->Header.AceType;
    if (type == ACCESS_DENIED_ACE_TYPE || type == ACCESS_DENIED_CALLBACK_ACE_TYPE ||
        (rule->Header.AceFlags & INHERIT_ONLY_ACE) != 0) {
      continue;
    }
    // Other entries have conditions, or are not for files.
    if (type != ACCESS_ALLOWED_ACE_TYPE) return "an unknown account";
    const PSID sid = &rule->SidStart;
    if (rule->Mask == 0 || EqualSid(sid, user) ||
        IsWellKnownSid(sid, WinLocalSystemSid) ||
        IsWellKnownSid(sid, WinBuiltinAdministratorsSid) ||
        IsWellKnownSid(sid, WinCreatorOwnerRightsSid)) {
      continue;
    }
    return NameOf(sid);
  }
  return {};
}

}  // namespace

std::wstring Wide(const std::string& text) {
  const int length = static_cast<int>(text.size());
  const int size = MultiByteToWideChar(CP_UTF8, 0, text.data(), length, nullptr, 0);
  std::wstring wide(static_cast<size_t>(size), L'\0');
  MultiByteToWideChar(CP_UTF8, 0, text.data(), length, wide.data(), size);
  return wide;
}

std::string Narrow(const std::wstring& wide) {
  const int length = static_cast<int>(wide.size());
  const int size = WideCharToMultiByte(CP_UTF8, 0, wide.data(), length, nullptr, 0,
                                       nullptr, nullptr);
  std::string text(static_cast<size_t>(size), '\0');
  WideCharToMultiByte(CP_UTF8, 0, wide.data(), length, text.data(), size, nullptr,
                      nullptr);
  return text;
}

Fault ProfileFolder(std::wstring* folder) {
  Self self;
  const Fault fault = self.Ask();
  if (!fault.IsNone()) return fault;
  wchar_t profile[MAX_PATH];
  DWORD length = MAX_PATH;
  if (!GetUserProfileDirectoryW(self.token(), profile, &length)) {
    return LastFault("GetUserProfileDirectoryW", "");
  }
  *folder = profile;
  return {};
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

OwnOnly::~OwnOnly() { LocalFree(attributes_.lpSecurityDescriptor); }

Fault OwnOnly::Make(bool is_folder) {
  Self self;
  const Fault fault = self.Ask();
  if (!fault.IsNone()) return fault;
  const std::string user = NameOf(self.user());
  const std::string rule = is_folder ? "(A;OICI;FA;;;" : "(A;;FA;;;";
  // The user is the owner, whether the process is elevated or not. The system (SY) and
  // the administrators (BA) make backups. P: protected from the parent folder's rules.
  const std::string text =
      "O:" + user + "D:P" + rule + user + ")" + rule + "SY)" + rule + "BA)";
  attributes_.nLength = sizeof attributes_;
  if (!ConvertStringSecurityDescriptorToSecurityDescriptorA(
          text.c_str(), SDDL_REVISION_1, &attributes_.lpSecurityDescriptor, nullptr)) {
    return LastFault("ConvertStringSecurityDescriptorToSecurityDescriptorA", "");
  }
  return {};
}

Fault CheckOwner(HANDLE handle, const std::string& path) {
  Self self;
  const Fault fault = self.Ask();
  if (!fault.IsNone()) return fault;
  PSID owner = nullptr;
  ACL* list = nullptr;
  PSECURITY_DESCRIPTOR descriptor = nullptr;
  const DWORD error = GetSecurityInfo(
      handle, SE_FILE_OBJECT, OWNER_SECURITY_INFORMATION | DACL_SECURITY_INFORMATION,
      &owner, nullptr, &list, nullptr, &descriptor);
  if (error != ERROR_SUCCESS) {
    return Fault::System("GetSecurityInfo", static_cast<int>(error), path);
  }
  std::string wrong;
  if (!EqualSid(owner, self.user()) && !EqualSid(owner, self.owner())) {
    wrong = "owned by " + NameOf(owner) + " and not by " + NameOf(self.user());
  } else if (list == nullptr) {
    wrong = "open to all users, without an access control list";
  } else {
    const std::string other = OtherIn(list, self.user());
    if (!other.empty()) wrong = "open to " + other + " by its access control list";
  }
  LocalFree(descriptor);
  return wrong.empty() ? Fault() : Fault::Of(Kind::kUnsafe, path, wrong);
}

Fault CheckVolume(HANDLE handle, const std::string& path) {
  // If another machine may write the same file, neither memory nor locks are shared
  // with it. GetDriveType() reads the same FILE_REMOTE_DEVICE, but by the path and not
  // by the file.
  constexpr ULONG kDeviceInformation = 4;
  constexpr ULONG kRemote = 0x10;
  using Query = NTSTATUS NTAPI(HANDLE, IO_STATUS_BLOCK*, void*, ULONG, ULONG);
  struct {
    ULONG type;
    ULONG characteristics;
  } device{};
  IO_STATUS_BLOCK status;
  const auto query = FromNtdll<Query>("NtQueryVolumeInformationFile");
  if (query(handle, &status, &device, sizeof device, kDeviceInformation) != 0) {
    return Fault::System("NtQueryVolumeInformationFile", ERROR_NOT_SUPPORTED, path);
  }
  if ((device.characteristics & kRemote) != 0) {
    return Fault::Of(Kind::kUnsafe, path, "on a network drive");
  }
  wchar_t name[MAX_PATH + 1];
  DWORD flags = 0;
  if (!GetVolumeInformationByHandleW(handle, nullptr, 0, nullptr, nullptr, &flags, name,
                                     MAX_PATH + 1)) {
    return LastFault("GetVolumeInformationByHandleW", path);
  }
  // CSVFS is shared by the machines of a cluster; FAT and exFAT have no owners.
  if (std::wstring(name) == L"CSVFS" || (flags & FILE_PERSISTENT_ACLS) == 0) {
    return Fault::Of(Kind::kUnsafe, path, "on " + Narrow(name));
  }
  return {};
}

}  // namespace graupel

#endif  // _WIN32
