#include "process_state.h"

#include <cstddef>
#include <mutex>
#include <string>
#include <unordered_map>

#include "module_copies.h"

namespace graupel {
namespace {

State* FindOrMake(std::string_view key) {
  // Never destroyed: worker threads may still hold a State while the process
  // runs its exit handlers.
  static auto& mutex = *new std::mutex;
  static auto& states = *new std::unordered_map<std::string, State*>;
  const std::lock_guard<std::mutex> lock(mutex);
  State*& state = states[std::string(key)];
  if (state == nullptr) state = new State();
  return state;
}

}  // namespace
}  // namespace graupel

// Found by name in the other copies of the module (module_copies.h). The number
// is the version of State's memory layout: change one, change both, and copies
// of different versions no longer share their words.
extern "C" GRAUPEL_EXPORT void* graupel_process_state_v2(const char* key,
                                                         size_t length) {
  return graupel::FindOrMake(std::string_view(key, length));
}

namespace graupel {

State& ProcessState(std::string_view key) {
  static const auto find = reinterpret_cast<void* (*)(const char*, size_t)>(
      FirstModuleExporting("graupel_process_state_v2",
                           reinterpret_cast<void*>(&graupel_process_state_v2)));
  return *static_cast<State*>(find(key.data(), key.size()));
}

}  // namespace graupel
