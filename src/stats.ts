import type { EngineKind } from './engine/choose.js'

/** What {@link IdGenerator.stats} returns: of this generator, except where it says otherwise. */
export interface Stats {
  engine: EngineKind
  /** Where the last id is remembered: `'host'`, `'process'`, `'thread'`, or the path of the file. */
  state: string
  /** Ids made. */
  issued: number
  /** Times a call had to wait, for the clock or for the disk. */
  waits: number
  /** Milliseconds spent waiting; of calls that do not block, milliseconds they were put off. */
  waitedMs: number
  /** Steps back of the clock that were met. */
  rollbacks: number
  /** Ticks that were found used up. */
  overflows: number
  /** Milliseconds that the last id, of whichever generator on this node, is ahead of the clock; 0 if it is not. */
  aheadMs: number
  /** Where the state is a file: the time, in milliseconds since 1970, that ids stay before until the file says more. `null` where there is no such bound. */
  ceilingMs: number | null
}

/** What a generator counts outside its hot path. @internal */
export interface Counters {
  waits: number
  waitedMs: number
  rollbacks: number
  overflows: number
}
