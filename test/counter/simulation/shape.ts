import { type Reset, resets } from '../../../src/counter/period.js'

/** How long a call of the store may take. */
export const callTimeoutMs = 100

export type Random = () => number

/** Mulberry32. */
export function randomFrom(seed: number): Random {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** What a world is like. */
export interface Shape {
  readonly processes: number
  readonly callersEach: number
  readonly reset: Reset
  readonly timeZone: string
  readonly start: number
  /** How far the clocks of hosts may be off; the store has a clock where that is `undefined`. */
  readonly skewMs: number | undefined
  readonly hasTakes: boolean
  /** For how long things go wrong. The boundary of the period is in the middle. */
  readonly faultsMs: number
  readonly pauseMs: number
  /** Chances of each call. */
  readonly lostRequest: number
  readonly lostReply: number
  readonly slow: number
  readonly sentTwice: number
  /** Crashes of each second. */
  readonly crashes: number
  /** Failovers of each second that forget writes. */
  readonly failovers: number
}

export function shapeFrom(random: Random, forgets: boolean): Shape {
  const oneOf = <T>(values: readonly T[]) => values[Math.floor(random() * values.length)] as T
  return {
    processes: oneOf([1, 2, 3, 4]),
    callersEach: oneOf([1, 2, 5]),
    reset: oneOf(resets),
    timeZone: oneOf(['UTC', '+08:00', '-03:30']),
    start: oneOf([0, 1, 1000]),
    skewMs: oneOf([undefined, undefined, 400]),
    hasTakes: random() < 0.5,
    faultsMs: 2000,
    pauseMs: oneOf([10, 60, 300]),
    lostRequest: oneOf([0, 0.05, 0.3]),
    lostReply: oneOf([0, 0.05, 0.3]),
    slow: oneOf([0, 0.05, 0.3]),
    sentTwice: oneOf([0, 0, 0.2]),
    crashes: oneOf([0, 1]),
    failovers: forgets ? 3 : 0,
  }
}
