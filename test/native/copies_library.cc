// Takes the place of an addon in copies_test.cc: a shared library with the process's
// states.

#include "../../native/host/module_copies.h"
#include "../../native/host/process_state.h"

extern "C" GRAUPEL_EXPORT void* StateOf(const char* key) {
  return &graupel::ProcessState(key);
}
