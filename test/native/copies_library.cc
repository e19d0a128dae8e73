// A shared library with the process's states, in place of an addon in copies_test.cc.

#include "../../native/host/module_copies.h"
#include "../../native/host/process_state.h"

extern "C" GRAUPEL_EXPORT void* StateOf(const char* key) {
  return &graupel::ProcessState(key);
}
