// What an addon is to copies_test.cc: a shared library with the process's states.

#include "../../native/core/module_copies.h"
#include "../../native/core/process_state.h"

extern "C" GRAUPEL_EXPORT void* StateOf(const char* key) {
  return &graupel::ProcessState(key);
}
