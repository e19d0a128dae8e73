#ifndef GRAUPEL_HOST_PROCESS_STATE_H_
#define GRAUPEL_HOST_PROCESS_STATE_H_

#include <string_view>

#include "../core/state.h"

namespace graupel {

// The one State of this process for a key: the same for every thread, and for every
// copy of this module that the process has loaded. It lives until the process ends,
// because it says what was issued.
//
// `*kept`, if asked for, is the key in memory that lasts as long.
State& ProcessState(std::string_view key, std::string_view* kept = nullptr);

// The engine in C++, and the one in TypeScript, whose memory not every thread reaches.
enum class Engine : uint32_t { kNone = 0, kNative = 1, kJs = 2 };

// Gives the key to this engine in this process, if no engine has it. False where the
// other engine has it.
bool CountsIn(State& process_state, Engine engine);

}  // namespace graupel

#endif  // GRAUPEL_HOST_PROCESS_STATE_H_
