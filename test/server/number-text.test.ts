import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bodyOf, numbersOfTexts, writeDecimals } from '../../server/src/http/number-body.ts'

const frame = { start: '<', between: ', ', end: '>' }
const written = (numbers: readonly bigint[]) => writeDecimals(BigUint64Array.from(numbers), frame).toString()
const expected = (numbers: readonly bigint[]) => `<${numbers.join(', ')}>`

test.each([
  ['none', []],
  ['the least and the greatest', [0n, 2n ** 64n - 1n]],
  ['those around a power of ten', [999_999_999n, 1_000_000_000n, 1_000_000_001n, 1_999_999_999n, 2_000_000_000n]],
  ['those around 2^32', [2n ** 32n - 1n, 2n ** 32n, 2n ** 32n + 1n]],
  [
    'a base below the upper half that the next number has',
    [4_294_000_000n, 4_294_967_295n, 4_294_967_296n, 4_999_999_999n],
  ],
  ['those that descend', [5_000_000_000n, 4_000_000_001n, 3n, 4_000_000_002n]],
  ['a long one after a short one', [7n, 10_000_000_000_000_000_000n, 7n]],
])('numbers are written in decimal: %s', (_, numbers) => {
  expect(written(numbers)).toBe(expected(numbers))
})

test('any numbers are written as BigInt writes them', () => {
  const near = fc
    .tuple(fc.bigInt(0n, 2n ** 63n), fc.array(fc.bigInt(0n, 3_000_000_000n)))
    .map(([base, offsets]) => offsets.map((offset) => base + offset))
  fc.assert(
    fc.property(fc.oneof(near, fc.array(fc.bigInt(0n, 2n ** 64n - 1n))), (numbers) => {
      expect(written(numbers)).toBe(expected(numbers))
    }),
    { numRuns: 500 },
  )
})

test('requests for many numbers are answered in turns of the event loop', async () => {
  const numbers = new BigUint64Array(3 * 16_384)
  let ended = 0
  const endedIn: number[] = []
  const bodies = Array.from({ length: 20 }, async () => {
    await bodyOf(numbers, 'json', 'decimal', { key: 'numbers', runs: { stride: 1, fixed: 0n } })
    ended++
  })
  for (let before = 0; ended < bodies.length; before = ended) {
    await setImmediate()
    endedIn.push(ended - before)
  }
  // A turn of the event loop writes 16 384 numbers, so no two bodies end in one turn.
  expect(Math.max(...endedIn)).toBe(1)
})

test('texts are read to their numbers in slices, between which other work has a turn', async () => {
  let turns = 0
  let isDone = false
  const others = (async () => {
    for (; !isDone; turns++) await setImmediate()
  })()
  const numbers = await numbersOfTexts(100_000, (index) => BigInt(index) * 3n)
  isDone = true
  await others
  expect(numbers).toEqual(BigUint64Array.from({ length: 100_000 }, (_, index) => BigInt(index) * 3n))
  // A slice has 512 texts.
  expect(turns).toBeGreaterThan(100_000 / 512 / 40)
})
