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
 * The digits of each width. FF1 of the library costs by the digit: 64 binary digits take 2.1 times as long as 8 of radix 256, 16 of
 * radix 16 take 1.2 times. Radixes end at 2^16 - 1 there, and fewer digits than these save less than a tenth. SP 800-38G asks for
 * 100 numbers at least, the draft of its revision 1 for 10^6.
 *
 * 64 is 8 times 8, and 63 is 7 times 9. 53 is prime, and binary digits take 2.1 times as long as these: 9742 is the least radix whose
 * fourth power reaches 2^53. It exceeds it by six millionths, and what falls there goes through FF1 again.
 */
export const digitsOf = {
  64: { radix: 256, length: 8, size: 0x1_0000_0000_0000_0000n },
  63: { radix: 512, length: 7, size: 0x8000_0000_0000_0000n },
  53: { radix: 9742, length: 4, size: 0x20_0000_0000_0000n },
} as const satisfies Record<number, Digits>

/**
 * FF1 of NIST SP 800-38G with an empty tweak, on numbers: the most significant digit is the first.
 *
 * All widths can use one key, because radix and length are in the first block of each round.
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
