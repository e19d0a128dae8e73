import type { Counter } from 'graupel/segments'

/** A counter that knows how long its oldest call waits. */
export interface TimedCounter extends Counter {
  /** Returns 0 if no call waits. */
  oldestWaitMs(): number
}

/** Wraps a counter. Only calls of `take` are timed, which the service uses. */
export function timedCounter(counter: Counter): TimedCounter {
  // The starts of the calls that wait, in the order of the calls: the first call has waited longest.
  const startsMs = new Map<number, number>()
  let calls = 0
  return {
    ...counter,
    async take(count, signal) {
      const call = ++calls
      startsMs.set(call, performance.now())
      try {
        return await counter.take(count, signal)
      } finally {
        startsMs.delete(call)
      }
    },
    oldestWaitMs() {
      const [oldestMs] = startsMs.values()
      return oldestMs === undefined ? 0 : performance.now() - oldestMs
    },
  }
}
