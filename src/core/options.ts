import { type ErrorCode, rangeError, show, showNoText, typeError } from './errors.js'
import { didYouMean } from './suggestion.js'

// The checks of options, for every function that takes some. A function named …From returns the value, or the
// default if the option is not given. All checks throw TypeError or RangeError, with `ERR_OPTION_INVALID` and
// the name of the option.

/**
 * Copies options. Refuses a value that is no object, a name that is no option, and an option that the object
 * inherits. Read options from the copy only: it has no prototype.
 *
 * @param example - Valid options, for the message: `{ store }`.
 * @param elsewhere - Names of options of other packages, each with our option to pass instead, for the
 * message.
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

/**
 * Copies the own enumerable properties of an object to an object without a prototype, so that additions to
 * `Object.prototype` do not count as given. Refuses a property that the object inherits otherwise: the caller
 * means it, and the copy would lose it.
 *
 * @param names - The properties that are read from the copy.
 * @param what - The kind of property, for the message: `the option`.
 * @throws TypeError with the code
 */
export function ownProperties<T extends object>(given: T, names: readonly string[], code: ErrorCode, what: string): T {
  const own = Object.assign(Object.create(null), given)
  for (let holder: object | null = given; holder !== null && !isRoot(holder); holder = Object.getPrototypeOf(holder)) {
    for (const name of Object.getOwnPropertyNames(holder)) {
      if (name in own || !names.includes(name)) continue
      throw typeError(
        code,
        `${what} '${name}' is inherited or not enumerable; pass an object that has it itself`,
        code === 'ERR_OPTION_INVALID' ? name : undefined,
      )
    }
  }
  return own
}

/** Whether an object is the `Object.prototype` of a realm, from which callers do not inherit by choice. */
function isRoot(holder: object): boolean {
  return Object.getPrototypeOf(holder) === null && Object.hasOwn(holder, 'isPrototypeOf')
}

/** Checks the option `signal`. */
export function checkSignal(signal: unknown): asserts signal is AbortSignal | undefined {
  const { addEventListener, removeEventListener, throwIfAborted } = Object(signal) as Partial<AbortSignal>
  const isSignal = [addEventListener, removeEventListener, throwIfAborted].every((one) => typeof one === 'function')
  if (signal !== undefined && !isSignal) {
    throw typeError('ERR_OPTION_INVALID', `signal is ${show(signal)}; pass the signal of an AbortController`, 'signal')
  }
}

/** Checks the option `fetch`; the default is the global function, looked up at each call. */
export function fetchFrom<F>(fetch: F | undefined): F {
  if (fetch === undefined) return ((url: string, init?: RequestInit) => globalThis.fetch(url, init)) as F
  if (typeof fetch === 'function') return fetch
  const given = showNoText(fetch)
  throw typeError('ERR_OPTION_INVALID', `fetch is ${given}; pass a function such as the global fetch`, 'fetch')
}

/** Checks the option `callTimeoutMs`: the milliseconds that one call to a store or a server may take. */
export function callTimeoutFrom(value: unknown, byDefault = 2000): number {
  return millisecondsFrom('callTimeoutMs', value, byDefault, 1, 600_000)
}

/** Checks the option `prefetchAt`: the part of a batch that is used before the next one is requested. */
export function prefetchAtFrom(value: unknown, byDefault: number): number {
  const rule = 'pass a part of a batch, from 0 to 1'
  return numberFrom('prefetchAt', value, byDefault, (part) => part >= 0 && part <= 1, 'pass a number', rule)
}

/** Checks milliseconds, which may have a fraction. */
export function millisecondsFrom(
  name: string,
  value: unknown,
  byDefault: number,
  least = 0,
  most = Number.MAX_SAFE_INTEGER,
): number {
  const rule = `pass milliseconds from ${least} ${most === Number.MAX_SAFE_INTEGER ? 'up' : `to ${most}`}`
  const isFine = (ms: number) => ms >= least && ms <= most
  return numberFrom(name, value, byDefault, isFine, 'pass milliseconds as a number', rule)
}

