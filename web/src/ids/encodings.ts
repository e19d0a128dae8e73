import { type Encoding, encodeId, encodings, layouts, parseId, type TextEncoding } from 'graupel'
import { otherIdOf } from '../../../src/inspect/other-ids.ts'
import { byteNumbers, bytePairs } from '../../../src/inspect/pasted.ts'
import { plausibilities, plausibilityOf, plausibleReadings } from '../../../src/inspect/reading.ts'
import { readShortcode } from '../../../src/inspect/shortcode.ts'
import { utc } from '../text/format.ts'
import { shortened, Told } from './trouble.ts'

/** How a pasted id may be written: in an encoding, or as Instagram writes the id of a post. */
export type Writing = Encoding | 'shortcode'

export const writings: readonly Writing[] = [...encodings, 'shortcode']

/** Number of characters of an id in each encoding of fixed width. */
const widths = { hex: 16, base32: 13, base58: 11, base62: 11 } as const

const alphabets = {
  hex: /[0-9a-f]/i,
  base32: /[0-9a-hj-np-tv-zilo]/i,
  base58: /[1-9A-HJ-NP-Za-km-z]/,
  base62: /[0-9A-Za-z]/,
} as const

/**
 * Reads an id.
 *
 * @throws Told with the fault, in the terms of the encoding
 */
export function readId(text: string, encoding: Writing): bigint {
  if (encoding === 'decimal') return readDecimal(text)
  if (encoding === 'bytes') return readBytes(text)
  if (encoding === 'shortcode') return readPost(text)
  return readDigits(text, encoding)
}

function readDecimal(text: string): bigint {
  if (/^\d{1,19}$/.test(text)) return BigInt(text)
  const values = { text: shortened(text) }
  if (/^-\d{1,19}$/.test(text) && BigInt(text) >= -(2n ** 63n)) {
    // A signed column of 64 bits shows ids from 2^63 on as negative numbers.
    throw new Told('troubleNegative', { ...values, unsigned: BigInt.asUintN(64, BigInt(text)) })
  }
  if (/^\d+(\.\d+)?e\+?\d+$/i.test(text)) throw new Told('troubleRounded', values)
  if (/^\d+$/.test(text)) {
    // A column of fixed width has leading zeros.
    const digits = text.replace(/^0+(?=.)/, '')
    if (digits.length > 20 || BigInt(digits) >= 2n ** 64n) throw new Told('troubleTooLarge', values)
    return BigInt(digits)
  }
  throw new Told('troubleDecimal', values)
}

function readDigits(text: string, encoding: Exclude<TextEncoding, 'decimal'>): bigint {
  const digits = encoding === 'hex' ? text.replace(/^0x(?=.)/i, '').padStart(text.startsWith('0x') ? 16 : 0, '0') : text
  const wrong = [...digits].find((character) => !alphabets[encoding].test(character))
  if (wrong !== undefined) throw new Told('troubleCharacter', { text: shortened(text), character: wrong, encoding })
  if (digits.length !== widths[encoding]) {
    const values = { text: shortened(text), length: digits.length, width: widths[encoding], encoding }
    throw new Told('troubleWidth', values)
  }
  try {
    return parseId(digits, encoding)
  } catch {
    throw new Told('troubleTooLarge', { text: shortened(text) })
  }
}

function readBytes(text: string): bigint {
  if (byteNumbers.test(text)) {
    const bytes = (text.match(/\d+/g) as string[]).map(Number)
    if (bytes.every((byte) => byte < 256)) return parseId(Uint8Array.from(bytes), 'bytes')
  } else if (bytePairs.test(text)) {
    return BigInt(`0x${text.replace(/0x|\\x|[^0-9a-f]/gi, '')}`)
  }
  throw new Told('troubleBytes', { text: shortened(text) })
}

function readPost(text: string): bigint {
  const id = readShortcode(text)
  if (id === undefined) throw new Told('troubleNoId', { text: shortened(text), length: [...text].length })
  return id
}

/** Returns all encodings in which the text is an id. */
function encodingsOf(text: string): Writing[] {
  return writings.filter((encoding) => {
    try {
      readId(text, encoding)
      return true
    } catch {
      return false
    }
  })
}

/**
 * Returns the encodings in which the text is an id, the likeliest first. A text without letters is likely
 * decimal: one hex id of 1 800 has no letter, and even fewer ids of the other encodings. The other encodings
 * follow by the most plausible time that a known layout reads.
 */
export function likelyEncodings(text: string, nowMs: number): Writing[] {
  const rank = (encoding: Writing) => {
    if (encoding === 'decimal') return -1
    const known = encoding === 'shortcode' ? [layouts.instagram] : Object.values(layouts)
    const [best] = plausibleReadings(readId(text, encoding), known, nowMs)
    return best === undefined ? plausibilities.length : plausibilities.indexOf(plausibilityOf(best, nowMs))
  }
  return encodingsOf(text)
    .map((encoding) => [encoding, rank(encoding)] as const)
    .sort(([, a], [, b]) => a - b)
    .map(([encoding]) => encoding)
}

/**
 * Reads an id in any encoding. @throws Told with the rule for decimal if the text looks decimal, with the
 * kind of an id that is not of 64 bits, or that it is no id
 */
export function readAnyId(text: string, nowMs: number): { id: bigint; encoding: Writing } {
  const [encoding] = likelyEncodings(text, nowMs)
  if (encoding !== undefined) return { id: readId(text, encoding), encoding }
  if (/^[-\d.]+(e\+?\d+)?$/i.test(text)) readId(text, 'decimal')
  const other = otherIdOf(text, nowMs)
  if (other === undefined) throw new Told('troubleNoId', { text: shortened(text), length: [...text].length })
  const { kind, timestampMs } = other
  if (timestampMs === undefined) throw new Told('troubleOther', { text, kind })
  throw new Told('troubleOtherTime', { text, kind, time: utc(timestampMs) })
}

/** Writes an id. Bytes are pairs of hex digits. */
export function writeId(id: bigint, encoding: Encoding): string {
  if (encoding === 'bytes') return encodeId(id, 'hex').replace(/..(?=.)/g, '$& ')
  return encodeId(id, encoding)
}
