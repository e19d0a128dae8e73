#include "process_state.h"

#include <cstddef>
#include <mutex>
#include <string>
#include <unordered_map>

#include "module_copies.h"

namespace graupel {
namespace {

// Allocates blocks, because an allocator wastes a cache line for each single one.
State* NewState() {
  constexpr size_t kBlock = 32;
  static State* next = nullptr;
  static size_t left = 0;
  if (left == 0) {
    next = new State[kBlock];
    left = kBlock;
  }
  --left;
  return next++;
}

State* FindOrMake(std::string_view key, const char** kept) {
  // Never destroyed: worker threads may still hold a State while the process
  // runs its exit handlers.
  static auto& mutex = *new std::mutex;
  static auto& states = *new std::unordered_map<std::string, State*>;
  const std::lock_guard<std::mutex> lock(mutex);
  const auto entry = states.try_emplace(std::string(key), nullptr).first;
  if (entry->second == nullptr) entry->second = NewState();
  // The names of an unordered_map stay where they are.
  *kept = entry->first.data();
  return entry->second;
}

}  // namespace
}  // namespace graupel

// Found by name in the other copies of the module (module_copies.h). The number is the
// version of State's memory layout. A change of the layout changes the number, and
// copies of different versions then have different words.
extern "C" GRAUPEL_EXPORT void* graupel_process_state_v6(const char* key, size_t length,
                                                         const char** kept) {
  return graupel::FindOrMake(std::string_view(key, length), kept);
}

namespace graupel {

State& ProcessState(std::string_view key, std::string_view* kept) {
  static const auto find =
      reinterpret_cast<void* (*)(const char*, size_t, const char**)>(
          FirstModuleExporting("graupel_process_state_v6",
                               reinterpret_cast<void*>(&graupel_process_state_v6)));
  const char* kept_key;
  void* const state = find(key.data(), key.size(), &kept_key);
  if (kept != nullptr) *kept = std::string_view(kept_key, key.size());
  return *static_cast<State*>(state);
}

uint32_t KeepEngine(State& process_state, uint32_t engine) {
  uint32_t seen = 0;
  // Sequentially consistent by default: no generator makes an id before its exchange.
  return process_state.engine.compare_exchange_strong(seen, engine) ? engine : seen;
}

}  // namespace graupel
