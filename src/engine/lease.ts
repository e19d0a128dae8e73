import type { BaseId } from './write.js'

/** The run of slots that a thread is handing out on one state; `Lease` of `native/core/generator.h`. */
export interface Lease extends BaseId {
  tick: number
  /** Ticks that the clock may be behind: it was so when the lease was granted. */
  span: number
  /** The times at which the lease may be used, worked out so that the hot path needs no division. */
  fromMs: number
  untilMs: number
  sequence: number
  /** One past the last sequence number; empty where they are equal. */
  end: number
  /** What was asked for; the next one in the same tick is twice as large. */
  size: number
  /** The one generator whose policy obtained it, or 0: anybody's. */
  holder: number
  /** Of a past tick, not of the state word's. */
  reused: boolean
}

export function emptyLease(): Lease {
  return {
    tick: 0,
    span: 0,
    fromMs: 0,
    untilMs: 0,
    sequence: 0,
    end: 0,
    baseLow: 0,
    baseHigh: 0,
    size: 0,
    holder: 0,
    reused: false,
  }
}
