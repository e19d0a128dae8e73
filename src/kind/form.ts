import { alphabet, digits64, read128, readDigits, write128, writeDigits } from '../codec/base32.js'
import { blockText, loadUuid } from '../codec/uuid.js'
import { rangeError, show } from '../core/errors.js'
import { whole } from '../core/typed-array.js'
import { type Layout, loadId } from '../layout/index.js'

/**
 * Matches texts of kinds: a prefix, an underscore, and 13 digits of an id, or 26 of a UUID or of an opaque
 * text.
 */
export const kindText = /^([a-z](?:[a-z_]{0,61}[a-z])?)_((?:[0-9a-hjkmnp-tv-z]{13}){1,2})$/

/** How a kind writes what stands after its prefix. */
export interface Form<Id, Given> {
  /** Digits of every text. */
  readonly digits: number
  /** The most bits that the digits have. */
  readonly bits: number
  /** Writes character codes. @throws TypeError, RangeError `ERR_ID_INVALID` */
  write(given: Given, codes: number[], at: number): void
  /** Reads the digits from this character on. @throws RangeError `ERR_ID_INVALID` */
  read(text: string, at: number): Id
}

/** Ids of a layout. Their texts sort as the ids do. */
export function idForm(layout: Layout): Form<bigint, bigint | string | number> {
  return {
    digits: digits64,
    bits: layout.bits,
    write(id, codes, at) {
      loadId(id, layout)
      writeDigits(codes, at)
    },
    read(text, at) {
      if (readDigits(text, at) !== 0) throw digitsError(text, at, 64)
      const id = whole[0] as bigint
      loadId(id, layout)
      return id
    },
  }
}

/** UUIDs in the form of TypeID. */
export function uuidForm(): Form<string, string | Uint8Array> {
  const block = new DataView(new ArrayBuffer(16))
  return {
    digits: 2 * digits64,
    bits: 128,
    write(uuid, codes, at) {
      loadUuid(uuid, block)
      write128(block, codes, at)
    },
    read(text, at) {
      if (!read128(text, at, block)) throw digitsError(text, at, 128)
      return blockText(block)
    },
  }
}

/** Why these digits are refused. */
export function digitsError(text: string, at: number, bits: number): RangeError {
  const digits = text.slice(at)
  const other = [...digits].find((digit) => !alphabet.includes(digit))
  const fault = other === undefined ? `more than ${bits} bits` : `the character ${show(other)}`
  return rangeError(
    'ERR_ID_INVALID',
    `the digits ${show(digits)} of the text have ${fault}; a text has ${bits} bits in the digits ${alphabet}`,
  )
}

/**
 * The source of a regular expression for texts: the digits above these bits are 0, and the first digit of the
 * bits is as small as they make it. 63 bits in 13 digits have `[0-7]` and 12 digits of the alphabet.
 */
export function patternOf(start: string, { digits, bits }: Pick<Form<never, never>, 'digits' | 'bits'>): string {
  const whole = Math.floor(bits / 5)
  const first = alphabet.slice(0, 2 ** (bits % 5))
  const zeros = digits - whole - (first.length > 1 ? 1 : 0)
  const top = first.length > 10 ? `[0-9${first.slice(10)}]` : `[0-${first.at(-1)}]`
  return `^${start}${'0'.repeat(zeros)}${first.length > 1 ? top : ''}[0-9a-hjkmnp-tv-z]{${whole}}$`
}
