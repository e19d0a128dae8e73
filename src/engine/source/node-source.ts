import { GraupelError } from '../../core/errors.js'
import type { LeaseStats } from './shared-lease.js'
import type { Views } from './views.js'

/** The origin of a generator's node, floor and ceiling: a number that was given, or a lease. */
export interface NodeSource {
  /**
   * A lease raises its ceiling in a turn of the event loop, so a call that blocks does not wait for the
   * ceiling. The ceiling of a given node is that of a state file, which a thread of the addon raises.
   */
  readonly kind: 'given' | 'leased'
  /** The node whose ids the generator makes. A lease may move to another node. */
  readonly node: number
  /** The views of the generator, if it has any. They follow its core. */
  views?: Views | undefined
  /**
   * Raises floor and ceiling, if the engine does not see by itself that they have risen.
   *
   * @returns Whether the call can try again.
   * @throws GraupelError if the ceiling will never rise
   */
  rise?(): boolean
  /**
   * Makes the error of a call that has waited for the ceiling as long as it may.
   *
   * @param rule - The option that bounds the wait, in words.
   */
  late(waitedMs: number, rule: string): GraupelError
  /**
   * Keeps ids above the tick of an observed id if the lease moves. Only a lease has this function.
   *
   * @returns Whether the core has to move, or has just moved, so that it has to learn of the id again.
   */
  observed?(tick: number): boolean
  /** Tells what the lease has done; `undefined` if its thread has ended. Only a lease has this function. */
  leaseStats?(): LeaseStats | undefined
}

/** The source of a node that was given as a number. */
export class GivenNode implements NodeSource {
  readonly kind = 'given'
  readonly node: number
  views: Views | undefined

  constructor(node: number) {
    this.node = node
  }

  late(waitedMs: number, rule: string): GraupelError {
    return new GraupelError(
      'ERR_STATE_UNAVAILABLE',
      `the state file's ceiling has not risen within ${Math.round(waitedMs)} ms, which is what ${rule}; no id is made above it: try again, or choose a larger reserveMs`,
      { option: 'reserveMs' },
    )
  }
}
