import fc from 'fast-check'
import { defineLayout, layouts } from 'graupel'
import { defineKind } from 'graupel/kind'
import { describe, expect, it } from 'vitest'

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'

/** A layout of 2 to 64 bits. */
function layoutOf(bits: number) {
  const timestamp = Math.min(41, bits - 1)
  const sequence = Math.min(12, bits - timestamp)
  const node = bits - timestamp - sequence
  const fields: [string, number][] = [
    ['timestamp', timestamp],
    ...(node > 0 ? [['node', node] as [string, number]] : []),
    ['sequence', sequence],
  ]
  return defineLayout<readonly [string, number][]>({ name: 'own', epochMs: 0, tickMs: 1, unsigned: bits > 63, fields })
}

const kinds = Array.from({ length: 63 }, (_, i) => i + 2).map((bits) => ({
  bits,
  kind: defineKind({ prefix: 'ord', layout: layoutOf(bits) }),
}))
const uuids = defineKind({ prefix: '', uuid: true })
const opaque = defineKind({
  prefix: 'inv',
  layout: layouts.twitter,
  keys: { a: Uint8Array.from({ length: 16 }, (_, i) => i) },
})

/** Texts that look like the texts of a kind: random digits, of which many are the least or the greatest. */
const digitsOf = (length: number) =>
  fc
    .array(fc.oneof(fc.constantFrom(...alphabet), fc.constantFrom('0', '0', 'z', '7', 'g', 'u', 'A')), {
      minLength: length,
      maxLength: length,
    })
    .map((digits) => digits.join(''))

describe('the pattern of a kind', () => {
  it('is written as ever', () => {
    expect(defineKind({ prefix: 'ord', layout: layouts.twitter }).pattern).toBe('^ord_[0-7][0-9a-hjkmnp-tv-z]{12}$')
    expect(defineKind({ prefix: 'ord', layout: layouts.js53 }).pattern).toBe('^ord_00[0-7][0-9a-hjkmnp-tv-z]{10}$')
    expect(uuids.pattern).toBe('^[0-7][0-9a-hjkmnp-tv-z]{25}$')
    expect(opaque.pattern).toBe('^inv_[0-7][0-9a-hjkmnp-tv-z]{25}$')
  })

  it('matches the first and the last text of layouts of 2 to 64 bits, and not the next', () => {
    const widest = defineKind({ prefix: 'ord', layout: layoutOf(64) })
    for (const { bits, kind } of kinds) {
      const pattern = new RegExp(kind.pattern, 'v')
      expect([kind.text(0n), kind.text(2n ** BigInt(bits) - 1n)].every((text) => pattern.test(text))).toBe(true)
      if (bits < 64) expect(pattern.test(widest.text(2n ** BigInt(bits)))).toBe(false)
    }
  })

  it('matches a text if and only if the kind reads it', () => {
    const texts = digitsOf(13).chain((digits) =>
      fc.constantFrom(`ord_${digits}`, `usr_${digits}`, digits, `ord_${digits}\n`, `ord_${digits.slice(1)}`),
    )
    fc.assert(
      fc.property(fc.constantFrom(...kinds), texts, ({ kind }, text) => {
        expect(new RegExp(kind.pattern).test(text)).toBe(kind.is(text))
      }),
      { numRuns: 5000 },
    )
    fc.assert(
      fc.property(digitsOf(26), (text) => {
        expect(new RegExp(uuids.pattern).test(text)).toBe(uuids.is(text))
      }),
      { numRuns: 1000 },
    )
  })

  it('matches each opaque text, and texts that only the key refuses', () => {
    const pattern = new RegExp(opaque.pattern)
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }), digitsOf(26), (id, digits) => {
        expect(pattern.test(opaque.text(id))).toBe(true)
        if (!pattern.test(`inv_${digits}`)) expect(opaque.is(`inv_${digits}`)).toBe(false)
      }),
    )
    const guess = 'inv_0123456789abcdefghjkmnpqrs'
    expect([pattern.test(guess), opaque.is(guess)]).toEqual([true, false])
  })
})
