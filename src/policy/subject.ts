import type { NodeSource } from '../engine/source/node-source.js'
import type { Layout } from '../layout/index.js'

/** The generator that a decision is about; for messages and events, and for how it is waited. */
export interface Subject {
  readonly layout: Layout
  readonly namespace: string
  /** The clock is a function of the user's, which only goes on where it is called. */
  readonly hasInjectedClock: boolean
  /** The state file; empty for other states. */
  readonly path: string
  readonly source: NodeSource
}
