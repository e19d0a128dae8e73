#ifndef GRAUPEL_HOST_MODULE_COPIES_H_
#define GRAUPEL_HOST_MODULE_COPIES_H_

#if defined(_WIN32)
#define GRAUPEL_EXPORT __declspec(dllexport)
#else
#define GRAUPEL_EXPORT __attribute__((visibility("default")))
#endif

namespace graupel {

// Answers the first module, in the order in which the process loaded them, that exports
// `symbol`. A process may load this module twice, from two node_modules folders, and
// each copy has globals of its own: so they agree on the globals of one of them. `own`
// is this copy's, and the answer where no module is found (a program that was linked
// without exports).
//
// Also pins the module that holds `own`: Node unloads an addon with the last worker
// thread that used it, and the record of what was issued must stay.
void* FirstModuleExporting(const char* symbol, void* own);

}  // namespace graupel

#endif  // GRAUPEL_HOST_MODULE_COPIES_H_
