import { encodeId, encodings, parseId, type TextEncoding } from '../codec/index.js'
import { rangeError, show, typeError } from '../core/errors.js'
import { type Rows, readTable } from '../core/options.js'
import { toId } from '../layout/index.js'
import { checkKeys } from './keys.js'
import { digitsOf, makePermutation, type Permutation } from './permutation.js'

/** The widths of a mask. */
export type MaskBits = 64 | 63 | 53

/**
 * The options of {@link createMask}. Every one is checked, and a name that does not exist is refused.
 *
 * @example
 * const [b, a] = [1, 2].map(() => crypto.getRandomValues(new Uint8Array(32)))
 * const mask = createMask({ keys: { b, a } }) // b hides, and a reveals what it has hidden
 * mask.hideString(175928847299117063n).startsWith('b') // true
 */
export interface MaskOptions {
  /**
   * Keys by their names. The first one hides, and all reveal texts. A key is a Uint8Array of 16, 24 or 32
   * random bytes, and is copied. A name is a letter and up to 15 more letters or digits, or `''` for the key
   * of texts without a name.
   */
  keys: Readonly<Record<string, Uint8Array>>
  /**
   * The width of ids and of hidden ids: 0 to 2^bits - 1. With 64, every id of every layout is hidden. With
   * 63, hidden ids fit a signed number of 64 bits, and with 53 a JavaScript number.
   *
   * @default 64
   */
  bits?: MaskBits
  /** How `hideString` writes: every encoding but `bytes`. @default 'base62' */
  encoding?: TextEncoding
}

/**
 * A keyed permutation of ids: what {@link createMask} returns. It is frozen, and shows no key.
 *
 * @example
 * const mask = createMask(crypto.getRandomValues(new Uint8Array(32)))
 * const hidden = mask.hide(175928847299117063n)
 * mask.reveal(hidden) // 175928847299117063n
 */
export interface Mask {
  /** The width of ids and of hidden ids. */
  readonly bits: MaskBits
  /** How `hideString` writes. */
  readonly encoding: TextEncoding
  /** The names of the keys; the first hides. */
  readonly keyNames: readonly string[]
  /**
   * Hides an id with the first key: gives another number of the same range, and the same number every time.
   *
   * @param id - A bigint from 0 to 2^bits - 1, or its decimal digits.
   * @throws TypeError, RangeError `ERR_ID_INVALID`
   */
  hide(id: bigint | string): bigint
  /**
   * Returns the id that `hide` was given, by the first key. @throws TypeError, RangeError `ERR_ID_INVALID`
   */
  reveal(hidden: bigint | string): bigint
  /**
   * Hides a JavaScript number as `hide` does, if the mask has 53 bits.
   *
   * @throws TypeError, RangeError `ERR_ID_INVALID`; RangeError `ERR_NUMBER_UNSAFE` if it has more.
   */
  hideNumber(id: number): number
  /** Returns the number that `hideNumber` was given. @throws as `hideNumber` does */
  revealNumber(hidden: number): number
  /**
   * Hides an id as text of constant length: the name of the first key, and the hidden id with its leading
   * zeros.
   *
   * @throws as `hide` does
   */
  hideString(id: bigint | string): string
  /**
   * Returns the id that `hideString` was given, by the key whose name begins the text.
   *
   * @throws TypeError, RangeError `ERR_ID_INVALID` for a text that no mask of this width and encoding writes;
   * RangeError `ERR_KEY_INVALID` for the name of a key that is not among `keys`.
   */
  revealString(text: string): bigint
}

const rows = {
  keys: { read: (_, keys) => checkKeys(keys), isRequired: true },
  bits: { read: bitsOfMask, byDefault: 64 },
  encoding: { read: textEncoding, byDefault: 'base62' },
} satisfies Rows<MaskOptions>

/**
 * Makes a mask, which hides ids behind other numbers: a keyed permutation of all numbers of a width, FF1 of
 * NIST SP 800-38G. A hidden id tells neither time nor count, and is revealed without a table. It proves
 * nothing: `reveal` makes an id of every number of its range.
 *
 * On Node, a call takes some 150 times as long as `Date.now()`. Browsers and edge runtimes need the package
 * `@noble/ciphers`.
 *
 * @param key - 16, 24 or 32 random bytes; or the options, with several keys.
 * @throws TypeError, RangeError `ERR_KEY_INVALID`, `ERR_OPTION_INVALID`; TypeError `ERR_OPTION_UNKNOWN`,
 * `ERR_ENCODING_UNKNOWN`.
 * @example
 * const mask = createMask(Uint8Array.from({ length: 32 }, (_, i) => i)) // a random key in your service
 * mask.hideString(175928847299117063n) // 'DlH5gwFBYu6'
 * mask.revealString('DlH5gwFBYu6') // 175928847299117063n
 */
