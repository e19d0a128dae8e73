import type { NodeSource } from '../engine/source/node-source.js'
import type { Layout } from '../layout/index.js'
import type { AheadEvent } from '../platform/events.js'
import type { Core } from '../state/engine.js'

export const rollbackActions = ['throw', 'wait', 'advance', 'reuse'] as const
/** The action if the clock has stepped back behind the last id; `docs/rollback.md` compares the actions. */
export type RollbackAction = (typeof rollbackActions)[number]

export const overflowActions = ['wait', 'advance', 'throw'] as const
/** The action if all sequence numbers of a tick are issued; `docs/rollback.md` compares the actions. */
export type OverflowAction = (typeof overflowActions)[number]

/**
 * The argument of a function `onRollback`.
 *
 * @example
 * createGenerator({ node: 7, onRollback: ({ rollbackMs }) => (rollbackMs > 1000 ? 'throw' : 'advance') })
 */
export interface RollbackEvent extends AheadEvent {
  /** The clock has stepped back. */
  type: 'rollback'
}

/**
 * The options of a generator that decide what happens when the state word is ahead of the clock. Milliseconds
 * from 0 up.
 */
export interface Policy {
  readonly onRollback: RollbackAction | ((event: RollbackEvent) => RollbackAction)
  readonly onOverflow: OverflowAction
  readonly maxAheadMs: number
  /** Bounds one wait and not a call: a call that needs many ticks waits for each tick. */
  readonly maxWaitMs: number
}

/** The generator that a decision is about, for its waits, messages and events. */
interface Subject {
  readonly layout: Layout
  readonly namespace: string
  /** The clock is a function of the user's, which may only go on when it is called. */
  readonly hasInjectedClock: boolean
  /** The state file; empty for other states. */
  readonly path: string
  readonly source: NodeSource
}

/** The counts of a generator outside its hot path. */
export interface Counters {
  waits: number
  waitedMs: number
  rollbacks: number
  overflows: number
  observed: number
  raised: number
  refused: number
}

/** A generator and its policy, as the parts of this folder share them. */
export interface Judged {
  readonly core: Core
  readonly policy: Policy
  readonly subject: Subject
  readonly counters: Counters
}
