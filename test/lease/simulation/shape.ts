import { someOf } from '../../simulation/faults.ts'
import type { CallFaults } from '../../simulation/network.ts'
import type { Random } from '../../support/random.ts'

/** The probability of faults in calls, from 0 to 1; the weights of faults of nature, per step. */
export interface Faults extends CallFaults {
  readonly failover: number
  readonly flush: number
  readonly restart: number
  readonly cut: number
  readonly pause: number
  readonly crash: number
  readonly clockStep: number
  /** The synchronous replica of a durable server goes, returns, or takes over. */
  readonly replica: number
  /**
   * A cluster moves the records of a server that may forget to another server, one folder after the other.
   */
  readonly migrate: number
  /** A server that may forget evicts a folder. */
  readonly evict: number
  /** The process gives its node back, instead of a renewal. */
  readonly release: number
  /** A process is copied while it runs. */
  readonly copy: number
  /**
   * The clocks of the server and of all processes go ahead, as on one host, and a new life of the server
   * begins. Later they are set right, and from then on the server forgets nothing.
   */
  readonly clockAhead: number
  /**
   * A transaction begins on the connection of a process, as other code may leave it open, or ends: mostly by
   * ROLLBACK.
   */
  readonly transaction: number
}

const usualFaults: Omit<Faults, keyof typeof noUsualFaults> = {
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
  replica: 2,
  migrate: 2,
  evict: 0.6,
  release: 0.15,
  copy: 0,
}

/** Faults of some tests alone. */
const noUsualFaults = { clockAhead: 0, transaction: 0 }

/** The shape of a world, by its seed. */
export interface Shape {
  readonly processes: number
  readonly nodes: number
  readonly durable: boolean
  /** The number of faults of nature. */
  readonly steps: number
  /** The longest time between two faults. */
  readonly stepMs: number
  readonly tickMs: number
  readonly windowMs: number
  readonly maxClockSkewMs: number
  /** The resolution of the store's clock. */
  readonly clockMs: number
  /** The faults begin when a process has a node, instead of at once. */
  readonly beginsWell: boolean
  /** A device or a hook tells a process that it is a copy. */
  readonly copiesAreTold: boolean
  /** The store refuses a write in an open transaction, as those of SQL databases do. */
  readonly transactionsAreTold: boolean
  readonly faults: Faults
}

/** The setting of all worlds of a test. The seeds decide the rest. */
export interface Setting {
  readonly durable: boolean
  /** Faults that replace the usual ones. */
  readonly faults?: Partial<Faults>
  /** The part of the shape that the seed does not decide. */
  readonly shape?: Partial<Shape>
}

/**
 * Worlds whose clocks are ahead when the life of the server is first seen, and are then set right. A loss or
 * a migration after that may lead to equal ids (docs/leases.md, "What is not guaranteed").
 */
export const clockAhead: Setting = {
  durable: false,
  faults: { clockAhead: 3, lossInCall: 0, migrate: 0, clockStep: 0 },
}

/** Worlds in which transactions are left open. A server that takes over would end all of them. */
export const openTransactions: Setting = {
  durable: true,
  faults: { transaction: 4, lossInCall: 0, failover: 0, restart: 0, replica: 0 },
}

/** Draws a shape: mostly small worlds, in which processes soon meet, and some large worlds. */
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
    copiesAreTold: true,
    transactionsAreTold: true,
    ...shape,
    faults: { ...noUsualFaults, ...someOf(usualFaults, random), ...faults },
  }
}
