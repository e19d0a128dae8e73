#ifndef GRAUPEL_BINDING_CALLS_H_
#define GRAUPEL_BINDING_CALLS_H_

#include <node_api.h>

#include <cstdint>
#include <optional>

#include "environment.h"

namespace graupel {

// The calls of JavaScript on the generator whose handle is in the mailbox. They take
// their arguments from the mailbox, and leave a status and results there.

void Next(Environment& environment);
void Observe(Environment& environment);
void Grant(Environment& environment);
void GrantUnused(Environment& environment);
// Writes the last reservation of the generator into the mailbox; for debugging.
void WriteReservation(Environment& environment);
void Close(Environment& environment);
// Closes every generator that has a state file.
void CloseFiles(Environment& environment);
// fill(array, from, to): fills elements, and returns how many. With a limit of -1 it
// reads the clock, and fills no further than the clock.
napi_value Fill(napi_env env, napi_callback_info info);
// Blocks until an attempt to raise the ceiling has ended, for at most `block_ms`; the
// status is the outcome (DurableCeiling::Outcome). `attempt` is 0 at first; a caller
// that continues to wait passes the result of the last call.
uint64_t AwaitCeiling(Environment& environment, uint64_t attempt, uint32_t block_ms);
// Raises the floor of the generator's state: no later reservation is below the slot,
// and the high tick is at least `high_tick`. Returns the former word; none if the
// generator is closed, or if there is a fault.
std::optional<uint64_t> RaiseFloorOf(Environment& environment, uint64_t slot,
                                     uint64_t high_tick);
// Raises the external ceiling, below which every slot may be issued. False if the
// generator is closed, or was opened without an external ceiling.
bool RaiseCeilingOf(Environment& environment, uint64_t slot);

}  // namespace graupel

#endif  // GRAUPEL_BINDING_CALLS_H_