export function createMask(key: Uint8Array): Mask
export function createMask(options: MaskOptions): Mask
export function createMask(given: Uint8Array | MaskOptions): Mask
export function createMask(given: Uint8Array | MaskOptions): Mask {
  const { keys, bits, encoding } = checkMaskOptions(given)
  const permutations = new Map(keys.map(([name, key]) => [name, makePermutation(key, digitsOf[bits])]))
  const [[current, permutation]] = [...permutations] as [[string, Permutation]]
  const digits = digitWriter(bits, encoding)
  const lengths = [...new Set([...permutations.keys()].map((name) => name.length + digits.length))]

  const idOf = (id: unknown) => {
    const value = toId(id)
    if (value >> BigInt(bits) === 0n) return value
    throw rangeError('ERR_ID_INVALID', `the id is ${value}; this mask has ${bits} bits: pass 0 to 2^${bits} - 1`)
  }
  const numberOf = (id: unknown) => {
    if (bits !== 53) {
      throw rangeError(
        'ERR_NUMBER_UNSAFE',
        `the mask has ${bits} bits, a number holds 53; use hide() and reveal(), or bits: 53`,
      )
    }
    if (typeof id !== 'number') {
      throw typeError(
        'ERR_ID_INVALID',
        `the id is ${show(id)} (${typeof id}); pass a number, or use hide() and reveal()`,
      )
    }
    if (Number.isSafeInteger(id) && id >= 0) return BigInt(id)
    throw rangeError('ERR_ID_INVALID', `the id is ${show(id)}; pass a whole number from 0 to 2^53 - 1`)
  }

  /** The digits have a constant length, so everything before them is the name. */
  function revealString(text: unknown): bigint {
    if (typeof text !== 'string') {
      throw typeError('ERR_ID_INVALID', `the text is ${show(text)} (${typeof text}); pass a string, or use reveal()`)
    }
    if (!lengths.includes(text.length)) {
      throw rangeError(
        'ERR_ID_INVALID',
        `the text ${show(text)} has ${text.length} characters; this mask writes ${lengths.join(' or ')}`,
      )
    }
    const value = digits.read(text.slice(-digits.length))
    const name = text.slice(0, -digits.length)
    const own = permutations.get(name)
    if (own !== undefined) return own.reveal(value)
    const names = [...permutations.keys()].map(show).join(', ')
    throw rangeError('ERR_KEY_INVALID', `the text ${show(text)} has the key name ${show(name)}; this mask has ${names}`)
  }

  return Object.freeze<Mask>({
    bits,
    encoding,
    keyNames: Object.freeze([...permutations.keys()]),
    hide: (id) => permutation.hide(idOf(id)),
    reveal: (hidden) => permutation.reveal(idOf(hidden)),
    hideNumber: (id) => Number(permutation.hide(numberOf(id))),
    revealNumber: (hidden) => Number(permutation.reveal(numberOf(hidden))),
    hideString: (id) => current + digits.write(permutation.hide(idOf(id))),
    revealString,
  })
}

function checkMaskOptions(given: unknown) {
  // Any other value was meant as a key, and may be secret.
  const isBytes = Array.isArray(given) || ArrayBuffer.isView(given) || given instanceof ArrayBuffer
  const isKey = typeof given !== 'object' || given === null || isBytes
  return readTable((isKey ? { keys: { '': given } } : given) as MaskOptions, rows, '{ keys: { a: key } }')
}

function bitsOfMask(name: string, bits: unknown): MaskBits {
  if (typeof bits === 'number' && Object.hasOwn(digitsOf, bits)) return bits as MaskBits
  throw rangeError('ERR_OPTION_INVALID', `${name} is ${show(bits)}; pass 64, 63 or 53`)
}

/** Numbers of a width as text of one length. */
interface DigitWriter {
  /** Digits of every text. */
  readonly length: number
  write(value: bigint): string
  /** @throws RangeError `ERR_ID_INVALID` unless `write` writes it so. */
  read(digits: string): bigint
}

/** @throws TypeError `ERR_ENCODING_UNKNOWN` */
function textEncoding(_: string, encoding: unknown): TextEncoding {
  const texts = encodings.filter((one) => one !== 'bytes')
  if (texts.includes(encoding as TextEncoding)) return encoding as TextEncoding
  throw typeError(
    'ERR_ENCODING_UNKNOWN',
    `the encoding is ${show(encoding)}; that of a mask is one of ${texts.map(show).join(', ')}`,
  )
}

/**
 * The encodings of ids, with as many digits as the greatest number of the width has; decimal has leading
 * zeros here, too.
 */
function digitWriter(bits: number, encoding: TextEncoding): DigitWriter {
  const greatest = 2n ** BigInt(bits) - 1n
  const zeros = encodeId(0n, encoding)
  const zero = zeros.charAt(0)
  const wide = encodeId(greatest, encoding)
  const length = wide.length - [...wide].findIndex((digit) => digit !== zero)
  const write = (value: bigint) => encodeId(value, encoding).padStart(length, zero).slice(-length)

  function read(digits: string): bigint {
    const value = parseId(
      encoding === 'decimal' ? digits.replace(/^0+(?=.)/, '') : digits.padStart(zeros.length, zero),
      encoding,
    )
    if (value > greatest) {
      throw rangeError('ERR_ID_INVALID', `the digits ${show(digits)} stand for ${value}; this mask has ${bits} bits`)
    }
    // Encodings that people type are read in both cases. Here one id has one text, so that texts can be
    // compared.
    const written = write(value)
    if (written !== digits) {
      throw rangeError('ERR_ID_INVALID', `the digits ${show(digits)} are not as a mask writes them: ${show(written)}`)
    }
    return value
  }

  return { length, write, read }
}
