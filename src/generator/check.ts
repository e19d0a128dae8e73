import { rangeError, show, typeError } from '../core/errors.js'
import type { Bound, Place } from '../engine/engine.js'

// The checks of single options. Each returns the option's value, or its default; all throw TypeError or RangeError
// `ERR_OPTION_INVALID`.

const maxWindowMs = 86_400_000

export function oneOf<T extends string>(name: string, value: unknown, allowed: readonly T[], byDefault: T): T {
  if (value === undefined) return byDefault
  if (!allowed.includes(value as T)) {
    throw typeError(
      'ERR_OPTION_INVALID',
      `${name} is ${show(value)}; pass one of ${allowed.map(show).join(', ')}`,
      name,
    )
  }
  return value as T
}

export function milliseconds(name: string, value: unknown, byDefault: number): number {
  if (value === undefined) return byDefault
  if (typeof value !== 'number') {
    throw typeError(
      'ERR_OPTION_INVALID',
      `${name} is ${show(value)} (${typeof value}); pass milliseconds as a number`,
      name,
    )
  }
  if (!(value >= 0 && value <= Number.MAX_SAFE_INTEGER)) {
    throw rangeError('ERR_OPTION_INVALID', `${name} is ${value}; pass milliseconds from 0 up`, name)
  }
  return value
}

export function windowOf(value: unknown): number {
  const windowMs = milliseconds('windowMs', value, 900)
  if (windowMs < 1 || windowMs > maxWindowMs) {
    throw rangeError(
      'ERR_OPTION_INVALID',
      `windowMs is ${windowMs}; pass milliseconds from 1 to ${maxWindowMs}`,
      'windowMs',
    )
  }
  return windowMs
}

/** Wraps a function, so that what it returns is checked: `ERR_CLOCK_INVALID`. */
export function clockOf(clock: unknown = 'wall'): 'wall' | 'steady' | (() => number) {
  if (clock === 'wall' || clock === 'steady') return clock
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
        `the clock returned ${show(ms)} (${typeof ms}); it has to return milliseconds since 1970 as a number`,
      )
    }
    // The range of a Date (ECMAScript 21.4.1.1). The comparison is false for NaN, too.
    if (!(Math.abs(ms) <= 8.64e15)) {
      throw rangeError(
        'ERR_CLOCK_INVALID',
        `the clock returned ${ms}; it has to return milliseconds since 1970 that a Date can hold`,
      )
    }
    return Math.floor(ms)
  }
}

interface StateChoice {
  readonly place: Place
  readonly bound: Bound
  /** The state file; empty for other states. */
  readonly path: string
  readonly isThread: boolean
}

const inMemory = { bound: 'none', path: '', isThread: false } as const
const inProcess: StateChoice = { ...inMemory, place: 'process' }
const inThread: StateChoice = { ...inProcess, isThread: true }
const onHost: StateChoice = { ...inMemory, place: 'host' }

/** What the option says of the place of the state, and of a bound. The default depends on the engine, and is left to the caller. */
export function stateOf(state: unknown): StateChoice {
  if (state === undefined || state === 'process') return inProcess
  if (state === 'thread') return inThread
  if (state === 'host') return onHost
  if (Object.prototype.toString.call(state) === '[object URL]') {
    throw typeError(
      'ERR_OPTION_INVALID',
      'state is a URL; pass the path, which fileURLToPath() of node:url gives',
      'state',
    )
  }
  if (typeof state !== 'string') {
    throw typeError(
      'ERR_OPTION_INVALID',
      `state is ${show(state)}; pass 'host', 'process', 'thread', or the path of a file`,
      'state',
    )
  }
  // A word such as 'hosts' is a mistake, and not a file in the current folder.
  if (!/[./\\]/.test(state) || state.includes('\0')) {
    throw rangeError(
      'ERR_OPTION_INVALID',
      `state is ${show(state)}; pass 'host', 'process', 'thread', or a path with a slash or a dot, such as './ids.state'`,
      'state',
    )
  }
  if (/^file:/i.test(state)) {
    throw rangeError(
      'ERR_OPTION_INVALID',
      `state is ${show(state)}, a URL; pass the path, which fileURLToPath() of node:url gives`,
      'state',
    )
  }
  return { place: 'host', bound: 'file', path: state, isThread: false }
}
