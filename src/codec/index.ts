import { show, typeError } from '../core/errors.js'
import { didYouMean } from '../core/suggestion.js'
import { whole } from '../core/typed-array.js'
import { type Field, type GivenId, genuineLayout, type Layout, loadId, toId } from '../layout/index.js'
import { type Bytes, radixes, readBytes, readRadix, writeBytes, writeRadix } from './radix.js'

export { DecimalWriter } from './decimal.js'

/** An encoding of ids as text. All but `decimal` have a fixed width and sort as the ids do. */
export type TextEncoding = 'decimal' | keyof typeof radixes

/** An encoding of ids: as text, or as 8 bytes, the most significant first. */
export type Encoding = TextEncoding | 'bytes'

/**
 * All encodings, for menus and checks.
 *
 * @example
 * encodings.includes('base62') // true
 */
export const encodings: readonly Encoding[] = /* @__PURE__ */ Object.freeze([
  'decimal',
  'hex',
  'base32',
  'base58',
  'base62',
  'bytes',
])

/**
 * Writes an id in another form.
 *
 * `hex` (16 digits, small letters), `base32` (Crockford, 13), `base58` (Bitcoin's alphabet, 11), `base62`
 * (0-9A-Za-z, 11) and `bytes` (8, big-endian) have a fixed width and sort as the ids do, compared character
 * by character or byte by byte. `decimal` has no padding, because its readers are JSON and JavaScript: it
 * sorts so only among ids of equal length.
 *
 * @param id - A bigint from 0 to 2^64 - 1, or its decimal digits. A number, with a layout of at most 53 bits.
 * @param encoding - One of {@link encodings}.
 * @param layout - The layout that the id has to fit. Without a layout, an id has up to 64 bits.
 * @throws TypeError, RangeError `ERR_ID_INVALID`; TypeError `ERR_ENCODING_UNKNOWN`, `ERR_LAYOUT_INVALID`.
 * @example
 * encodeId(175928847299117063n, 'base62') // '0Czks0tP37X'
 */
export function encodeId<F extends readonly Field[]>(id: GivenId<F>, encoding: 'bytes', layout?: Layout<F>): Bytes
export function encodeId<F extends readonly Field[]>(id: GivenId<F>, encoding: TextEncoding, layout?: Layout<F>): string
export function encodeId<F extends readonly Field[]>(
  id: GivenId<F>,
  encoding: Encoding,
  layout?: Layout<F>,
): string | Bytes
export function encodeId<F extends readonly Field[]>(
  id: GivenId<F>,
  encoding: Encoding,
  layout?: Layout<F>,
): string | Bytes {
  const value = layout === undefined ? toId(id) : idIn(layout, id)
  if (encoding === 'decimal') return value.toString()
  if (encoding === 'bytes') return writeBytes(value)
  return writeRadix(value, radixOf(encoding))
}

/**
 * Reads an id that {@link encodeId} wrote. Strict: nothing is trimmed, skipped or cut off. Texts have the
 * full width, with the leading zeros, except that decimal must not have any; hex and base32 are read in both
 * cases.
 *
 * @param text - The text, or the 8 bytes.
 * @param encoding - The encoding of the text; `parseId` guesses nothing.
 * @param layout - The layout that the id has to fit. Without a layout, an id has up to 64 bits.
 * @throws TypeError, RangeError `ERR_ID_INVALID` for anything but an id in that encoding, or for an id that
 * is too wide for the layout; TypeError `ERR_ENCODING_UNKNOWN`, `ERR_LAYOUT_INVALID`.
 * @example
 * parseId('0Czks0tP37X', 'base62') // 175928847299117063n
 */
export function parseId<F extends readonly Field[]>(text: Uint8Array, encoding: 'bytes', layout?: Layout<F>): bigint
export function parseId<F extends readonly Field[]>(text: string, encoding: TextEncoding, layout?: Layout<F>): bigint
export function parseId<F extends readonly Field[]>(
  text: string | Uint8Array,
  encoding: Encoding,
  layout?: Layout<F>,
): bigint {
  const id = read(text, encoding)
  return layout === undefined ? id : idIn(layout, id)
}

/** Checks that an id fits a layout. @throws TypeError, RangeError `ERR_ID_INVALID`, `ERR_LAYOUT_INVALID` */
function idIn<F extends readonly Field[]>(layout: Layout<F>, id: unknown): bigint {
  loadId(id, genuineLayout(layout))
  return whole[0] as bigint
}

function read(text: unknown, encoding: Encoding): bigint {
  if (encoding === 'bytes') return readBytes(text)
  if (encoding !== 'decimal') return readRadix(text, radixOf(encoding))
  if (typeof text === 'string') return toId(text)
  throw typeError('ERR_ID_INVALID', `the decimal id is ${show(text)} (${typeof text}); pass a string of decimal digits`)
}

function radixOf(encoding: unknown) {
  if (typeof encoding === 'string' && Object.hasOwn(radixes, encoding)) return radixes[encoding as keyof typeof radixes]
  const meant = typeof encoding === 'string' ? didYouMean(encoding, encodings) : ''
  throw typeError(
    'ERR_ENCODING_UNKNOWN',
    `the encoding is ${show(encoding)}${meant}; it is one of ${encodings.map(show).join(', ')}`,
  )
}
