import { GraupelError } from '../core/errors.js'
import { allowedAddon, type EngineKind, requireNative } from './choose.js'
import { noteHook } from './info.js'
import type { ThreadStates } from './js/thread-states.js'
import type { NativeEngine } from './native/core.js'
import { ownStates, sharedStates } from './states.js'

/**
 * Returns the generation of the machine, a number that differs in a copy of the machine. The js engine reads
 * no device by itself: each call of this function tells it.
 *
 * @param kind - The engine of a generator that needs it. `GRAUPEL_ENGINE` may forbid the addon to all others.
 * @internal
 */
export function readGeneration(kind?: EngineKind): number {
  const states = sharedStates()
  const native = loadedNative()
  if (native === undefined) {
    if (kind === 'native') return requireNative().generation()
    return (typeof states === 'string' ? ownStates() : states).table.generation()
  }
  const generation = native.generation()
  if (typeof states !== 'string') states.table.raiseGeneration(generation)
  return generation
}

/**
 * Changes the generation, because the machine is about to be copied, or is a copy. All threads drop the slots
 * that they have reserved. A thread that reaches neither the shared table nor the addon does not notice.
 *
 * @throws as {@link requireReach}
 * @internal
 */
export function raiseGeneration(): void {
  const { table } = requireReach()
  noteHook()
  const native = loadedNative()
  // Without the addon in this thread, its lease has decided for the js engine.
  if (native === undefined) table.raiseGeneration()
  else native.binding.raiseGeneration()
  readGeneration()
}

/**
 * Returns the memory by which a hook tells the other threads.
 *
 * @throws GraupelError `ERR_STATE_UNREACHABLE` if this thread does not share it
 * @internal
 */
export function requireReach(): ThreadStates {
  const states = sharedStates()
  if (typeof states !== 'string') return states
  throw new GraupelError(
    'ERR_STATE_UNREACHABLE',
    `park() and resume() stop all threads of the process, and this thread shares no memory with the others: ${states}; import 'graupel' in the main thread before it starts workers`,
  )
}

/** Returns the native engine, if this process may load the addon. */
function loadedNative(): NativeEngine | undefined {
  return allowedAddon() && requireNative()
}
