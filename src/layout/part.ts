import { two32 } from '../core/typed-array.js'
import type { Placement } from './layout.js'

/**
 * Reads a field of at most 53 bits from the halves of an id: bigints, and powers and remainders of numbers,
 * take ten times as long. @internal
 */
export function partOf(upper: number, lower: number, { bits, shift }: Placement): number {
  if (shift >= 32) return lowBits(upper >>> (shift - 32), bits)
  const below = lower >>> shift
  const bitsBelow = 32 - shift
  if (bits <= bitsBelow) return lowBits(below, bits)
  return lowBits(upper, bits - bitsBelow) * (two32 / ((1 << shift) >>> 0)) + below
}

function lowBits(word: number, bits: number): number {
  return bits >= 32 ? word : word & ((1 << bits) - 1)
}
