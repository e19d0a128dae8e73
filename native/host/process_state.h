#ifndef GRAUPEL_HOST_PROCESS_STATE_H_
#define GRAUPEL_HOST_PROCESS_STATE_H_

#include <string_view>

#include "../core/state.h"

namespace graupel {

// The State of this process for a key: the same for every thread, and for every
// copy of this module that the process has loaded. It lives until the process ends,
// because it tells which slots were issued.
//
// `*kept`, if not null, gets the key, in memory that lasts as long as the State.
State& ProcessState(std::string_view key, std::string_view* kept = nullptr);

// Writes the number of an engine if the key has none in this process, and returns the
// number that is there afterwards. 0 only reads. src/engine/process-engine.ts has the
// numbers.
uint32_t KeepEngine(State& process_state, uint32_t engine);

}  // namespace graupel

#endif  // GRAUPEL_HOST_PROCESS_STATE_H_
