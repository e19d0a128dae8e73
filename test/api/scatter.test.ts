import fc from 'fast-check'
import { createGenerator, defineLayout, gather, type Layout, layouts, scatter } from 'graupel'
import { describe, expect, it } from 'vitest'
import { caught } from '../support/engines.js'

const all: readonly Layout[] = Object.values(layouts)
const narrow = defineLayout({
  name: 'narrow',
  epochMs: 0,
  tickMs: 1,
  fields: [
    ['timestamp', 12],
    ['node', 3],
    ['sequence', 5],
  ],
})

describe('scatter', () => {
  it('writes the bits of an id in reverse, within the width of its layout', () => {
    for (const layout of [...all, narrow]) {
      const id = fc.bigInt({ min: 0n, max: 2n ** BigInt(layout.bits) - 1n })
      fc.assert(
        fc.property(id, (value) => {
          const bits = value.toString(2).padStart(layout.bits, '0')
          expect(scatter(value, layout)).toBe(BigInt(`0b${[...bits].reverse().join('')}`))
          expect(gather(scatter(value, layout), layout)).toBe(value)
        }),
        { numRuns: 200 },
      )
    }
  })

  it('moves the lowest bits to the top, for lanes that ascend', () => {
    for (const layout of [...all, narrow]) {
      const id = fc.bigInt({ min: 0n, max: 2n ** BigInt(layout.bits) - 1n })
      fc.assert(
        fc.property(id, fc.integer({ min: 1, max: Math.min(50, layout.bits) }), (value, laneBits) => {
          const bits = value.toString(2).padStart(layout.bits, '0')
          const key = scatter(value, layout, 2 ** laneBits)
          expect(key).toBe(BigInt(`0b${bits.slice(-laneBits)}${bits.slice(0, -laneBits)}`))
          expect(gather(key, layout, 2 ** laneBits)).toBe(value)
        }),
        { numRuns: 200 },
      )
    }
    // As many lanes as ids have values: one key for each lane, the id itself.
    expect(scatter(5n, narrow, 2 ** 20)).toBe(5n)
  })

  it('spreads the ids of a second evenly over the ranges of a store', () => {
    let nowMs = Date.UTC(2026, 0, 1)
    const ids = createGenerator({ node: 7, clock: () => nowMs, sequenceStart: 'rotate' })
    // Chi-squared with 15 degrees of freedom: 44.3 has the probability 10^-4. An even spread has less.
    const lanes = new Array(16).fill(0)
    const ascending = lanes.map(() => 0n)
    for (let i = 0; i < 16_000; i++) {
      if (i % 3 === 0) nowMs++
      const key = scatter(ids.next(), ids.layout, 16)
      const lane = Number(key >> 59n)
      lanes[lane]++
      expect(key).toBeGreaterThan(ascending[lane] as bigint)
      ascending[lane] = key
    }
    const chi = lanes.reduce((sum, count) => sum + (count - 1000) ** 2 / 1000, 0)
    expect(chi).toBeLessThan(44.3)
    ids.close()
  })

  it('takes digits, and numbers of a narrow layout', () => {
    expect(scatter('1', layouts.twitter)).toBe(2n ** 62n)
    expect(scatter(1, layouts.js53)).toBe(2n ** 52n)
    expect(gather(String(2n ** 62n), layouts.twitter)).toBe(1n)
  })

  it.each([0, 1, 3, -2, 2.5, 2 ** 53 - 1, 2 ** 64, Number.NaN, '4', null])('refuses %s lanes', (lanes) => {
    for (const call of [scatter, gather]) {
      const error = caught(() => call(7n, layouts.twitter, lanes as number))
      expect(error).toMatchObject({ code: 'ERR_OPTION_INVALID', option: 'lanes' })
    }
  })

  it('refuses what is no id of the layout', () => {
    for (const call of [scatter, gather]) {
      for (const id of [2n ** 63n, -1n, '007', 7, null]) {
        expect(caught(() => call(id as bigint, layouts.twitter)).code).toBe('ERR_ID_INVALID')
      }
      expect(caught(() => call(7n, { ...layouts.twitter } as never)).code).toBe('ERR_LAYOUT_INVALID')
      expect(caught(() => call(7n, undefined as never)).code).toBe('ERR_LAYOUT_INVALID')
    }
  })
})
