#ifndef GRAUPEL_BINDING_CALLS_H_
#define GRAUPEL_BINDING_CALLS_H_

#include <node_api.h>

#include <cstdint>

#include "environment.h"

namespace graupel {

// What JavaScript calls on the generator whose handle is in the mailbox, from which
// they take their arguments, and where they leave a status and results.

void Next(Environment& environment);
void Observe(Environment& environment);
void Grant(Environment& environment);
void GrantUnused(Environment& environment);
void AwaitCeiling(Environment& environment);
void Close(Environment& environment);
// Closes every generator that has a state file.
void Leave(Environment& environment);
napi_value Fill(napi_env env, napi_callback_info info);
// Nothing below the slot is issued on the generator's state any more, whose clock has
// shown `high_tick`. False with a fault.
bool RaiseFloorOf(Environment& environment, uint64_t slot, uint64_t high_tick);

}  // namespace graupel

#endif  // GRAUPEL_BINDING_CALLS_H_
