import { inspect } from 'node:util'
import fc from 'fast-check'
import { defineLayout, layouts } from 'graupel'
import { defineKind } from 'graupel/kind'
import { aes } from 'graupel/mask'
import { describe, expect, it, vi } from 'vitest'
import { blockCipher as ofNoble } from '../../src/platform/noble.js'
import { platform } from '../../src/platform/node.js'
import { caught } from '../support/engines.js'

const layout = layouts.twitter
const keyOf = (length: number, first = 0) => Uint8Array.from({ length }, (_, i) => first + i)
const [a, b] = [keyOf(32), keyOf(32, 100)]
const invoice = defineKind({ prefix: 'inv', layout, keys: { a } })
const id = 1541816160830398464n
const text = 'inv_11a6v3q2w8yw1a0w9t2h80wa02'
const ids = fc.bigInt({ min: 0n, max: 2n ** 63n - 1n })

/**
 * Made by OpenSSL 3: the id in 16 digits of hex, then the FNV-1a of
 * `["inv",1288834974657,1,[["timestamp",41],["datacenter",5],["worker",5],["sequence",12]]]`, which is
 * 07932b96b2610e49: `printf 1565a1a11f40a00007932b96b2610e49 | xxd -r -p | openssl enc -aes-128-ecb -nopad -K
 * 000102030405060708090a0b0c0d0e0f | xxd -p`
 */
const vectors: [keyBytes: number, id: bigint, hex: string, text: string][] = [
  [16, 0n, '46ba4098d51a837f8b03ce58fcf08cfe', 'inv_26q909hn8tgdzrp0yeb3yf137y'],
  [16, id, '25f177cf4044ad6a53367e93c0b97fea', 'inv_15y5vwyg24nnn56dkyjf0bjzza'],
  [16, 2n ** 63n - 1n, '83f7622857265707d2966e8f92e17945', 'inv_43yxh2gns6aw3x55kehy9e2ya5'],
  [24, 0n, '7bf9ce5c7a230525a19ef9d2ed9a0ad7', 'inv_3vz775ryh30mjt37qstbpsm2pq'],
  [24, id, '5f945a5394af980e45f41e59a88c217e', 'inv_2zjhd5755fk074bx0yb6m8r8by'],
  [24, 2n ** 63n - 1n, '06b18f085e9963346b079b57c8c5b487', 'inv_06p67ggqmscct6p1wvaz4cbd47'],
  [32, 0n, '4fe386c20f95ba247ebdbb46b1e821f0', 'inv_2fwe3c43wnq8j7xfdv8tryg8fg'],
  [32, id, '2151b63b8b88f702a0713a14500e2802', text],
  [32, 2n ** 63n - 1n, 'e30d47b831611ee2e3e26d09488a6c6c', 'inv_731n3vgcb13vhe7rkd1548mv3c'],
]

