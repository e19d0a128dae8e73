#ifndef GRAUPEL_HOST_MODULE_COPIES_H_
#define GRAUPEL_HOST_MODULE_COPIES_H_

#if defined(_WIN32)
#define GRAUPEL_EXPORT __declspec(dllexport)
#else
#define GRAUPEL_EXPORT __attribute__((visibility("default")))
#endif

namespace graupel {

// Finds `symbol` in the first module, in the order of loading, that exports it: a
// process may load this module from two node_modules folders, and the copies have to
// agree on one copy's globals. Returns `own`, this copy's symbol, if the program was
// linked without exports.
//
// Pins the module of `own`, whose record of slots must outlive the workers.
void* FirstModuleExporting(const char* symbol, void* own);

}  // namespace graupel

#endif  // GRAUPEL_HOST_MODULE_COPIES_H_
