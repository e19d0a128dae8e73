import { inspect } from 'node:util'
import fc from 'fast-check'
import { encodings, type TextEncoding } from 'graupel'
import { createMask, type MaskBits } from 'graupel/mask'
import { describe, expect, it } from 'vitest'
import { caught } from '../support/engines.js'

const keyOf = (first: number, length = 32) => Uint8Array.from({ length }, (_, i) => (first + i * 7) % 256)
const [newKey, oldKey] = [keyOf(1), keyOf(2)]
const ascending = Uint8Array.from({ length: 32 }, (_, i) => i)
const widths: MaskBits[] = [64, 63, 53]
const textEncodings = encodings.filter((encoding): encoding is TextEncoding => encoding !== 'bytes')
const greatest = (bits: number) => 2n ** BigInt(bits) - 1n

describe('a mask', () => {
  // Users have these texts in databases and links, so no version may change them.
  it.each<[MaskBits, bigint, bigint, string]>([
    [64, 0n, 13499967749072194288n, 'G5Fzil72fsu'],
    [64, 1n, 18407998486209764252n, 'LvopMDlGwWa'],
    [64, 2n ** 64n - 1n, 3220769145706407917n, '3pv9ixT61D3'],
    [63, 0n, 7216666258908277347n, '8b6PISl2u0Z'],
    [63, 1n, 4086544388339954031n, '4rsPpcF4wPf'],
    [63, 2n ** 63n - 1n, 9080293596135884092n, 'Aolq8p6Gfs4'],
    [53, 0n, 2474756644867301n, 'BKjTfTToD'],
    [53, 1n, 4053806635090085n, 'IZ7XQLVrx'],
    [53, 2n ** 53n - 1n, 955011179959967n, '4NBVSLwoZ'],
  ])('of %d bits hides %d as ever', (bits, id, hidden, text) => {
    const mask = createMask({ keys: { '': ascending }, bits })
    expect(mask.hide(id)).toBe(hidden)
    expect(mask.reveal(hidden)).toBe(id)
    expect(mask.hideString(id)).toBe(text)
    expect(mask.revealString(text)).toBe(id)
  })

  it('needs only a key: it has 63 bits, base62, and no name in its texts', () => {
    const mask = createMask(ascending)
    expect(mask).toMatchObject({ bits: 64, encoding: 'base62', keyNames: [''] })
    expect(mask.hideString(5n)).toBe(createMask({ keys: { '': ascending } }).hideString(5n))
  })

  it.each([16, 24, 32])('accepts keys of %d bytes, each with other texts', (length) => {
    const mask = createMask(keyOf(1, length))
    const others = [16, 24, 32].filter((other) => other !== length).map((other) => createMask(keyOf(1, other)))
    expect(mask.reveal(mask.hide(5n))).toBe(5n)
    for (const other of others) expect(other.hide(5n)).not.toBe(mask.hide(5n))
  })

  it('accepts decimal digits in place of a bigint', () => {
    const mask = createMask(newKey)
    expect(mask.hide('5')).toBe(mask.hide(5n))
    expect(mask.hideString('5')).toBe(mask.hideString(5n))
    expect(mask.reveal(mask.hide(5n).toString())).toBe(5n)
  })

  it('of another width gives other texts by the same key', () => {
    const hidden = widths.map((bits) => createMask({ keys: { a: newKey }, bits }).hide(5n))
    expect(new Set(hidden.map((value) => value % 2n ** 53n)).size).toBe(3)
  })

  it('keeps a copy of its keys, and does not show them', () => {
    const key = Uint8Array.from(newKey)
    const keys = { a: key }
    const mask = createMask({ keys })
    const hidden = mask.hide(5n)
    key.fill(3)
    keys.a = oldKey
    expect(mask.hide(5n)).toBe(hidden)
    expect(Object.isFrozen(mask) && Object.isFrozen(mask.keyNames)).toBe(true)
    expect(inspect(mask, { depth: 9, showHidden: true })).not.toMatch(/Uint8Array|\b15\b/)
  })

  it('has calls that need no this', () => {
    const { hide, reveal, hideString, revealString } = createMask(newKey)
    expect(reveal(hide(5n))).toBe(5n)
    expect(revealString(hideString(5n))).toBe(5n)
  })
})

describe('a mask of 53 bits', () => {
  const mask = createMask({ keys: { a: newKey }, bits: 53 })

  it('turns numbers into numbers', () => {
    const safe = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER })
    fc.assert(
      fc.property(safe, (id) => {
        const hidden = mask.hideNumber(id)
        expect(Number.isSafeInteger(hidden) && hidden >= 0).toBe(true)
        expect(BigInt(hidden)).toBe(mask.hide(BigInt(id)))
        expect(mask.revealNumber(hidden)).toBe(id)
      }),
      { numRuns: 100 },
    )
    expect(mask.revealNumber(mask.hideNumber(Number.MAX_SAFE_INTEGER))).toBe(Number.MAX_SAFE_INTEGER)
  })

  it.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, '5', 5n, null])('refuses the number %s', (id) => {
    for (const call of [mask.hideNumber, mask.revealNumber]) {
      expect(caught(() => call(id as number)).code).toBe('ERR_ID_INVALID')
    }
  })

  it.each([64, 63] as const)('is required by numbers, which %d bits do not fit', (bits) => {
    const wide = createMask({ keys: { a: newKey }, bits })
    for (const call of [wide.hideNumber, wide.revealNumber]) {
      const error = caught(() => call(5))
      expect(error.code).toBe('ERR_NUMBER_UNSAFE')
      expect(error.message).toContain(`${bits} bits`)
    }
  })
})

