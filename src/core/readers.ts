import { rangeError, show, showNoText, typeError } from './errors.js'
import type { Row } from './options.js'

// The readers that several tables of options use. All throw TypeError or RangeError, with
// `ERR_OPTION_INVALID` and the name of the option.

/** The greatest whole number that a JavaScript number holds exactly. */
const greatest = 0x1f_ffff_ffff_ffff

/** Reads milliseconds, which may have a fraction. */
export function milliseconds(name: string, value: unknown, { least = 0, most = greatest }: Row): number {
  const rule = `pass milliseconds from ${least} ${most === greatest ? 'up' : `to ${most}`}`
  return numberFrom(name, value, (ms) => ms >= least && ms <= most, 'pass milliseconds as a number', rule)
}

/** Reads a whole number. */
export function whole(name: string, value: unknown, { least = 0, most = greatest }: Row): number {
  const isFine = (whole: number) => Number.isInteger(whole) && whole >= least && whole <= most
  return numberFrom(name, value, isFine, 'pass a whole number', `pass a whole number from ${least} to ${most}`)
}

/** Reads a part of a batch, as a number from 0 to 1. */
export function part(name: string, value: unknown): number {
  const rule = 'pass a part of a batch, from 0 to 1'
  return numberFrom(name, value, (part) => part >= 0 && part <= 1, 'pass a number', rule)
}

function numberFrom(
  name: string,
  value: unknown,
  isFine: (value: number) => boolean,
  type: string,
  rule: string,
): number {
  if (typeof value !== 'number') {
    throw typeError('ERR_OPTION_INVALID', `${name} is ${show(value)} (${typeof value}); ${type}`, name)
  }
  if (!isFine(value)) throw rangeError('ERR_OPTION_INVALID', `${name} is ${value}; ${rule}`, name)
  return value
}

/** Reads a whole number of up to 64 bits. Refuses a number that may have lost digits. */
export function whole64(name: string, value: unknown, { least = 0, most = greatest }: Row): bigint {
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
  if (value < least || value > most) {
    throw rangeError('ERR_OPTION_INVALID', `${name} is ${value}; pass a whole number from ${least} to ${most}`, name)
  }
  return BigInt(value)
}

/** Reads a text of 1 to `most` characters. */
export function text(name: string, value: unknown, { most = 255 }: Row): string {
  checkString(name, value)
  if (value.length >= 1 && value.length <= most && value.isWellFormed()) return value
  const rule = `pass 1 to ${most} characters of well-formed text`
  throw rangeError('ERR_OPTION_INVALID', `${name} is ${show(value)}; ${rule}`, name)
}

/** Checks that an option is a string. */
export function checkString(name: string, value: unknown): asserts value is string {
  if (typeof value === 'string') return
  throw typeError('ERR_OPTION_INVALID', `${name} is ${show(value)} (${typeof value}); pass a string`, name)
}

const maxNameLength = 128
/** A key of a store has at most 255 characters, and a prefix stands before the name. */
const maxEncodedLength = 240

/** Reads the name of segments or of a counter. */
export function nameOfNumbers(name: string, value: unknown): string {
  const read = text(name, value, { most: maxNameLength })
  if (encodeURIComponent(read).length <= maxEncodedLength) return read
  throw rangeError(
    'ERR_OPTION_INVALID',
    `${name} is ${show(read)}; pass a text with at most ${maxEncodedLength} characters when it is percent-encoded`,
    name,
  )
}

/** Reads one of the choices of the row. */
export function choice(name: string, value: unknown, { choices = [] }: Row): string {
  if (choices.includes(value as string)) return value as string
  const rule = `pass one of ${choices.map(show).join(', ')}`
  throw typeError('ERR_OPTION_INVALID', `${name} is ${show(value)}; ${rule}`, name)
}

/** Reads `true` or `false`. */
export function flag(name: string, value: unknown): boolean {
  if (typeof value === 'boolean') return value
  throw typeError('ERR_OPTION_INVALID', `${name} is ${show(value)}; pass true or false`, name)
}

/** Reads the option `fetch`. */
export function fetcher(name: string, value: unknown): typeof globalFetch {
  if (typeof value === 'function') return value as typeof globalFetch
  throw typeError(
    'ERR_OPTION_INVALID',
    `${name} is ${showNoText(value)}; pass a function such as the global fetch`,
    name,
  )
}

/** The global `fetch`, looked up at each call. */
export function globalFetch(url: string, init?: RequestInit): Promise<Response> {
  return globalThis.fetch(url, init)
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
