import { setImmediate as nextTurn } from 'node:timers/promises'

// Loads at an open rate: each request has a planned time, whatever became of the requests before it. Its
// latency runs from that time, so a late start counts as waiting. A load that sends the next request after
// the last answer would leave out the requests that were never sent while the server was busy.

/** The quantiles of a distribution that are shown. */
export const quantiles = { p50: 0.5, p99: 0.99, p999: 0.999, p9999: 0.9999 } as const

/** Latencies of one or more rounds, in microseconds. */
export class Latencies {
  readonly #sorted: Float64Array

  /** @param us - Latencies in any order. The array is sorted. */
  constructor(us: Float64Array) {
    this.#sorted = us.sort()
  }

  static of(parts: readonly Latencies[]): Latencies {
    const all = new Float64Array(parts.reduce((sum, { count }) => sum + count, 0))
    let at = 0
    for (const part of parts) {
      all.set(part.#sorted, at)
      at += part.count
    }
    return new Latencies(all)
  }

  get count(): number {
    return this.#sorted.length
  }

  /** Returns the least latency that is not below a share of the latencies: 1 is the slowest. */
  at(share: number): number {
    return this.#sorted[Math.max(0, Math.ceil(share * this.count) - 1)] ?? Number.NaN
  }
}

/** A plan: request k begins at k / rate. */
export interface Plan {
  perSecond: number
  seconds: number
}

/** Microseconds of the plan between two turns of the event loop, in which timers and answers are handled. */
const sliceUs = 1000

/**
 * Makes a call at each planned time of a spinning loop, and measures when its result is there.
 *
 * @param call - A promise that it returns may settle after later calls have begun.
 */
export async function pace({ perSecond, seconds }: Plan, call: () => unknown, isAsync = false): Promise<Latencies> {
  const us = new Float64Array(Math.floor(perSecond * seconds))
  const everyUs = 1e6 / perSecond
  const inSlice = Math.max(1, Math.floor(sliceUs / everyUs))
  let settled = 0
  let failure: unknown
  let wake = () => {}
  const fail = (error: unknown) => {
    failure ??= error
    wake()
  }
  const startUs = performance.now() * 1000
  for (let index = 0; index < us.length; ) {
    await nextTurn()
    if (failure !== undefined) throw failure
    for (const end = Math.min(us.length, index + inSlice); index < end; index++) {
      const dueUs = startUs + index * everyUs
      while (performance.now() * 1000 < dueUs);
      const made = call()
      if (!isAsync) {
        us[index] = performance.now() * 1000 - dueUs
        continue
      }
      const at = index
      const settle = () => {
        us[at] = performance.now() * 1000 - dueUs
        if (++settled === us.length) wake()
      }
      ;(made as Promise<unknown>).then(settle, fail)
      // A promise that is fulfilled already settles here, and another one in a later turn.
      await undefined
    }
  }
  if (isAsync && settled < us.length) {
    await new Promise<void>((resolve) => {
      wake = resolve
    })
  }
  if (failure !== undefined) throw failure
  return new Latencies(us)
}