describe.each(textEncodings)('texts in %s', (encoding) => {
  const lengths: Record<TextEncoding, [number, number, number]> = {
    decimal: [20, 19, 16],
    hex: [16, 16, 14],
    base32: [13, 13, 11],
    base58: [11, 11, 10],
    base62: [11, 11, 9],
  }

  it.each(widths)('of %d bits have one length, and each id has one text', (bits) => {
    const mask = createMask({ keys: { b: newKey, old: oldKey }, bits, encoding })
    const old = createMask({ keys: { old: oldKey }, bits, encoding })
    const length = lengths[encoding][widths.indexOf(bits)] as number
    const check = (id: bigint) => {
      const text = mask.hideString(id)
      expect(text).toHaveLength(1 + length)
      expect(text.slice(0, 1)).toBe('b')
      expect(mask.revealString(text)).toBe(id)
      expect(mask.revealString(old.hideString(id))).toBe(id)
    }
    for (const edge of [0n, 1n, greatest(bits)]) check(edge)
    // The ids that are hidden as 0 and as the greatest number have the most and the fewest leading zeros.
    for (const hidden of [0n, 1n, greatest(bits)]) check(mask.reveal(hidden))
    fc.assert(fc.property(fc.bigInt({ min: 0n, max: greatest(bits) }), check), { numRuns: 50 })
  })

  it.each(widths)('of %d bits are refused in any other spelling', (bits) => {
    const mask = createMask({ keys: { b: newKey }, bits, encoding })
    const length = lengths[encoding][widths.indexOf(bits)] as number
    const zeros = mask.hideString(mask.reveal(0n))
    const beyond = { decimal: '9', hex: 'f', base32: 'Z', base58: 'z', base62: 'z' }[encoding].repeat(length)
    const bad = ['', 'b', zeros.slice(1), zeros.slice(0, -1), `${zeros}0`, `${zeros.slice(0, -1)}-`]
    const others = [`${zeros.slice(0, -1)} `, `${zeros.slice(0, -1)}é`, `b ${zeros.slice(2)}`, `b-${zeros.slice(2)}`]
    const isFull = encoding === 'hex' && bits === 64
    for (const text of [...bad, ...others, ...(isFull ? [] : [`b${beyond}`])]) {
      const error = caught(() => mask.revealString(text))
      expect([text, error.code]).toEqual([text, 'ERR_ID_INVALID'])
      expect(error).toBeInstanceOf(RangeError)
    }
  })
})

describe('a text', () => {
  it.each(['hex', 'base32'] as const)('in %s is refused in other letters, so that an id has one text', (encoding) => {
    const mask = createMask({ keys: { b: newKey }, encoding })
    // The text of 3 has a letter in both encodings.
    const text = mask.hideString(3n)
    const swapped = `b${encoding === 'hex' ? text.slice(1).toUpperCase() : text.slice(1).toLowerCase()}`
    expect(swapped).not.toBe(text)
    expect(caught(() => mask.revealString(swapped)).code).toBe('ERR_ID_INVALID')
    expect(caught(() => mask.revealString(swapped)).message).toContain(text.slice(1))
  })

  it('with the name of another key is refused by name', () => {
    const mask = createMask({ keys: { b: newKey, a: oldKey } })
    const error = caught(() => mask.revealString(createMask({ keys: { c: newKey } }).hideString(5n)))
    expect(error).toBeInstanceOf(RangeError)
    expect(error.code).toBe('ERR_KEY_INVALID')
    expect(error.message).toContain("'c'; this mask has 'b', 'a'")
  })

  it.each([undefined, null, 5, 5n, ['b'], new Uint8Array(12)])('cannot be %s', (text) => {
    const error = caught(() => createMask(newKey).revealString(text as never))
    expect([error.constructor, error.code]).toEqual([TypeError, 'ERR_ID_INVALID'])
  })

  it('of the right form that no mask has made gives some id: a mask proves nothing', () => {
    expect(createMask(newKey).revealString('00000000000')).toBeTypeOf('bigint')
  })
})

describe('rotation', () => {
  it('changes from a key without a name to named keys, of any length', () => {
    const [first, second, third] = [keyOf(1), keyOf(2), keyOf(3)]
    const masks = [
      createMask(first),
      createMask({ keys: { b: second, '': first } }),
      createMask({ keys: { b2026: third, b: second, '': first } }),
    ]
    const texts = masks.map((mask) => mask.hideString(5n))
    expect(texts.map((text) => text.length)).toEqual([11, 12, 16])
    for (const text of texts) expect(masks[2]?.revealString(text)).toBe(5n)
    expect(caught(() => masks[0]?.revealString(texts[1] as string)).code).toBe('ERR_ID_INVALID')
  })

  it('uses only the first key for hide and reveal', () => {
    const mask = createMask({ keys: { b: newKey, a: oldKey } })
    expect(mask.keyNames).toEqual(['b', 'a'])
    expect(mask.hide(5n)).toBe(createMask(newKey).hide(5n))
    expect(mask.reveal(createMask(oldKey).hide(5n))).not.toBe(5n)
  })
})
