import { rangeError, show, typeError } from './errors.js'
import { ownProperties } from './own-properties.js'
import { didYouMean } from './suggestion.js'

// The checks that options of several functions have in common.

/**
 * Copies the options that a caller has given. Refuses what is no object, names that are no options, and options that the object
 * inherits. Read options of the copy alone: it has no prototype.
 *
 * @param example - How options look, for the message: `{ store }`.
 * @param elsewhere - Names that other packages have for options, and the option to pass instead, for the message.
 * @throws TypeError `ERR_OPTION_INVALID`, `ERR_OPTION_UNKNOWN`
 */
export function readOptions<T>(
  options: T,
  names: readonly string[],
  example: string,
  elsewhere: Readonly<Record<string, string>> = {},
): T & object {
  if (typeof options !== 'object' || options === null) {
    throw typeError('ERR_OPTION_INVALID', `the options are ${show(options)}; pass an object such as ${example}`)
  }
  for (const key of Object.keys(options)) {
    if (!names.includes(key)) {
      if (Object.hasOwn(elsewhere, key)) {
        throw typeError('ERR_OPTION_UNKNOWN', `there is no option ${show(key)}; pass ${elsewhere[key]}`, key)
      }
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
 * Returns one of some texts, or the default if none is given.
 *
 * @throws TypeError `ERR_OPTION_INVALID`
 */
export function oneOf<T extends string>(name: string, value: unknown, allowed: readonly T[], byDefault: T): T {
  if (value === undefined) return byDefault
  if (allowed.includes(value as T)) return value as T
  throw typeError('ERR_OPTION_INVALID', `${name} is ${show(value)}; pass one of ${allowed.map(show).join(', ')}`, name)
}

const maxTextLength = 255

/**
 * Returns a text of 1 to 255 characters, or the default if none is given.
 *
 * @throws TypeError, RangeError `ERR_OPTION_INVALID`
 */
export function textFrom(name: string, value: unknown, byDefault: string): string {
  if (value === undefined) return byDefault
  if (typeof value !== 'string') {
    throw typeError('ERR_OPTION_INVALID', `${name} is ${show(value)} (${typeof value}); pass a string`, name)
  }
  if (value.length < 1 || value.length > maxTextLength || !value.isWellFormed()) {
    throw rangeError(
      'ERR_OPTION_INVALID',
      `${name} is ${show(value)}; pass 1 to ${maxTextLength} characters of well-formed text`,
      name,
    )
  }
  return value
}

/**
 * Returns milliseconds within bounds, or the default if none are given.
 *
 * @throws TypeError, RangeError `ERR_OPTION_INVALID`
 */
export function millisecondsFrom(
  name: string,
  value: unknown,
  byDefault: number,
  least: number,
  most: number = Number.MAX_SAFE_INTEGER,
): number {
  if (value === undefined) return byDefault
  if (typeof value !== 'number') {
    throw typeError(
      'ERR_OPTION_INVALID',
      `${name} is ${show(value)} (${typeof value}); pass milliseconds as a number`,
      name,
    )
  }
  if (!(value >= least && value <= most)) {
    const range = most === Number.MAX_SAFE_INTEGER ? `${least} up` : `${least} to ${most}`
    throw rangeError('ERR_OPTION_INVALID', `${name} is ${value}; pass milliseconds from ${range}`, name)
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
