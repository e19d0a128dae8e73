import { platform } from '#platform'
import { GraupelError } from '../core/errors.js'
import type { CoreSpec } from './engine.js'
import { StateTable } from './js/state-table.js'
import { ThreadStates } from './js/thread-states.js'

let shared: ThreadStates | undefined
let own: ThreadStates | undefined

/** The js states that all threads of the process share, or why this thread cannot reach them. */
export function sharedStates(): ThreadStates | string {
  if (shared !== undefined) return shared
  const memory = platform.stateMemory()
  if ('unreachable' in memory) return memory.unreachable
  shared = new ThreadStates(new StateTable(memory), platform)
  platform.atProcessExit(() => shared?.releaseClaims())
  return shared
}

/** The js states for a generator. @throws GraupelError `ERR_STATE_UNREACHABLE` */
export function statesFor({ isThread }: CoreSpec): ThreadStates {
  const states = sharedStates()
  if (typeof states !== 'string') return states
  if (!isThread) {
    throw new GraupelError(
      'ERR_STATE_UNREACHABLE',
      `the js engine cannot reach the states of this process from this thread: ${states}; import 'graupel' in the main thread before it starts workers, use the native engine, or pass state: 'thread' to say that no other thread or process uses this node`,
    )
  }
  own ??= new ThreadStates(new StateTable(platform.threadMemory()), platform)
  return own
}
