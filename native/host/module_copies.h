#ifndef GRAUPEL_HOST_MODULE_COPIES_H_
#define GRAUPEL_HOST_MODULE_COPIES_H_

#if defined(_WIN32)
#define GRAUPEL_EXPORT __declspec(dllexport)
#else
#define GRAUPEL_EXPORT __attribute__((visibility("default")))
#endif

namespace graupel {

// Finds `symbol` in the first module, in the order of loading, that exports it. A
// process may load this module twice, from two node_modules folders, and each copy has
// globals of its own: this makes the copies agree on one copy's globals. `own` is the
// symbol of this copy, and the result if no module is found (a program that was linked
// without exports).
//
// Also pins the module of `own`: Node unloads an addon with the last worker thread that
// used it, and the record of the issued slots must stay.
void* FirstModuleExporting(const char* symbol, void* own);

}  // namespace graupel

#endif  // GRAUPEL_HOST_MODULE_COPIES_H_
