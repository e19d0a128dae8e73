#if defined(_WIN32)

#ifndef NOMINMAX
#define NOMINMAX
#endif
// psapi.h needs what windows.h declares.
// clang-format off
#include <windows.h>
#include <psapi.h>
// clang-format on

#include <vector>

#include "../../host/module_copies.h"

namespace graupel {
namespace {

void* FindFirst(const char* symbol) {
  std::vector<HMODULE> modules(256);
  DWORD bytes = 0;
  for (;;) {
    const DWORD room = static_cast<DWORD>(modules.size() * sizeof(HMODULE));
    if (!EnumProcessModules(GetCurrentProcess(), modules.data(), room, &bytes)) {
      return nullptr;
    }
    if (bytes <= room) break;
    modules.resize(bytes / sizeof(HMODULE));
  }
  // In the order of loading.
  for (size_t i = 0; i < bytes / sizeof(HMODULE); ++i) {
    if (FARPROC found = GetProcAddress(modules[i], symbol)) {
      return reinterpret_cast<void*>(found);
    }
  }
  return nullptr;
}

void Pin(void* address) {
  HMODULE module;
  GetModuleHandleExA(
      GET_MODULE_HANDLE_EX_FLAG_PIN | GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS,
      static_cast<LPCSTR>(address), &module);
}

}  // namespace

void* FirstModuleExporting(const char* symbol, void* own) {
  Pin(own);
  void* const found = FindFirst(symbol);
  if (found == nullptr) return own;
  Pin(found);
  return found;
}

}  // namespace graupel

#endif  // _WIN32
