import { StoreCalls } from '../../src/stores/calls.js'
import type { Timing } from '../../src/stores/deadline.js'
import type { Store } from '../../src/stores/store.js'

const timing: Timing = {
  monotonicMs: () => performance.now(),
  later(callback, ms) {
    const timer = setTimeout(callback, ms)
    return () => clearTimeout(timer)
  },
}

/** The calls of a store, on the clock of this machine. */
export function callsOf(store: Store, callTimeoutMs = 2000): StoreCalls {
  return new StoreCalls(store, timing, callTimeoutMs, Math.random)
}

/** In what a test lets attempts go on. */
export function inSeconds(seconds: number): number {
  return timing.monotonicMs() + seconds * 1000
}
