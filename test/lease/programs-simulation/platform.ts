import type { Clock } from '../../../src/core/timing.js'
import { platform as browser } from '../../../src/platform/browser.js'
import type { Platform } from '../../../src/platform/platform.js'

/** The clock of the process, an argument of its script. */
declare const simulatedClock: Clock

const memory = new ArrayBuffer(64 * 1024, { maxByteLength: 4 * 1024 * 1024 })

/** `#platform` in a process of a world: virtual time, and memory of its own. */
export const platform: Platform = {
  ...browser,
  stateMemory: () => memory,
  threadMemory: () => memory,
  warn: () => {},
  warnOnce: () => {},
  wallMs: () => simulatedClock.wallMs(),
  monotonicMs: () => simulatedClock.monotonicMs(),
  later: (callback, ms) => simulatedClock.later(callback, ms),
  background: (callback, ms) => simulatedClock.later(callback, ms),
  random: () => simulatedClock.random(),
  processName: () => 'a process',
}
