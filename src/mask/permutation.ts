import { blockCipher } from '#cipher'

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
 * The digits of each width. Half of them have at most 36 bits, so a half is a JavaScript number. SP 800-38G
 * asks for 100 numbers at least, the draft of its revision 1 for 10^6. Radixes end at 2^16 there.
 */
export const digitsOf = {
  64: { radix: 256, length: 8, size: 0x1_0000_0000_0000_0000n },
  63: { radix: 512, length: 7, size: 0x8000_0000_0000_0000n },
  // 53 is prime: 9742 is the least radix whose fourth power reaches 2^53. It exceeds 2^53 by six millionths,
  // and a result above 2^53 goes through FF1 again.
  53: { radix: 9742, length: 4, size: 0x20_0000_0000_0000n },
} as const satisfies Record<number, Digits>

const rounds = 10

/**
 * FF1 of NIST SP 800-38G with an empty tweak, on numbers: the most significant digit is the first. Half of
 * the digits have at most 37 bits.
 */
export function makePermutation(key: Uint8Array, { radix, length, size }: Digits): Permutation {
  const { encrypt } = blockCipher(key)
  const left = Math.floor(length / 2)
  const right = length - left
  /** How many numbers the digits of each half can write. */
  const halves = [radix ** left, radix ** right] as const
  const [, rightSize] = halves
  // P, b and d of the standard. P contains radix and length, so all widths can use one key. P is the same in
  // all rounds, so it is encrypted once, and a round is one block of AES.
  const first = Uint8Array.of(1, 2, 1, 0, radix >> 8, radix & 255, 10, left, 0, 0, 0, length, 0, 0, 0, 0)
  const chained = Uint8Array.from(encrypt(first))
  const bytes = Math.ceil((rightSize - 1).toString(2).length / 8)
  const taken = 4 * Math.ceil(bytes / 4) + 4
  // Bytes above 48 bits make no difference to the remainder by a power of two.
  const from = Number.isInteger(Math.log2(radix)) ? taken - 6 : 0
  const block = new Uint8Array(16)

  /** The number that round `i` adds to one half, made of the other half. */
  function addend(i: number, half: number, modulus: number): number {
    block.set(chained)
    let rest = half
    for (let at = 15; at > 15 - bytes; at--) {
      block[at] = (block[at] as number) ^ (rest % 256)
      rest = Math.floor(rest / 256)
    }
    block[15 - bytes] = (block[15 - bytes] as number) ^ i
    const made = encrypt(block)
    let sum = 0
    for (let at = from; at < taken; at += 2) {
      sum = (sum * 65_536 + (made[at] as number) * 256 + (made[at + 1] as number)) % modulus
    }
    return sum
  }

  function hideOnce(value: bigint): bigint {
    let a = Number(value / BigInt(rightSize))
    let b = Number(value % BigInt(rightSize))
    for (let i = 0; i < rounds; i++) {
      const modulus = halves[i % 2] as number
      const c = (a + addend(i, b, modulus)) % modulus
      a = b
      b = c
    }
    return BigInt(a) * BigInt(rightSize) + BigInt(b)
  }

  function revealOnce(value: bigint): bigint {
    let a = Number(value / BigInt(rightSize))
    let b = Number(value % BigInt(rightSize))
    for (let i = rounds - 1; i >= 0; i--) {
      const modulus = halves[i % 2] as number
      const c = (b + modulus - addend(i, a, modulus)) % modulus
      b = a
      a = c
    }
    return BigInt(a) * BigInt(rightSize) + BigInt(b)
  }

  /**
   * Cycle walking: a permutation of radix^length, repeated until it comes back to the numbers below `size`,
   * permutes those.
   */
  function walk(once: (value: bigint) => bigint, value: bigint): bigint {
    let result = once(value)
    while (result >= size) result = once(result)
    return result
  }

  return { hide: (value) => walk(hideOnce, value), reveal: (value) => walk(revealOnce, value) }
}
