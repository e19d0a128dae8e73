import { encodeId, type TextEncoding } from 'graupel'
import { writeDecimals } from '../http/number-body.js'

// Writes replies of Redis's protocol, in the versions 2 and 3.

/** The version of the protocol that a connection speaks. */
export type Protocol = 2 | 3

/**
 * How a number is sent: as an integer, or as text in an encoding. JavaScript clients round integers above
 * 2^53.
 */
export type NumberForm = 'integer' | TextEncoding

/** A refusal with the first word that clients of Redis know. */
export class Refused extends Error {
  readonly word: 'ERR' | 'NOAUTH' | 'WRONGPASS' | 'NOPROTO'

  constructor(word: Refused['word'], message: string) {
    super(message)
    this.word = word
  }
}

export function simple(text: string): string {
  return `+${text}\r\n`
}

/** @param code - The first word, which clients tell errors by. */
export function refusal(code: string, message: string): string {
  return `-${code} ${message.replace(/\s+/g, ' ')}\r\n`
}

export function integer(value: number): string {
  return `:${value}\r\n`
}

export function bulk(text: string): string {
  return `$${Buffer.byteLength(text)}\r\n${text}\r\n`
}

export function nothing(protocol: Protocol): string {
  return protocol === 3 ? '_\r\n' : '$-1\r\n'
}

export function list(items: readonly string[]): string {
  return `${listHead(items.length)}${items.join('')}`
}

export function listHead(length: number): string {
  return `*${length}\r\n`
}

/**
 * Writes names and values. Version 2 has no maps, and gets a list of names and values in turn. @param
 * values - Replies by their names.
 */
export function map(values: Readonly<Record<string, string>>, protocol: Protocol): string {
  const entries = Object.entries(values).map(([name, value]) => `${bulk(name)}${value}`)
  return `${protocol === 3 ? `%${entries.length}` : `*${2 * entries.length}`}\r\n${entries.join('')}`
}

/**
 * Writes numbers, one reply each.
 *
 * @param isAscending - Whether each number is larger than the one before.
 */
export function writeNumbers(numbers: BigUint64Array, form: NumberForm, isAscending: boolean): Buffer {
  if (form === 'integer') return writeDecimals(numbers, { start: ':', between: '\r\n:', end: '\r\n' })
  if (form === 'decimal' && isAscending) {
    const digits = `${numbers[0]}`.length
    // The numbers in between have as many digits.
    if (`${numbers[numbers.length - 1]}`.length === digits) {
      return writeDecimals(numbers, { start: `$${digits}\r\n`, between: `\r\n$${digits}\r\n`, end: '\r\n' })
    }
  }
  return Buffer.from(Array.from(numbers, (number) => bulk(encodeId(number, form))).join(''), 'latin1')
}
