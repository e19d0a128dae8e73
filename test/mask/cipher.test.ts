import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { blockCipher as ofNoble } from '../../src/platform/noble.js'
import { blockCipher as ofNode } from '../../src/platform/node.js'

const bytes = (hex: string) => Uint8Array.from(Buffer.from(hex, 'hex'))
const hex = (all: Uint8Array) => Buffer.from(all).toString('hex')
const ascending = '000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f'
const plain = '00112233445566778899aabbccddeeff'

describe.each([
  ['Node', ofNode],
  ['@noble/ciphers', ofNoble],
])('AES of %s', (_whose, blockCipher) => {
  // FIPS 197, Appendix C.
  it.each([
    [16, '69c4e0d86a7b0430d8cdb78070b4c55a'],
    [24, 'dda97ca4864cdfe06eaf70a0ec0d7191'],
    [32, '8ea2b7ca516745bfeafc49904b496089'],
  ])('with a key of %d bytes gives the example of FIPS 197', (length, hidden) => {
    const { encrypt, decrypt } = blockCipher(bytes(ascending).subarray(0, length))
    expect(hex(encrypt(bytes(plain)))).toBe(hidden)
    expect(hex(decrypt(bytes(hidden)))).toBe(plain)
  })

  it('ignores later changes of the array of its key', () => {
    const key = bytes(ascending)
    const { encrypt, decrypt } = blockCipher(key)
    key.fill(1)
    expect(hex(decrypt(encrypt(bytes(plain))))).toBe(plain)
    expect(hex(encrypt(bytes(plain)))).toBe('8ea2b7ca516745bfeafc49904b496089')
  })
})

it('both implementations agree on random blocks, one after the other', () => {
  const block = fc.uint8Array({ minLength: 16, maxLength: 16 })
  const key = fc.constantFrom(16, 24, 32).chain((length) => fc.uint8Array({ minLength: length, maxLength: length }))
  fc.assert(
    fc.property(key, fc.array(block), (key, blocks) => {
      const [one, other] = [ofNode(key), ofNoble(key)]
      for (const block of blocks) {
        expect(hex(one.encrypt(Uint8Array.from(block)))).toBe(hex(other.encrypt(Uint8Array.from(block))))
        expect(hex(one.decrypt(Uint8Array.from(block)))).toBe(hex(other.decrypt(Uint8Array.from(block))))
      }
    }),
  )
})
