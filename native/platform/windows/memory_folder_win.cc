#if defined(_WIN32)

#include "../../host/memory_folder.h"
#include "own_files_win.h"

namespace graupel {
namespace {

using Kind = Fault::Kind;

// GetTempPath() reads TMP, and SHGetKnownFolderPath() reads USERPROFILE, which may
// differ between processes and sessions of a terminal server. With different folders,
// processes would not share their pages, without an error.
//
// A section without a file would end with the last process that has it open. A restart
// would then not know what was issued before the clock was set back.
Fault UsualParent(std::wstring* path) {
  const Fault fault = ProfileFolder(path);
  if (!fault.IsNone()) return fault;
  // The profile of a service may lack some of these.
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
  // Errors are found below: the folder may exist in a place that is read-only.
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

}  // namespace graupel

#endif  // _WIN32
