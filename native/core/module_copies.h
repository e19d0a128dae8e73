#ifndef GRAUPEL_CORE_MODULE_COPIES_H_
#define GRAUPEL_CORE_MODULE_COPIES_H_

#if defined(_WIN32)
#define GRAUPEL_EXPORT __declspec(dllexport)
#else
#define GRAUPEL_EXPORT __attribute__((visibility("default")))
#endif

namespace graupel {

// A process may load this module twice: from two node_modules folders, each
// copy with globals of its own. They agree on one of them without having heard
// of each other: the first module, in the order in which the process loaded
// them, that exports `symbol`. `own` is this copy's, and the answer where none
// is found (a program that was linked without exports).
//
// Also pins the module that holds `own`: Node unloads an addon with the last
// worker thread that used it, and with it would go what it has issued.
void* FirstModuleExporting(const char* symbol, void* own);

}  // namespace graupel

#endif  // GRAUPEL_CORE_MODULE_COPIES_H_
