import type { SegmentOptions } from '../../../src/segments/options.js'
import { someOf } from '../../simulation/faults.ts'
import type { CallFaults } from '../../simulation/network.ts'
import type { Random } from '../../support/random.ts'

/** Probabilities of the faults of calls, from 0 to 1, and relative weights of the faults per step. */
interface Faults extends CallFaults {
  /** Another server takes over, which may have forgotten the last writes, and has another incarnation. */
  readonly failover: number
  /** An older copy replaces the server's data, with the same incarnation. */
  readonly restore: number
  readonly cut: number
  readonly pause: number
  readonly crash: number
}

const usualFaults: Faults = {
  lostRequest: 0.03,
  lostReply: 0.04,
  sentTwice: 0.03,
  slow: 0.05,
  staleList: 0,
  pauseInCall: 0.02,
  lossInCall: 0.02,
  failover: 2,
  restore: 1,
  cut: 2,
  pause: 2,
  crash: 1,
}

type Numbering = Required<
  Pick<SegmentOptions, 'start' | 'max' | 'stride' | 'offset' | 'step' | 'maxStep' | 'batchMs' | 'prefetchAt'>
> & { readonly failoverGap: number }

/**
 * The writes that a server may forget: only writes that the gap covers; or also the gap of an earlier
 * failover; or all writes; or, if an older copy is restored, writes that no remaining process knows.
 */
type Forgets = 'covered' | 'gaps' | 'all' | 'copies'

/** The world of a seed. */
export interface Shape {
  readonly processes: number
  readonly threads: number
  readonly durable: boolean
  /** The number of faults that no call causes. */
  readonly steps: number
  /** The longest time between two such faults. */
  readonly stepMs: number
  readonly numbering: Numbering
  /** The most numbers that a thread makes at once, and its pause afterwards. */
  readonly burst: number
  readonly restMs: number
  readonly forgets: Forgets
  readonly maxClockSkewMs: number
  readonly clockMs: number
  readonly faults: Faults
}

/** The constants of all worlds of a test; the seeds decide the rest. */
export interface Setting {
  readonly durable: boolean
  readonly faults?: Partial<Faults>
  readonly shape?: Partial<Shape>
}

export function shapeFrom(random: Random, { durable, faults, shape }: Setting): Shape {
  const one = <T>(...of: T[]) => of[Math.floor(random() * of.length)] as T
  const stride = one(1, 1, 3, 10)
  const step = one(1, 3, 8)
  const start = one<number | bigint>(1, 1, 2 ** 32 - 20, 2n ** 53n - 30n, 2n ** 63n - 40n)
  return {
    processes: one(1, 2, 2, 3),
    threads: one(1, 1, 2, 3),
    durable,
    steps: one(6, 10),
    stepMs: one(500, 2000),
    numbering: {
      start,
      max: random() < 0.1 ? BigInt(start) + 500n : 2n ** 64n - 1n,
      stride,
      offset: Math.floor(random() * stride),
      step,
      maxStep: step * one(1, 2, 8),
      batchMs: one(50, 1000),
      prefetchAt: one(0, 0.5, 0.8, 1),
      failoverGap: one(10, 100, 1000),
    },
    burst: one(1, 4, 12),
    restMs: one(20, 200),
    forgets: 'covered',
    maxClockSkewMs: 100,
    clockMs: 1,
    ...shape,
    faults: { ...someOf(usualFaults, random), ...faults },
  }
}
