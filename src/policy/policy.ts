import type { AheadEvent } from '../core/events.js'

export const rollbackActions = ['throw', 'wait', 'advance', 'reuse'] as const
/** What to do where the clock has stepped back behind the last id; `docs/rollback.md` compares the policies. */
export type RollbackAction = (typeof rollbackActions)[number]

export const overflowActions = ['wait', 'advance', 'throw'] as const
/** What to do where all sequence numbers of a tick are issued; `docs/rollback.md` compares the policies. */
export type OverflowAction = (typeof overflowActions)[number]

/**
 * What a function `onRollback` receives.
 *
 * @example
 * createGenerator({ node: 7, onRollback: ({ rollbackMs }) => (rollbackMs > 1000 ? 'throw' : 'advance') })
 */
export interface RollbackEvent extends AheadEvent {
  /** The clock has stepped back. */
  type: 'rollback'
}

/** The options of a generator that decide what happens when the state word is ahead of the clock. Milliseconds from 0 up. */
export interface Policy {
  readonly onRollback: RollbackAction | ((event: RollbackEvent) => RollbackAction)
  readonly onOverflow: OverflowAction
  readonly maxAheadMs: number
  /** Bounds one wait, not a call: a call that needs many ticks waits for each. */
  readonly maxWaitMs: number
}
