import { platform } from '#platform'
import { GraupelError } from '../core/errors.js'
import type { CoreSpec } from '../state/engine.js'
import { StateTable } from '../state/table.js'
import { allowedAddon } from './choose.js'
import { ThreadStates } from './js/thread-states.js'

// The memory in which this thread keeps the states of the js engine.

let shared: ThreadStates | undefined
let own: ThreadStates | undefined

/** The js states that all threads of the process share, or the reason why this thread cannot reach them. */
export function sharedStates(): ThreadStates | string {
  if (shared !== undefined) return shared
  const memory = platform.stateMemory()
  if ('unreachable' in memory) return memory.unreachable
  shared = new ThreadStates(new StateTable(memory), platform)
  platform.atProcessExit(() => shared?.releaseClaims())
  return shared
}

/** The js states of a thread that cannot reach the states of the process. */
export function ownStates(): ThreadStates {
  own ??= new ThreadStates(new StateTable(platform.threadMemory()), platform)
  return own
}

/** The js states for a generator. @throws GraupelError `ERR_STATE_UNREACHABLE` */
export function statesFor({ state }: CoreSpec): ThreadStates {
  const states = sharedStates()
  if (typeof states !== 'string') return states
  // With the addon, the native engine can count here, and park() of another thread reaches only the addon.
  if (state.kind === 'thread' && allowedAddon() === undefined) return ownStates()
  throw new GraupelError(
    'ERR_STATE_UNREACHABLE',
    `the js engine cannot reach the states of this process from this thread: ${states}; import 'graupel' in the main thread before it starts workers, or ${
      allowedAddon() === undefined
        ? "pass state: 'thread' if no other thread uses the node"
        : 'leave the option engine out'
    }`,
  )
}

/**
 * Frees the memory of this thread for the key of a lease that is sealed. Otherwise a process would keep all
 * leases that it ever had. The table keeps 152 bytes of each lease, and 8 KiB if it has a history, because
 * other threads may still read them.
 */
export function forgetKey(key: string): void {
  const states = sharedStates()
  if (typeof states !== 'string') states.forget(key)
}
