import type { Layout } from '../layout/index.js'
import type { CeilingSource } from './ceiling-wait.js'

/** The generator that a decision is about; for messages and events, and for how it is waited. */
export interface Subject {
  readonly layout: Layout
  readonly namespace: string
  readonly node: number
  /** The clock is a function of the user's, which only goes on where it is called. */
  readonly hasInjectedClock: boolean
  /** The state file; empty for other states. */
  readonly path: string
  /** What raises the ceiling, where there is one. */
  readonly ceiling: CeilingSource
}
