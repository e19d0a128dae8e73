#ifndef GRAUPEL_BINDING_CALLS_H_
#define GRAUPEL_BINDING_CALLS_H_

#include <node_api.h>

#include <cstdint>
#include <optional>

#include "environment.h"

namespace graupel {

// What JavaScript calls on the generator whose handle is in the mailbox. These
// functions take their arguments from the mailbox, and leave a status and results
// there.

void Next(Environment& environment);
void Observe(Environment& environment);
void Grant(Environment& environment);
void GrantUnused(Environment& environment);
void Close(Environment& environment);
// Closes every generator that has a state file.
void CloseFiles(Environment& environment);
napi_value Fill(napi_env env, napi_callback_info info);
// writeNumbers(array, from, to, first, step): writes numbers that ascend by a step, and
// has to do with no generator. True where it has.
napi_value WriteNumbers(napi_env env, napi_callback_info info);
// Blocks until an attempt to raise the ceiling has ended, for at most `block_ms`; the
// status is the outcome (DurableCeiling::Outcome). `attempt` is 0 at first, and what
// the last call returned for a caller that goes on waiting.
uint64_t AwaitCeiling(Environment& environment, uint64_t attempt, uint32_t block_ms);
// Raises the floor: nothing below the slot is issued on the generator's state from now
// on, and its high tick is at least `high_tick`. The word as it was before; none where
// the generator is closed, or with a fault.
std::optional<uint64_t> RaiseFloorOf(Environment& environment, uint64_t slot,
                                     uint64_t high_tick);
// Raises the external ceiling: every slot below this one may be issued. False where the
// generator is closed, or was opened without an external ceiling.
bool RaiseCeilingOf(Environment& environment, uint64_t slot);

}  // namespace graupel

#endif  // GRAUPEL_BINDING_CALLS_H_
