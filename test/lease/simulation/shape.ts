/** A number from 0 to below 1. */
export type Random = () => number

export function randomFrom(seed: number): Random {
  // Mulberry32.
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** How often things go wrong: the first ones per call of the store, from 0 to 1; the last ones against each other, per step. */
export interface Faults {
  /** The request never arrives: an error, or no answer at all. */
  readonly lostRequest: number
  /** The store has done it, and the answer never arrives: an error, or no answer at all. */
  readonly lostReply: number
  /** The client sends a write twice, and answers what the second one was told. */
  readonly sentTwice: number
  /** A request or an answer is under way for seconds. */
  readonly slow: number
  /** A list is older than the records are. */
  readonly staleList: number
  /** The process is stopped right before a request, or right before an answer reaches it. */
  readonly pauseInCall: number
  /** The server fails over, or is flushed, right before it does something. */
  readonly lossInCall: number

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

/** Each fault never, seldom, as usual or often: most defects need many faults of one kind and none of the others. */
function someOf(faults: Faults, random: Random): Faults {
  const weights = [0, 0.3, 1, 1, 3]
  return Object.fromEntries(
    Object.entries(faults).map(([name, weight]) => [name, weight * (weights[Math.floor(random() * 5)] as number)]),
  ) as unknown as Faults
}
