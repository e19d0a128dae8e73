#if defined(_WIN32)

#include "../../host/shared_file.h"
#include "../../host/system.h"
#include "own_files_win.h"

namespace graupel {

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
  // A page is flushed too: its folder outlasts a loss of power, after which the page
  // could otherwise be all zeros.
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
                ? Fault::Of(Fault::Kind::kExists, path)
                : LastFault("MoveFileExW", path);
  }
  CloseHandle(handle);
  if (!is_moved) DeleteFileW(fresh.c_str());
  return fault;
}

}  // namespace graupel

#endif  // _WIN32
