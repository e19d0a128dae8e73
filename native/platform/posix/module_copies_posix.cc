#if !defined(_WIN32)

#include <dlfcn.h>

#include <string>
#include <vector>

#include "../../host/module_copies.h"

#if defined(__APPLE__)
#include <mach-o/dyld.h>
#else
#include <link.h>
#endif

namespace graupel {
namespace {

// Looks only into modules that are already loaded (RTLD_NOLOAD). If the symbol is
// found, the reference of dlopen is kept on purpose, because the result points into the
// module.
void* Lookup(const char* path, const char* symbol) {
  void* const module = dlopen(path, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
  if (module == nullptr) return nullptr;
  void* const found = dlsym(module, symbol);
  if (found == nullptr) dlclose(module);
  return found;
}

void Pin(void* address) {
  Dl_info info;
  if (dladdr(address, &info) != 0 && info.dli_fname != nullptr) {
    dlopen(info.dli_fname, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD | RTLD_NODELETE);
  }
}

// Paths of the loaded modules, in the order of loading.
std::vector<std::string> ModulePaths() {
  std::vector<std::string> paths;
#if defined(__APPLE__)
  for (uint32_t i = 0; i < _dyld_image_count(); ++i) {
    if (const char* path = _dyld_get_image_name(i)) paths.emplace_back(path);
  }
#else
  // Only collects the paths: glibc holds a lock around the callback that dlopen takes
  // in another order. The program itself has an empty name and is not a copy.
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        const char* path = info->dlpi_name;
        if (path != nullptr && path[0] != '\0') {
          static_cast<std::vector<std::string>*>(data)->emplace_back(path);
        }
        return 0;
      },
      &paths);
#endif
  return paths;
}

}  // namespace

void* FirstModuleExporting(const char* symbol, void* own) {
  Pin(own);
  for (const std::string& path : ModulePaths()) {
    if (void* const found = Lookup(path.c_str(), symbol)) {
      Pin(found);
      return found;
    }
  }
  return own;
}

}  // namespace graupel

#endif  // !_WIN32
