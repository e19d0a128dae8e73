import { someOf } from '../../simulation/faults.ts'
import type { CallFaults } from '../../simulation/network.ts'
import type { Random } from '../../support/random.ts'

/** How often things go wrong in calls, from 0 to 1; and by nature, against each other, per step. */
export interface Faults extends CallFaults {
  readonly failover: number
  readonly flush: number
  readonly restart: number
  readonly cut: number
  readonly pause: number
  readonly crash: number
  readonly clockStep: number
  /** The process gives its node back, instead of a renewal. */
  readonly release: number
}

const usualFaults: Faults = {
  lostRequest: 0.03,
  lostReply: 0.04,
  sentTwice: 0.03,
  slow: 0.05,
  staleList: 0.1,
  pauseInCall: 0.02,
  lossInCall: 0.01,
  failover: 2,
  flush: 0.6,
  restart: 0.6,
  cut: 2,
  pause: 2,
  crash: 1,
  clockStep: 2,
  release: 0.15,
}

/** A world as its seed has it. */
export interface Shape {
  readonly processes: number
  readonly nodes: number
  readonly durable: boolean
  /** How many faults of nature there are. */
  readonly steps: number
  /** The longest time between two of them. */
  readonly stepMs: number
  readonly tickMs: number
  readonly windowMs: number
  readonly maxClockSkewMs: number
  /** In which steps the store's clock goes. */
  readonly clockMs: number
  /** The faults begin when a process has a node, instead of at once. */
  readonly beginsWell: boolean
  readonly faults: Faults
}

/** What holds for all worlds of a test; the seeds decide the rest. */
export interface Setting {
  readonly durable: boolean
  /** Instead of what is usual. */
  readonly faults?: Partial<Faults>
  /** Instead of what the seed has. */
  readonly shape?: Partial<Shape>
}

/** Small worlds for the most part, in which things meet soon, and some larger ones. */
export function shapeFrom(random: Random, { durable, faults, shape }: Setting): Shape {
  const one = <T>(...of: T[]) => of[Math.floor(random() * of.length)] as T
  const isLarge = random() < 0.03
  const clockMs = one(1, 1, 1, 1000)
  const maxClockSkewMs = clockMs > 1 ? one(1000, 2000) : one(100, 1000, 1000)
  return {
    processes: isLarge ? one(4, 6) : one(2, 2, 3),
    nodes: isLarge ? one(2, 4) : one(1, 1, 2),
    durable,
    steps: isLarge ? 60 : one(8, 12, 18),
    stepMs: one(2000, 2000, 5000),
    tickMs: one(10, 100, 250, 1000),
    windowMs: one(2000, 3000, 6000, 10_000),
    maxClockSkewMs,
    clockMs,
    beginsWell: random() < 0.8,
    ...shape,
    faults: { ...someOf(usualFaults, random), ...faults },
  }
}
