import fc from 'fast-check'
import { createSegmentGenerator, type SegmentOptions } from 'graupel/segments'
import { memoryStore } from 'graupel/stores'
import { describe, expect, it } from 'vitest'
import { duplicatesAmong, isAscending } from '../support/ids.js'

const arraysOf = (made: readonly (readonly bigint[])[]) => made.map((some) => BigUint64Array.from(some))
const union = (made: readonly (readonly bigint[])[]) => made.flat().sort((a, b) => (a < b ? -1 : 1))

/** Collects the numbers of repeated calls. */
async function make(options: SegmentOptions, count: number): Promise<bigint[]> {
  using numbers = await createSegmentGenerator(options)
  return [...(await numbers.fillAsync(new BigUint64Array(count)))]
}

describe('a name that has a record', () => {
  it('goes on after the numbers that were fetched', async () => {
    const options = { store: memoryStore(), name: 'orders', step: 10 }
    expect(await make(options, 3)).toEqual([1n, 2n, 3n])
    expect(await make(options, 3)).toEqual([11n, 12n, 13n])
  })

  it('goes on from the record, or from start if start is greater', async () => {
    const options = { store: memoryStore(), name: 'orders', step: 10 }
    await make({ ...options, start: 100 }, 1)
    expect(await make({ ...options, start: 50 }, 1)).toEqual([110n])
    expect(await make({ ...options, start: 1000 }, 1)).toEqual([1000n])
    expect(await make(options, 1)).toEqual([1010n])
  })

  it('does not affect other names', async () => {
    const store = memoryStore()
    const names = ['orders', 'orders/a', 'orders%2Fa', 'Orders', '..', 'a b', '数']
    for (const name of names) expect(await make({ store, name, step: 5 }, 2)).toEqual([1n, 2n])
    expect(await store.list('numbers/')).toHaveLength(names.length)
  })
})

describe('generators that share a record', () => {
  it('make disjoint numbers without holes', async () => {
    const store = memoryStore()
    const shared = await Promise.all(
      [1, 2, 3, 4].map((step) => createSegmentGenerator({ store, name: 'orders', step, maxStep: 8 })),
    )
    const made: bigint[][] = shared.map(() => [])
    for (let round = 0; round < 100; round++) {
      await Promise.all(shared.map(async (numbers, i) => made[i]?.push(await numbers.nextAsync())))
    }
    expect(made.map(isAscending)).toEqual([true, true, true, true])
    expect(duplicatesAmong(arraysOf(made))).toBe(0)
    // Every fetched number was made, or is left.
    const left = shared.reduce((sum, numbers) => sum + numbers.stats().left, 0)
    for (const [i, numbers] of shared.entries()) made[i]?.push(...numbers.take(numbers.stats().left))
    const all = union(made)
    expect(all.length).toBe(400 + left)
    expect(all).toEqual(all.map((_, i) => BigInt(i + 1)))
  })

  it('of different strides never make an equal number', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc
            .record({ stride: fc.integer({ min: 1, max: 9 }), step: fc.integer({ min: 1, max: 9 }) })
            .chain(({ stride, step }) =>
              fc.record({
                stride: fc.constant(stride),
                step: fc.constant(step),
                offset: fc.integer({ min: 0, max: stride }),
              }),
            ),
          { minLength: 2, maxLength: 4 },
        ),
        fc.bigInt({ min: 0n, max: 2n ** 40n }),
        async (strides, start) => {
          const store = memoryStore()
          const shared = await Promise.all(
            strides.map((options) => createSegmentGenerator({ store, name: 'a', start, maxStep: 20, ...options })),
          )
          const made = await Promise.all(
            shared.map(async (numbers) => [...(await numbers.fillAsync(new BigUint64Array(25)))]),
          )
          for (const [i, some] of made.entries()) {
            const { stride, offset } = strides[i] as { stride: number; offset: number }
            expect(some.every((n) => n % BigInt(stride) === BigInt(offset % stride))).toBe(true)
            expect(isAscending(some)).toBe(true)
          }
          expect(duplicatesAmong(arraysOf(made))).toBe(0)
        },
      ),
      { numRuns: 60 },
    )
  })
})

describe('stride and offset', () => {
  it('give exactly the numbers from start on with that remainder', async () => {
    const edges = [0n, 2n ** 32n, 2n ** 53n, 2n ** 63n - 70_000n * 60n]
    await fc.assert(
      fc.asyncProperty(
        fc
          .integer({ min: 1, max: 65_535 })
          .chain((stride) => fc.tuple(fc.constant(stride), fc.integer({ min: 0, max: stride }))),
        fc.integer({ min: 1, max: 30 }),
        fc
          .constantFrom(...edges)
          .chain((edge) => fc.bigInt({ min: edge > 200_000n ? edge - 200_000n : 0n, max: edge })),
        async ([stride, offset], step, start) => {
          const made = await make({ store: memoryStore(), name: 'a', start, stride, offset, step }, 40)
          const width = BigInt(stride)
          const first = start + ((((BigInt(offset) - start) % width) + width) % width)
          expect(made).toEqual(made.map((_, i) => first + BigInt(i) * width))
        },
      ),
      { numRuns: 100 },
    )
  })

  it('of two stores side by side cover all numbers together', async () => {
    const made = await Promise.all(
      [1, 2].map((offset) => make({ store: memoryStore(), name: 'a', stride: 2, offset, step: 7 }, 50)),
    )
    expect(union(made)).toEqual(Array.from({ length: 100 }, (_, i) => BigInt(i + 1)))
  })

  it('end at the last number that has the remainder', async () => {
    using numbers = await createSegmentGenerator({ store: memoryStore(), name: 'a', stride: 10, offset: 3, max: 42 })
    expect(numbers.take(4)).toEqual([3n, 13n, 23n, 33n])
    await expect(numbers.nextAsync()).rejects.toMatchObject({ code: 'ERR_SEGMENT_OVERFLOW' })
  })
})
