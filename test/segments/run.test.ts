import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SegmentMemory } from '../../src/segments/memory.js'
import { Run } from '../../src/segments/run.js'

/** Makes a run that begins with a number. */
function runOf(first: bigint, count: number, stride: number): Run {
  const memory = SegmentMemory.make(stride)
  memory.add({ first, count }, count, 0)
  const run = new Run(memory, stride, false)
  run.refill()
  return run
}

describe('the numbers of a run', () => {
  it('are ready on both sides of a multiple of 2^32, without a refill', () => {
    const first = 2n ** 32n - 3n
    const expected = Array.from({ length: 6 }, (_, i) => first + BigInt(i))
    const one = runOf(first, 6, 1)
    expect(expected.map(() => (one.takeOne() === 0 ? one.id : undefined))).toEqual(expected)
    const filled = new BigUint64Array(6)
    expect(runOf(first, 6, 1).fill(filled, 0, 6)).toBe(6)
    expect([...filled]).toEqual(expected)
  })

  // The addon, if there is one, writes 256 numbers and more.
  it.each([1, 255, 256, 5000])('are written %d at a time, to their places and nowhere else', (count) => {
    const words = fc.tuple(fc.bigInt(0n, 2n ** 32n - 1n), fc.bigInt(0n, 2n ** 32n - 1n - 5000n * 65_535n))
    fc.assert(
      fc.property(words, fc.integer({ min: 1, max: 65_535 }), fc.nat(3), ([high, low], stride, from) => {
        const first = (high << 32n) | low
        const written = new BigUint64Array(from + count + 2)
        runOf(first, count, stride).fill(written, from, from + count)
        const expected = BigUint64Array.from(written, (_, i) =>
          i < from || i >= from + count ? 0n : first + BigInt(i - from) * BigInt(stride),
        )
        expect(written).toEqual(expected)
      }),
      { numRuns: 20 },
    )
  })
})
