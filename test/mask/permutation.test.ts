import { FF1 } from '@noble/ciphers/ff1.js'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { digitsOf, makePermutation } from '../../src/mask/permutation.js'

const bytes = (hex: string) => Uint8Array.from(Buffer.from(hex, 'hex'))
const key128 = '2B7E151628AED2A6ABF7158809CF4F3C'
const key192 = `${key128}EF4359D8D580AA4F`
const key256 = `${key192}7F036D6F04FC6A94`
const tweak10 = '39383736353433323130'
const tweak36 = '3737373770717273373737'

// NIST, "Block Cipher Modes of Operation FF1 Method for Format-Preserving Encryption", samples 1 to 9.
const samples: [number: number, key: string, radix: number, tweak: string, plain: string, hidden: string][] = [
  [1, key128, 10, '', '0123456789', '2433477484'],
  [2, key128, 10, tweak10, '0123456789', '6124200773'],
  [3, key128, 36, tweak36, '0123456789abcdefghi', 'a9tv40mll9kdu509eum'],
  [4, key192, 10, '', '0123456789', '2830668132'],
  [5, key192, 10, tweak10, '0123456789', '2496655549'],
  [6, key192, 36, tweak36, '0123456789abcdefghi', 'xbj3kv35jrawxv32ysr'],
  [7, key256, 10, '', '0123456789', '6657667009'],
  [8, key256, 10, tweak10, '0123456789', '1001623463'],
  [9, key256, 36, tweak36, '0123456789abcdefghi', 'xs8a0azh2avyalyzuwd'],
]

describe('FF1 of the library', () => {
  it.each(samples)('gives the result of sample %d of NIST', (_number, key, radix, tweak, plain, hidden) => {
    const digits = (text: string) => [...text].map((digit) => Number.parseInt(digit, 36))
    const cipher = FF1(radix, bytes(key), bytes(tweak))
    expect(cipher.encrypt(digits(plain))).toEqual(digits(hidden))
    expect(cipher.decrypt(digits(hidden))).toEqual(digits(plain))
  })
})

describe('a permutation', () => {
  it.each(samples.filter(([, , , tweak]) => tweak === ''))(
    'of numbers gives the digits of sample %d of NIST',
    (_number, key, radix, _tweak, plain, hidden) => {
      const permutation = makePermutation(bytes(key), { radix, length: 10, size: 10n ** 10n })
      expect(permutation.hide(BigInt(plain))).toBe(BigInt(hidden))
      expect(permutation.reveal(BigInt(hidden))).toBe(BigInt(plain))
    },
  )

  // FF1 of the library accepts small domains, which masks do not have.
  it.each([
    ['of every number', { radix: 16, length: 3, size: 4096n }],
    ['of an odd number of digits', { radix: 4, length: 5, size: 1024n }],
    [
      'of fewer numbers than its digits can hold, so that some numbers need several rounds',
      { radix: 13, length: 3, size: 1031n },
    ],
  ])('%s reaches each exactly once, and goes back', (_what, digits) => {
    const permutation = makePermutation(bytes(key128), digits)
    const all = Array.from({ length: Number(digits.size) }, (_, i) => BigInt(i))
    const hidden = all.map(permutation.hide)
    expect(hidden.toSorted((one, other) => Number(one - other))).toEqual(all)
    expect(hidden.map(permutation.reveal)).toEqual(all)
    expect(hidden).not.toEqual(all)
  })

  it.each(Object.entries(digitsOf))('of %s bits has as few digits as these bits need', (bits, digits) => {
    const { radix, length, size } = digits
    expect(size).toBe(2n ** BigInt(bits))
    const whole = BigInt(radix) ** BigInt(length)
    expect(whole >= size && whole - size < size / 100_000n).toBe(true)
  })

  it.each(Object.entries(digitsOf))('of %s bits can be undone in either direction', (_bits, digits) => {
    const permutation = makePermutation(bytes(key256), digits)
    const last = digits.size - 1n
    const check = (value: bigint) => {
      const [hidden, revealed] = [permutation.hide(value), permutation.reveal(value)]
      expect([hidden, revealed].every((one) => one >= 0n && one <= last)).toBe(true)
      expect(permutation.reveal(hidden)).toBe(value)
      expect(permutation.hide(revealed)).toBe(value)
    }
    for (const edge of [0n, 1n, 2n, last / 2n, last / 2n + 1n, last - 1n, last]) check(edge)
    fc.assert(fc.property(fc.bigInt({ min: 0n, max: last }), check), { numRuns: 300 })
  })

  it.each(Object.entries(digitsOf))('of %s bits is FF1 of the library', (_bits, digits) => {
    const { radix, length, size } = digits
    const base = BigInt(radix)
    const write = (value: bigint) =>
      Array.from({ length }, (_, i) => Number((value / base ** BigInt(length - 1 - i)) % base))
    const read = (all: number[]) => all.reduce((value, digit) => value * base + BigInt(digit), 0n)
    const aKey = fc.constantFrom(16, 24, 32).chain((bytes) => fc.uint8Array({ minLength: bytes, maxLength: bytes }))
    fc.assert(
      fc.property(aKey, fc.bigInt({ min: 0n, max: size - 1n }), (key, value) => {
        const { encrypt } = FF1(radix, key)
        let expected = value
        do expected = read(encrypt(write(expected)))
        while (expected >= size)
        expect(makePermutation(key, digits).hide(value)).toBe(expected)
      }),
    )
  })

  it('ignores later changes of the array of its key', () => {
    const key = bytes(key128)
    const permutation = makePermutation(key, digitsOf[63])
    const before = permutation.hide(7n)
    key.fill(1)
    expect(permutation.hide(7n)).toBe(before)
  })
})
