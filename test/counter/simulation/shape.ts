import { type Reset, resets } from '../../../src/counter/period.js'
import { someOf } from '../../simulation/faults.ts'
import type { CallFaults } from '../../simulation/network.ts'
import type { Random } from '../../support/random.ts'

/** The longest time of a call of the store. */
export const callTimeoutMs = 100

/** Probabilities of the faults of calls, from 0 to 1, and relative weights of the faults per step. */
interface Faults extends CallFaults {
  /** Another server takes over. It has forgotten the last writes if the store is not durable. */
  readonly failover: number
  readonly cut: number
  readonly pause: number
  readonly crash: number
}

const usualFaults: Faults = {
  lostRequest: 0.1,
  lostReply: 0.1,
  sentTwice: 0.05,
  slow: 0.05,
  staleList: 0,
  pauseInCall: 0.02,
  lossInCall: 0.02,
  failover: 1,
  cut: 1,
  pause: 1,
  crash: 2,
}

/** The world of a seed. */
export interface Shape {
  readonly processes: number
  readonly callersEach: number
  readonly durable: boolean
  readonly reset: Reset
  readonly timeZone: string
  readonly start: number
  /** The largest error of the hosts' clocks. If it is `undefined`, the store has a clock. */
  readonly skewMs: number | undefined
  readonly hasTakes: boolean
  /**
   * The number of faults that no call causes, and the longest time between two of them. A period ends in
   * their middle.
   */
  readonly steps: number
  readonly stepMs: number
  /** The longest pause of a caller between two calls. */
  readonly restMs: number
  readonly maxClockSkewMs: number
  readonly clockMs: number
  readonly faults: Faults
}

export function shapeFrom(random: Random, durable: boolean): Shape {
  const one = <T>(...of: T[]) => of[Math.floor(random() * of.length)] as T
  return {
    processes: one(1, 2, 3, 4),
    callersEach: one(1, 2, 5),
    durable,
    reset: one(...resets),
    timeZone: one('UTC', '+08:00', '-03:30'),
    start: one(0, 1, 1000),
    // A store that may forget has a clock.
    skewMs: durable ? one(undefined, undefined, 400) : undefined,
    hasTakes: random() < 0.5,
    steps: 10,
    stepMs: one(200, 400),
    restMs: one(10, 60, 300),
    maxClockSkewMs: 0,
    clockMs: 1,
    faults: someOf(usualFaults, random),
  }
}
