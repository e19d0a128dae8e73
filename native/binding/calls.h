#ifndef GRAUPEL_BINDING_CALLS_H_
#define GRAUPEL_BINDING_CALLS_H_

#include <napi.h>

#include "environment.h"

namespace graupel {

// The calls of JavaScript on the generator whose handle is in the mailbox. They leave a
// status and results there, and those without arguments take them from there.

// The clock of a generator. `fresh`: reads the clock even if the counter says that the
// last reading is fresh.
int64_t NowMs(Environment& environment, Handle& handle, bool fresh);

// open(options): opens a generator, which lives as long as the result, and leaves its
// handle in the mailbox. Undefined if there is a fault.
Napi::Value Open(const Napi::CallbackInfo&, Environment&);
// view(tagBits): opens a view of the generator, as open() does. Undefined if the
// generator is closed.
Napi::Value View(const Napi::CallbackInfo&, Environment&);
void Next(Environment& environment);
void Observe(Environment& environment);
// Lets all later ids of the generator be larger than the id in the mailbox, whose tick
// may be at most `limit` ticks after the clock's. kRaised if the word had to rise.
void Exceed(Environment& environment);
void Grant(Environment& environment);
void GrantUnused(Environment& environment);
void Close(Environment& environment);
// Closes every generator that has a state file.
void CloseFiles(Environment& environment);
// fill(array, from, to): fills elements, and returns how many. With a limit of -1 it
// reads the clock, and fills no further than the clock.
napi_value Fill(napi_env env, napi_callback_info info);
// raiseFloor(slot, highTick, observedTick): raises the floor of the generator's state,
// so that no later reservation is below the slot, and raises the two ticks. Returns the
// former word; undefined if the generator is closed, or if there is a fault.
Napi::Value RaiseFloor(const Napi::CallbackInfo&, Environment&);
// raiseCeiling(slot): raises the external ceiling, below which every slot may be
// issued. False if the generator is closed, or was opened without an external ceiling.
Napi::Value RaiseCeiling(const Napi::CallbackInfo&, Environment&);
// awaitCeiling(round, blockMs): blocks until a round of raising the ceiling has
// ended, for at most `blockMs`; the status is the outcome (DurableCeiling::Outcome).
// `round` is 0 at first; a caller that continues to wait passes the result of the
// last call.
Napi::Value AwaitCeiling(const Napi::CallbackInfo&, Environment&);
// report(): the path of the page in which the generator counts, if it does not count in
// memory of the process, and its last reservation (`Binding` in src/state/addon.ts).
Napi::Value Report(const Napi::CallbackInfo&, Environment&);
// fault(): the fault of the last call that could not use a state.
Napi::Value FaultReport(const Napi::CallbackInfo&, Environment&);

}  // namespace graupel

#endif  // GRAUPEL_BINDING_CALLS_H_