describe('an opaque kind', () => {
  it.each(vectors)('with a key of %d bytes writes %d as OpenSSL encrypts it', (bytes, one, hex, written) => {
    const kind = defineKind({ prefix: 'inv', layout, keys: { a: keyOf(bytes) } })
    expect(kind.text(one)).toBe(written)
    expect(kind.id(written)).toBe(one)
    // 26 digits of base32 are the block, below two bits that are zero.
    const typeid = defineKind({ prefix: 'inv', uuid: true })
    expect(typeid.id(written).replaceAll('-', '')).toBe(hex)
  })

  it('writes the same with the AES of @noble/ciphers as with that of Node', () => {
    const keys = { b, a }
    const elsewhere = defineKind({ prefix: 'inv', layout, keys, aes: ofNoble })
    const here = defineKind({ prefix: 'inv', layout, keys })
    fc.assert(
      fc.property(ids, (one) => {
        const written = here.text(one)
        expect(elsewhere.text(one)).toBe(written)
        expect([elsewhere.id(written), here.id(written)]).toEqual([one, one])
        expect(elsewhere.id(invoice.text(one))).toBe(one)
      }),
    )
  })

  it('refuses each text in which one digit differs', () => {
    const digits = '0123456789abcdefghjkmnpqrstvwxyz'
    for (let at = 4; at < text.length; at++) {
      for (const digit of digits) {
        const forged = text.slice(0, at) + digit + text.slice(at + 1)
        expect([forged, invoice.is(forged)]).toEqual([forged, forged === text])
      }
    }
  })

  it.each([
    ['of random digits', 'inv_0123456789abcdefghjkmnpqrs'],
    ['that is truncated', text.slice(0, -1)],
    ['that is longer', `${text}0`],
    ['in capital letters', `inv_${text.slice(4).toUpperCase()}`],
    ['of more than 128 bits', `inv_8${text.slice(5)}`],
    ['of the same id without keys', defineKind({ prefix: 'inv', layout }).text(id)],
    ['of another key', defineKind({ prefix: 'inv', layout, keys: { a: b } }).text(id)],
    [
      'of another prefix and the same key',
      `inv_${defineKind({ prefix: 'ord', layout, keys: { a } }).text(id).slice(4)}`,
    ],
    [
      'of another epoch and the same key',
      defineKind({ prefix: 'inv', layout: defineLayout({ ...layout, epochMs: 0 }), keys: { a } }).text(id),
    ],
  ])('refuses a text %s', (_what, forged) => {
    const error = caught(() => invoice.id(forged))
    expect([error.constructor, error.code]).toEqual([RangeError, 'ERR_ID_INVALID'])
    expect(invoice.is(forged)).toBe(false)
    expect(invoice.schema['~standard'].validate(forged)).toEqual({
      issues: [{ message: error.message, code: 'ERR_ID_INVALID' }],
    })
  })

  it('refuses ids that the layout never makes', () => {
    expect(caught(() => invoice.text(2n ** 63n)).code).toBe('ERR_ID_INVALID')
  })

  it('accepts texts of a layout with another name, because the bits are the same', () => {
    const renamed = defineLayout({ ...layout, name: 'ours' })
    expect(defineKind({ prefix: 'inv', layout: renamed, keys: { a } }).id(text)).toBe(id)
  })

  it('writes with the first key and reads with all, so keys rotate', () => {
    const [before, during, after] = [{ a }, { b, a }, { b }].map((keys) => defineKind({ prefix: 'inv', layout, keys }))
    const [old, fresh] = [before?.text(id), during?.text(id)] as [string, string]
    expect(fresh).not.toBe(old)
    expect([during?.id(old), during?.id(fresh), after?.id(fresh)]).toEqual([id, id, id])
    expect([after?.is(old), before?.is(fresh)]).toEqual([false, false])
  })

  it('keeps a copy of its keys, and does not show them', () => {
    const key = Uint8Array.from(a)
    const kind = defineKind({ prefix: 'inv', layout, keys: { a: key } })
    key.fill(3)
    expect(kind.text(id)).toBe(text)
    expect(inspect(kind, { depth: 9, showHidden: true })).not.toMatch(/Uint8Array|Cipher/)
  })
})

describe('defineKind refuses', () => {
  it.each([
    ['no keys', {}, 'ERR_KEY_INVALID'],
    ['a key alone', a, 'ERR_KEY_INVALID'],
    ['a short key', { a: a.subarray(0, 15) }, 'ERR_KEY_INVALID'],
    ['a key of one repeated byte', { a: new Uint8Array(16).fill(7) }, 'ERR_KEY_INVALID'],
    ['a text for a key', { a: 'secret' }, 'ERR_KEY_INVALID'],
    ['two equal keys', { b: a, a }, 'ERR_KEY_INVALID'],
  ])('%s', (_what, keys, code) => {
    expect(caught(() => defineKind({ prefix: 'inv', layout, keys: keys as never })).code).toBe(code)
  })

  it('keys on a platform without node:crypto, unless it gets AES', () => {
    vi.spyOn(platform, 'blockCipher', 'get').mockReturnValue(undefined)
    const error = caught(() => defineKind({ prefix: 'inv', layout, keys: { a } }))
    expect(error).toMatchObject({ code: 'ERR_OPTION_INVALID', option: 'aes' })
    expect(error.message).toContain('no node:crypto; pass the aes of graupel/mask')
    expect(defineKind({ prefix: 'inv', layout, keys: { a }, aes }).text(id)).toBe(text)
    vi.restoreAllMocks()
  })

  it.each([
    ['AES without keys, because anyone could read the texts', { aes }],
    ['AES for UUIDs', { uuid: true, layout: undefined, aes }],
    ['AES that is no function', { keys: { a }, aes: {} }],
  ])('%s', (_what, options) => {
    const error = caught(() => defineKind({ prefix: 'inv', layout, ...options } as never))
    expect(error).toMatchObject({ code: 'ERR_OPTION_INVALID', option: 'aes' })
  })

  it('keys for UUIDs, which leave no room for a proof', () => {
    const error = caught(() => defineKind({ prefix: 'inv', uuid: true, keys: { a } } as never))
    expect(error.code).toBe('ERR_OPTION_INVALID')
    expect(error.message).toContain('keys is given')
  })
})
