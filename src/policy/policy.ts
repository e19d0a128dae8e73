import type { AheadEvent } from '../events.js'

/** What to do when the clock has stepped back behind the last id; `docs/rollback.md` compares them. */
export type RollbackAction = 'throw' | 'wait' | 'advance' | 'reuse'

/** What to do when a tick is used up. */
export type OverflowAction = 'throw' | 'wait' | 'advance'

export const rollbackActions: readonly RollbackAction[] = ['throw', 'wait', 'advance', 'reuse']
export const overflowActions: readonly OverflowAction[] = ['throw', 'wait', 'advance']

/** What a function given as `onRollback` receives. */
export interface RollbackEvent extends AheadEvent {
  type: 'rollback'
}

/** The options of a generator that decide what happens when the state word is ahead of the clock. */
export interface Policy {
  readonly onRollback: RollbackAction | ((event: RollbackEvent) => RollbackAction)
  readonly onOverflow: OverflowAction
  readonly maxAheadMs: number
  /** Bounds one wait, not a call: a call that needs many ticks waits for each. */
  readonly maxWaitMs: number
}