/** Checks a whole number. */
export function wholeFrom(name: string, value: unknown, byDefault: number, least: number, most: number): number {
  const rule = `pass a whole number from ${least} to ${most}`
  const isFine = (whole: number) => Number.isInteger(whole) && whole >= least && whole <= most
  return numberFrom(name, value, byDefault, isFine, 'pass a whole number', rule)
}

function numberFrom(
  name: string,
  value: unknown,
  byDefault: number,
  isFine: (value: number) => boolean,
  type: string,
  rule: string,
): number {
  if (value === undefined) return byDefault
  if (typeof value !== 'number') {
    throw typeError('ERR_OPTION_INVALID', `${name} is ${show(value)} (${typeof value}); ${type}`, name)
  }
  if (!isFine(value)) throw rangeError('ERR_OPTION_INVALID', `${name} is ${value}; ${rule}`, name)
  return value
}

/** Checks a whole number of up to 64 bits. Refuses a number that may have lost digits. */
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

/** Checks a text of 1 to `most` characters. Without a default the option is required. */
export function textFrom(name: string, value: unknown, byDefault: string | undefined, most = 255): string {
  const text = value === undefined ? byDefault : value
  checkString(name, text)
  if (text.length >= 1 && text.length <= most && text.isWellFormed()) return text
  const rule = `pass 1 to ${most} characters of well-formed text`
  throw rangeError('ERR_OPTION_INVALID', `${name} is ${show(text)}; ${rule}`, name)
}

/** Checks that an option is a string. */
export function checkString(name: string, value: unknown): asserts value is string {
  if (typeof value === 'string') return
  throw typeError('ERR_OPTION_INVALID', `${name} is ${show(value)} (${typeof value}); pass a string`, name)
}

/** Checks one of several words. */
export function oneOf<T extends string>(name: string, value: unknown, allowed: readonly T[], byDefault: T): T {
  if (value === undefined) return byDefault
  if (allowed.includes(value as T)) return value as T
  const rule = `pass one of ${allowed.map(show).join(', ')}`
  throw typeError('ERR_OPTION_INVALID', `${name} is ${show(value)}; ${rule}`, name)
}

/**
 * Checks one URL of a service or several, and removes slashes at their ends. No message shows a URL, which
 * may have a password.
 *
 * @param rule - The remedy if a URL has more than scheme, host, port and path.
 */
export function endpointsFrom(name: string, value: unknown, rule: string): string[] {
  const all: unknown[] = Array.isArray(value) ? value : [value]
  if (all.length === 0) {
    throw rangeError('ERR_OPTION_INVALID', `${name} is an empty array; pass one endpoint or more`, name)
  }
  return all.map((one) => {
    if (typeof one !== 'string' || !/^https?:\/\//.test(one) || !URL.canParse(one)) {
      const form = 'pass the text of a URL that begins with http:// or https://, or an array of such texts'
      throw typeError('ERR_OPTION_INVALID', `${name} is ${showNoUrl(one)}; ${form}`, name)
    }
    const { origin, pathname, username, password, search, hash } = new URL(one)
    if (username + password + search + hash !== '') {
      throw rangeError('ERR_OPTION_INVALID', `${name} has a user, a password, a query or a fragment; ${rule}`, name)
    }
    return origin + pathname.replace(/\/+$/, '')
  })
}

/** Shows a value in place of the text of a URL. A text may have a password. */
export function showNoUrl(value: unknown): string {
  return value instanceof URL ? 'a URL object, whose text is its href' : showNoText(value)
}

const maxNameLength = 128
/** A key of a store has at most 255 characters, and a prefix stands before the name. */
const maxEncodedLength = 240

/**
 * Checks the name of segments or of a counter.
 *
 * @param option - The name of the option.
 * @throws TypeError, RangeError `ERR_OPTION_INVALID`
 */
export function checkName(name: unknown, option = 'name'): asserts name is string {
  const text = textFrom(option, name, undefined, maxNameLength)
  if (encodeURIComponent(text).length <= maxEncodedLength) return
  throw rangeError(
    'ERR_OPTION_INVALID',
    `${option} is ${show(text)}; pass a text with at most ${maxEncodedLength} characters when it is percent-encoded`,
    option,
  )
}
