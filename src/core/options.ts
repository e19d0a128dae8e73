import { rangeError, show, typeError } from './errors.js'
import { ownProperties } from './own-properties.js'
import { didYouMean } from './suggestion.js'

// The checks that options of several functions have in common.

/**
 * Copies the options that a caller has given. Refuses what is no object, names that are no options, and options that the object
 * inherits. Read options of the copy alone: it has no prototype.
 *
 * @param example - How options look, for the message: `{ store }`.
 * @throws TypeError `ERR_OPTION_INVALID`, `ERR_OPTION_UNKNOWN`
 */
export function readOptions<T>(options: T, names: readonly string[], example: string): T & object {
  if (typeof options !== 'object' || options === null) {
    throw typeError('ERR_OPTION_INVALID', `the options are ${show(options)}; pass an object such as ${example}`)
  }
  for (const key of Object.keys(options)) {
    if (!names.includes(key)) {
      throw typeError(
        'ERR_OPTION_UNKNOWN',
        `there is no option ${show(key)}${didYouMean(key, names)}; the options are ${names.join(', ')}`,
        key,
      )
    }
  }
  return ownProperties(options, names, 'ERR_OPTION_INVALID', 'the option')
}

/** @throws TypeError `ERR_OPTION_INVALID` */
export function checkSignal(signal: unknown): asserts signal is AbortSignal | undefined {
  const { addEventListener, removeEventListener, throwIfAborted } = Object(signal) as Partial<AbortSignal>
  const isSignal = [addEventListener, removeEventListener, throwIfAborted].every((one) => typeof one === 'function')
  if (signal !== undefined && !isSignal) {
    throw typeError('ERR_OPTION_INVALID', `signal is ${show(signal)}; pass the signal of an AbortController`, 'signal')
  }
}

/**
 * Milliseconds within bounds, or the default where none are given.
 *
 * @throws TypeError, RangeError `ERR_OPTION_INVALID`
 */
export function millisecondsFrom(name: string, value: unknown, byDefault: number, least: number, most: number): number {
  if (value === undefined) return byDefault
  if (typeof value !== 'number') {
    throw typeError(
      'ERR_OPTION_INVALID',
      `${name} is ${show(value)} (${typeof value}); pass milliseconds as a number`,
      name,
    )
  }
  if (!(value >= least && value <= most)) {
    throw rangeError('ERR_OPTION_INVALID', `${name} is ${value}; pass milliseconds from ${least} to ${most}`, name)
  }
  return value
}

/**
 * A whole number within bounds, or the default where none is given.
 *
 * @throws TypeError, RangeError `ERR_OPTION_INVALID`
 */
export function wholeFrom(name: string, value: unknown, byDefault: number, least: number, most: number): number {
  if (value === undefined) return byDefault
  if (typeof value !== 'number') {
    throw typeError('ERR_OPTION_INVALID', `${name} is ${show(value)} (${typeof value}); pass a whole number`, name)
  }
  if (!Number.isInteger(value) || value < least || value > most) {
    throw rangeError('ERR_OPTION_INVALID', `${name} is ${value}; pass a whole number from ${least} to ${most}`, name)
  }
  return value
}

/**
 * A whole number of up to 64 bits within bounds, or the default where none is given. A number that may have lost digits is refused.
 *
 * @throws TypeError, RangeError `ERR_OPTION_INVALID`
 */
export function bigintFrom(name: string, value: unknown, byDefault: bigint, least: bigint, most: bigint): bigint {
  if (value === undefined) return byDefault
  if (typeof value !== 'bigint' && typeof value !== 'number') {
    throw typeError(
      'ERR_OPTION_INVALID',
      `${name} is ${show(value)} (${typeof value}); pass a bigint or a whole number`,
      name,
    )
  }
  if (typeof value === 'number' && !Number.isSafeInteger(value)) {
    throw rangeError('ERR_OPTION_INVALID', `${name} is ${value}; pass a whole number, above 2^53 - 1 as a bigint`, name)
  }
  const given = BigInt(value)
  if (given < least || given > most) {
    throw rangeError('ERR_OPTION_INVALID', `${name} is ${value}; pass a whole number from ${least} to ${most}`, name)
  }
  return given
}
