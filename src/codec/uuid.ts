import { rangeError, show, typeError } from '../core/errors.js'
import { bufferGetter, byteOffsetGetter, isBytes, lengthGetter } from '../core/typed-array.js'

const uuidPattern = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i

/** Whether a text is a UUID: 32 digits of hex in either case, as 8-4-4-4-12 with hyphens. */
export function isUuidText(value: unknown): value is string {
  return typeof value === 'string' && uuidPattern.test(value)
}

/** @throws RangeError `ERR_OPTION_INVALID` unless it is a version that UUIDs of ids have. */
export function checkVersion(version: unknown): asserts version is 7 | 8 {
  if (version === 7 || version === 8) return
  throw rangeError('ERR_OPTION_INVALID', `version is ${show(version)}; pass 7 or 8`, 'version')
}

/**
 * Reads a UUID to 16 bytes, the most significant first.
 *
 * @param uuid - Its text, or a Uint8Array of 16 bytes.
 * @throws TypeError, RangeError `ERR_ID_INVALID`
 */
export function loadUuid(uuid: unknown, block: DataView): void {
  if (isBytes(uuid)) {
    const length = lengthGetter.call(uuid)
    if (length !== 16)
      throw rangeError(
        'ERR_ID_INVALID',
        `the UUID has ${length} bytes; a UUID has exactly 16: pass a Uint8Array of 16 bytes`,
      )
    const bytes = new DataView(bufferGetter.call(uuid), byteOffsetGetter.call(uuid), 16)
    for (let at = 0; at < 16; at += 4) block.setUint32(at, bytes.getUint32(at))
    return
  }
  if (typeof uuid !== 'string') {
    throw typeError(
      'ERR_ID_INVALID',
      `the UUID is ${show(uuid)} (${typeof uuid}); pass its text, or a Uint8Array of 16`,
    )
  }
  if (!isUuidText(uuid)) {
    throw rangeError('ERR_ID_INVALID', `the UUID is ${show(uuid)}; pass 32 digits of hex, as 8-4-4-4-12 with hyphens`)
  }
  const hex = uuid.replaceAll('-', '')
  for (let i = 0; i < 4; i++) block.setUint32(4 * i, Number.parseInt(hex.slice(8 * i, 8 * i + 8), 16))
}

const digits = '0123456789abcdef'
/**
 * Character codes of the two digits of each byte. V8 reads numbers of an Array faster than it converts those
 * of a Uint8Array.
 */
const h = /* @__PURE__ */ (() => Array.from({ length: 256 }, (_, byte) => digits.charCodeAt(byte >> 4)))()
const l = /* @__PURE__ */ (() => Array.from({ length: 256 }, (_, byte) => digits.charCodeAt(byte & 15)))()

const fromCharCode = /* @__PURE__ */ (() => String.fromCharCode)()

const hyphen = 45

/**
 * Writes a UUID in small letters. The text is made at once: a text of pieces is copied by its first reader,
 * which takes longer.
 *
 * @param a, b, c, d - Its 128 bits, the most significant first.
 */
export function uuidText(a: number, b: number, c: number, d: number): string {
  // biome-ignore format: a line for each group of digits
  return (fromCharCode as (...codes: (number | undefined)[]) => string)(
    h[a >>> 24], l[a >>> 24], h[(a >>> 16) & 255], l[(a >>> 16) & 255], h[(a >>> 8) & 255], l[(a >>> 8) & 255], h[a & 255], l[a & 255], hyphen,
    h[b >>> 24], l[b >>> 24], h[(b >>> 16) & 255], l[(b >>> 16) & 255], hyphen,
    h[(b >>> 8) & 255], l[(b >>> 8) & 255], h[b & 255], l[b & 255], hyphen,
    h[c >>> 24], l[c >>> 24], h[(c >>> 16) & 255], l[(c >>> 16) & 255], hyphen,
    h[(c >>> 8) & 255], l[(c >>> 8) & 255], h[c & 255], l[c & 255],
    h[d >>> 24], l[d >>> 24], h[(d >>> 16) & 255], l[(d >>> 16) & 255], h[(d >>> 8) & 255], l[(d >>> 8) & 255], h[d & 255], l[d & 255],
  )
}

/** Writes 16 bytes as the text of a UUID. */
export function blockText(block: DataView): string {
  return uuidText(block.getUint32(0), block.getUint32(4), block.getUint32(8), block.getUint32(12))
}
