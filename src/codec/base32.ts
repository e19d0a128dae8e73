import { halves, high, low } from '../core/typed-array.js'
import { radixes } from './radix.js'

// Base32 of Crockford in small letters, by shifts: a third of the time that the long division of other bases
// takes. 13 digits are 65 bits. So 26 digits have room for 128 bits, the first two of their 130 bits are
// zero, and each half of them is written by itself.

/** Digits of 64 bits; two times as many have 128 bits. */
export const digits64 = 13

/** The digits that are written and read. */
export const alphabet = /* @__PURE__ */ (() => radixes.base32.alphabet.toLowerCase())()

/** Character codes of the digits. */
const codeOf = /* @__PURE__ */ (() => Uint8Array.from(alphabet, (digit) => digit.charCodeAt(0)))()

/** Values of the digits by their character codes; 32 for other codes of ASCII. */
const digitValues = /* @__PURE__ */ (() => {
  const values = new Uint8Array(128).fill(32)
  for (const [value, code] of codeOf.entries()) values[code] = value
  return values
})()

/**
 * Writes the 64 bits in {@link halves} as 13 character codes.
 *
 * @param top - The bit above these 64, if another half of 128 bits stands to their left.
 */
export function writeDigits(codes: number[], at: number, top = 0): void {
  const upper = halves[high] as number
  const lower = halves[low] as number
  codes[at] = codeOf[(top << 4) | (upper >>> 28)] as number
  codes[at + 1] = codeOf[(upper >>> 23) & 31] as number
  codes[at + 2] = codeOf[(upper >>> 18) & 31] as number
  codes[at + 3] = codeOf[(upper >>> 13) & 31] as number
  codes[at + 4] = codeOf[(upper >>> 8) & 31] as number
  codes[at + 5] = codeOf[(upper >>> 3) & 31] as number
  codes[at + 6] = codeOf[((upper & 7) << 2) | (lower >>> 30)] as number
  codes[at + 7] = codeOf[(lower >>> 25) & 31] as number
  codes[at + 8] = codeOf[(lower >>> 20) & 31] as number
  codes[at + 9] = codeOf[(lower >>> 15) & 31] as number
  codes[at + 10] = codeOf[(lower >>> 10) & 31] as number
  codes[at + 11] = codeOf[(lower >>> 5) & 31] as number
  codes[at + 12] = codeOf[lower & 31] as number
}

/**
 * Reads 13 digits to {@link halves}. Returns the bit above these 64 bits, or -1 if a character is no digit.
 */
export function readDigits(text: string, at: number): number {
  let upper = 0
  let lower = 0
  let middle = 0
  let all = 0
  for (let i = 0; i < 6; i++) {
    const value = digitAt(text, at + i)
    all |= value
    upper = (upper << 5) | value
  }
  middle = digitAt(text, at + 6)
  all |= middle
  for (let i = 7; i < digits64; i++) {
    const value = digitAt(text, at + i)
    all |= value
    lower = (lower << 5) | value
  }
  if (all > 31) return -1
  halves[high] = (upper << 3) | (middle >>> 2)
  halves[low] = ((middle & 3) << 30) | lower
  return upper >>> 29
}

function digitAt(text: string, at: number): number {
  const code = text.charCodeAt(at)
  return code < 128 ? (digitValues[code] as number) : 32
}

/** Writes 16 bytes, the most significant first, as 26 character codes. */
export function write128(bytes: DataView, codes: number[], at: number): void {
  const second = bytes.getUint32(4)
  halves[high] = bytes.getUint32(0) >>> 1
  halves[low] = (bytes.getUint32(0) << 31) | (second >>> 1)
  writeDigits(codes, at)
  halves[high] = bytes.getUint32(8)
  halves[low] = bytes.getUint32(12)
  writeDigits(codes, at + digits64, second & 1)
}

/**
 * Reads 26 digits to 16 bytes. Returns `false` if a character is no digit, or if the digits have more than
 * 128 bits.
 */
export function read128(text: string, at: number, bytes: DataView): boolean {
  const top = readDigits(text, at)
  const upper = halves[high] as number
  const lower = halves[low] as number
  const middle = readDigits(text, at + digits64)
  if (top !== 0 || upper >= 0x8000_0000 || middle < 0) return false
  bytes.setUint32(0, (upper << 1) | (lower >>> 31))
  bytes.setUint32(4, (lower << 1) | middle)
  bytes.setUint32(8, halves[high] as number)
  bytes.setUint32(12, halves[low] as number)
  return true
}
