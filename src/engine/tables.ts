import { platform } from '#platform'
import { GraupelError } from '../errors.js'
import type { CoreSpec } from './engine.js'
import { StateTable } from './js/state-table.js'

let shared: StateTable | undefined
let own: StateTable | undefined

/** The table of js states that all threads of the process share, or why it cannot be reached from this one. */
export function sharedTable(): StateTable | string {
  if (shared !== undefined) return shared
  const memory = platform.stateMemory()
  if ('unreachable' in memory) return memory.unreachable
  shared = new StateTable(memory)
  return shared
}

/** The table in which the js engine counts, or would count, in this thread. */
export function tableOfThread(): StateTable {
  const table = sharedTable()
  if (typeof table !== 'string') return table
  own ??= new StateTable(platform.threadMemory())
  return own
}

/** The table for a js generator. @throws GraupelError `ERR_STATE_UNREACHABLE` */
export function tableFor({ isThread }: CoreSpec): StateTable {
  const table = sharedTable()
  if (typeof table === 'string' && !isThread) {
    throw new GraupelError(
      'ERR_STATE_UNREACHABLE',
      `the js engine cannot reach the states of this process from this thread: ${table}; import 'graupel' in the main thread before it starts workers, use the native engine, or pass state: 'thread' to say that no other thread or process uses this node`,
    )
  }
  return tableOfThread()
}
