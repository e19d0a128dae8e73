import { rangeError, show, typeError } from '../core/errors.js'

/** The clocks of the platform. */
export const clocks = ['wall', 'steady'] as const

/** Reads the option `clock`. Wraps a function to check what it returns: `ERR_CLOCK_INVALID`. */
export function clockOfUser(_: string, clock: unknown): (typeof clocks)[number] | (() => number) {
  if (clocks.includes(clock as 'wall')) return clock as 'wall'
  if (typeof clock !== 'function') {
    throw typeError(
      'ERR_OPTION_INVALID',
      `clock is ${show(clock)}; pass 'wall', 'steady', or a function that returns milliseconds since 1970`,
      'clock',
    )
  }
  return () => {
    const ms: unknown = clock()
    if (typeof ms !== 'number') {
      throw typeError(
        'ERR_CLOCK_INVALID',
        `the clock returned ${show(ms)} (${typeof ms}); return milliseconds since 1970 as a number`,
      )
    }
    // The range of a Date (ECMAScript 21.4.1.1). The comparison is false for NaN, too.
    if (!(Math.abs(ms) <= 8.64e15)) {
      throw rangeError(
        'ERR_CLOCK_INVALID',
        `the clock returned ${ms}; return milliseconds since 1970 that a Date can hold`,
      )
    }
    return Math.floor(ms)
  }
}
