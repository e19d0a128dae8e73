import { FF1 } from '@noble/ciphers/ff1.js'

/** How numbers below `size` are written as digits for FF1. */
export interface Digits {
  readonly radix: number
  readonly length: number
  /** At most radix^length. */
  readonly size: bigint
}

/** A bijection of 0 … size - 1, and its inverse. */
export interface Permutation {
  hide(value: bigint): bigint
  reveal(value: bigint): bigint
}

/**
 * The digits of each width. FF1 costs by the digit: one call with these takes half the time of one with binary digits (the bench's
 * `mask-hide` has it as a ratio). Radixes of that library end at 2^16 - 1, and SP 800-38G asks for at least 10^6 numbers
 * (Rev. 1; before, for 100).
 *
 * 64 is 8 times 8, and 63 is 7 times 9. 53 is prime: 9742 is the least radix whose fourth power reaches 2^53. It exceeds it by six
 * millionths, and what falls there goes through FF1 again.
 */
export const digitsOf = {
  64: { radix: 2 ** 8, length: 8, size: 2n ** 64n },
  63: { radix: 2 ** 9, length: 7, size: 2n ** 63n },
  53: { radix: 9742, length: 4, size: 2n ** 53n },
} as const satisfies Record<number, Digits>

/**
 * FF1 of NIST SP 800-38G with an empty tweak, on numbers: the most significant digit is the first.
 *
 * Another width needs no other key for it: radix and length are in the first block of each of its rounds.
 */
export function permutationOf(key: Uint8Array, { radix, length, size }: Digits): Permutation {
  // The library keeps the array that it is given, and reads it in each call.
  const { encrypt, decrypt } = FF1(radix, Uint8Array.from(key))
  const base = BigInt(radix)

  function apply(cipher: (digits: number[]) => number[], value: bigint): bigint {
    let result = value
    // Cycle walking: a permutation of radix^length, repeated until it comes back to the numbers below `size`, permutes those.
    do {
      const digits = new Array<number>(length)
      for (let i = length - 1; i >= 0; i--) {
        digits[i] = Number(result % base)
        result /= base
      }
      result = cipher(digits).reduce((sum, digit) => sum * base + BigInt(digit), 0n)
    } while (result >= size)
    return result
  }

  return { hide: (value) => apply(encrypt, value), reveal: (value) => apply(decrypt, value) }
}
