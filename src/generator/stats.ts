import type { EngineKind } from '../engine/choose.js'
import type { LeaseStats } from '../engine/source/lease-view.js'

/**
 * What {@link BaseGenerator.stats} returns. All counts are of this generator alone.
 *
 * @example
 * const ids = createGenerator({ node: 7 })
 * ids.take(3)
 * ids.stats().issued // 3
 */
export interface Stats {
  /** The engine that was chosen. */
  engine: EngineKind
  /** Where the last id is remembered: `'host'`, `'process'`, `'thread'`, `'lease'`, or the path of the state file. */
  state: string
  /** Ids made. */
  issued: number
  /** Waits, for the clock or for the disk. */
  waits: number
  /** Milliseconds spent in waits. For calls that do not block, milliseconds by which they were put off. */
  waitedMs: number
  /** Steps back of the clock that were met. */
  rollbacks: number
  /** Ticks that were found used up. */
  overflows: number
  /** Milliseconds by which the last id on this node, of all generators, is ahead of the clock; 0 if it is not. */
  aheadMs: number
  /** With a state file or a lease: ids stay before this time, in milliseconds since 1970, until that is renewed. Else `null`. */
  ceilingMs: number | null
  /** With a lease: what it has and has done. */
  lease?: LeaseStats
}
