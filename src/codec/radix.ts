import { rangeError, show, typeError } from '../core/errors.js'
import {
  bufferGetter,
  byteOffsetGetter,
  halves,
  high,
  isBytes,
  lengthGetter,
  low,
  two32,
  whole,
} from '../core/typed-array.js'

/**
 * A `Uint8Array<ArrayBuffer>`, in a form that TypeScript before 5.7 can read in the declarations: there it
 * has no parameter.
 */
export type Bytes = ReturnType<typeof Uint8Array.of>

/** Eight bytes, the most significant first, so that they sort as the ids do. */
export function writeBytes(id: bigint): Bytes {
  const bytes = new Uint8Array(8)
  new DataView(bytes.buffer).setBigUint64(0, id)
  return bytes
}

/** @throws TypeError, RangeError `ERR_ID_INVALID` unless it is a Uint8Array (a Buffer is one) of 8 bytes. */
export function readBytes(bytes: unknown): bigint {
  if (!isBytes(bytes)) {
    throw typeError('ERR_ID_INVALID', `the bytes are ${show(bytes)} (${typeof bytes}); pass a Uint8Array of 8 bytes`)
  }
  const length = lengthGetter.call(bytes)
  if (length !== 8) {
    throw rangeError('ERR_ID_INVALID', `there are ${length} bytes; an id has exactly 8, the most significant first`)
  }
  return new DataView(bufferGetter.call(bytes), byteOffsetGetter.call(bytes), 8).getBigUint64(0)
}

/**
 * An encoding by digits: its alphabet in ascending ASCII order, so that texts of full width sort as the ids
 * do.
 */
export interface Radix {
  readonly name: string
  readonly alphabet: string
  /** Digits that 2^64 - 1 needs; every id is written with as many. */
  readonly width: number
  /** Whether readers accept letters of both cases. */
  readonly isCaseless?: boolean
  /** Other characters that readers accept, and what they mean. */
  readonly aliases?: Readonly<Record<string, string>>
}

const maxId = 0xffff_ffff_ffff_ffffn

export const radixes = {
  hex: { name: 'hex', alphabet: '0123456789abcdef', width: 16, isCaseless: true },
  /** Douglas Crockford's Base 32 (crockford.com/base32.html): no I, L, O, U; reads i and l as 1, o as 0. */
  base32: {
    name: 'base32',
    alphabet: '0123456789ABCDEFGHJKMNPQRSTVWXYZ',
    width: 13,
    isCaseless: true,
    aliases: { i: '1', I: '1', l: '1', L: '1', o: '0', O: '0' },
  },
  /** Bitcoin's alphabet (draft-msporny-base58): no 0, O, I, l. */
  base58: {
    name: 'base58',
    alphabet: '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz',
    width: 11,
  },
  base62: { name: 'base62', alphabet: '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz', width: 11 },
} as const satisfies Record<string, Radix>

const values = new Map<Radix, ReadonlyMap<string, number>>()

function valuesOf(radix: Radix): ReadonlyMap<string, number> {
  let map = values.get(radix)
  if (map === undefined) {
    const own = new Map([...radix.alphabet].map((c, i) => [c, i]))
    for (const [c, i] of radix.isCaseless ? [...own] : []) own.set(c.toLowerCase(), i).set(c.toUpperCase(), i)
    for (const [alias, c] of Object.entries(radix.aliases ?? {})) own.set(alias, own.get(c) as number)
    map = own
    values.set(radix, map)
  }
  return map
}

const pairs = new Map<Radix, readonly string[]>()

/** Every two digits of a radix, by their value. */
function pairsOf(radix: Radix): readonly string[] {
  let all = pairs.get(radix)
  if (all === undefined) {
    const { alphabet } = radix
    all = [...alphabet].flatMap((upper) => [...alphabet].map((lower) => upper + lower))
    pairs.set(radix, all)
  }
  return all
}

/**
 * The id in digits, padded to the radix's full width. By long division of its halves, two digits at a time: a
 * third of the time that bigints take for it.
 */
export function writeRadix(id: bigint, radix: Radix): string {
  const { alphabet, width } = radix
  // V8's own is faster still, for this base and for ten.
  if (radix === radixes.hex) return id.toString(16).padStart(width, '0')
  const all = pairsOf(radix)
  const divisor = all.length
  whole[0] = id
  let upper = halves[high] as number
  let lower = halves[low] as number
  let text = ''
  for (let left = width; left > 1; left -= 2) {
    const quotient = Math.floor(upper / divisor)
    // Below divisor * 2^32, and that below 2^53.
    const rest = (upper - quotient * divisor) * two32 + lower
    upper = quotient
    lower = Math.floor(rest / divisor)
    text = (all[rest - lower * divisor] as string) + text
  }
  // Widths are odd: one digit is left.
  return (alphabet[lower] as string) + text
}

/** @throws TypeError, RangeError `ERR_ID_INVALID` unless it is `width` digits of the alphabet, below 2^64. */
export function readRadix(text: unknown, radix: Radix): bigint {
  const { name, width, alphabet } = radix
  if (typeof text !== 'string') {
    throw typeError('ERR_ID_INVALID', `the ${name} id is ${show(text)} (${typeof text}); pass a string`)
  }
  if (text.length !== width) {
    throw rangeError(
      'ERR_ID_INVALID',
      `the ${name} id ${show(text)} has ${text.length} characters; an id has exactly ${width}, with its leading zeros`,
    )
  }
  const map = valuesOf(radix)
  // The last eight digits as one number, and those before as another: 53 bits have room for eight of each of
  // these bases.
  const lastPart = 8
  let left = text.length
  let first = 0
  let part = 0
  for (const c of text) {
    const value = map.get(c)
    if (value === undefined) {
      throw rangeError(
        'ERR_ID_INVALID',
        `the ${name} id ${show(text)} has the character ${show(c)}; the digits are ${alphabet}`,
      )
    }
    part = part * alphabet.length + value
    if (--left === lastPart) {
      first = part
      part = 0
    }
  }
  const id = BigInt(first) * BigInt(alphabet.length ** lastPart) + BigInt(part)
  if (id > maxId)
    throw rangeError('ERR_ID_INVALID', `the ${name} id ${show(text)} stands for ${id}; an id is below 2^64`)
  return id
}
