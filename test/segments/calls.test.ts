import { setImmediate as turn } from 'node:timers/promises'
import { inspect } from 'node:util'
import { createSegmentGenerator, type SegmentOptions } from 'graupel/segments'
import { memoryStore } from 'graupel/stores'
import { describe, expect, it } from 'vitest'
import { disguised } from '../support/disguised.js'
import { caught } from '../support/engines.js'
import { isAscending } from '../support/ids.js'

const generatorOf = (options: Partial<SegmentOptions> = {}) =>
  createSegmentGenerator({ store: memoryStore(), name: 'orders', ...options })
/** Returns the integers of a range. */
const from = (first: bigint, count: number) => Array.from({ length: count }, (_, i) => first + BigInt(i))

describe('the calls of a generator of segments', () => {
  it('continue one sequence of numbers', async () => {
    using numbers = await generatorOf()
    expect(numbers.next()).toBe(1n)
    expect(numbers.nextNumber()).toBe(2)
    expect(numbers.nextString()).toBe('3')
    expect(await numbers.nextAsync()).toBe(4n)
    expect(numbers.fill(new BigUint64Array(2))).toEqual(BigUint64Array.of(5n, 6n))
    expect(numbers.fill(new BigInt64Array(2))).toEqual(BigInt64Array.of(7n, 8n))
    expect(await numbers.fillAsync(new BigUint64Array(2))).toEqual(BigUint64Array.of(9n, 10n))
    expect(numbers.take(2)).toEqual([11n, 12n])
    const taken: bigint[] = []
    for (const number of numbers) if (taken.push(number) === 2) break
    expect(taken).toEqual([13n, 14n])
    expect(numbers.stats()).toMatchObject({ issued: 14, left: 986 })
  })

  it('need no this', async () => {
    const numbers = await generatorOf()
    const { next, nextNumber, nextString, nextAsync } = numbers
    expect([next(), nextNumber(), nextString(), await nextAsync()]).toEqual([1n, 2, '3', 4n])
  })

  it('fill a part of a larger buffer, and nothing outside of that part', async () => {
    using numbers = await generatorOf({ step: 3 })
    const buffer = new ArrayBuffer(64)
    await numbers.fillAsync(new BigUint64Array(buffer, 16, 4))
    expect([...new BigUint64Array(buffer)]).toEqual([0n, 0n, 1n, 2n, 3n, 4n, 0n, 0n])
    expect(numbers.fill(new BigUint64Array(0))).toHaveLength(0)
    expect(numbers.take(0)).toEqual([])
  })

  it.each([4, 300])('fill the real elements of an array that disguises them: %i', async (length) => {
    using numbers = await generatorOf({ step: 10_000 })
    let first = 1n
    for (const { how, array, elements } of disguised(length)) {
      for (const fill of [() => numbers.fill(array), () => numbers.fillAsync(array)]) {
        expect(await fill(), how).toBe(array)
        expect([...elements], how).toEqual([0n, ...from(first, length), 0n])
        first += BigInt(length)
      }
    }
  })

  it.each([1, 2, 3, 7, 16])('go on across the ends of segments of %i', async (step) => {
    using numbers = await generatorOf({ step, maxStep: step })
    const made: bigint[] = []
    for (let i = 0; i < 60; i++) {
      made.push(await numbers.nextAsync())
      if (i % 3 === 0) made.push(...(await numbers.fillAsync(new BigUint64Array(i % 5))))
    }
    expect(made).toEqual(from(1n, made.length))
    expect(numbers.stats().issued).toBe(made.length)
  })

  it('never wait if the event loop has a turn for each segment', async () => {
    using numbers = await generatorOf({ step: 10 })
    const made: bigint[] = []
    for (let i = 0; i < 200; i++) {
      made.push(numbers.next())
      await turn()
    }
    expect(made).toEqual(from(1n, 200))
  })

  it('throw with a remedy and the number of filled elements if the event loop had no turn', async () => {
    using numbers = await generatorOf({ step: 10 })
    const error = caught(() => numbers.take(25))
    expect(error).toMatchObject({ name: 'GraupelError', code: 'ERR_EMPTY', filled: 10 })
    expect(error.message).toMatch(
      /^the segment generator 'orders' has no number ready: .* turn of the event loop; await nextAsync/,
    )
    expect(error.cause).toBeUndefined()
    expect(numbers.stats()).toMatchObject({ issued: 10, left: 0, failure: '' })
    expect(await numbers.nextAsync()).toBe(11n)
  })

  it.each([
    ['2^32', 2n ** 32n],
    ['5 * 2^32', 5n * 2n ** 32n],
    ['2^53, as bigints,', 2n ** 53n],
    ['2^63, with a larger max,', 2n ** 63n],
  ])('go on across %s', async (_, edge) => {
    const options = { start: edge - 6n, max: 2n ** 64n - 1n }
    using numbers = await generatorOf(options)
    expect(Array.from({ length: 12 }, () => numbers.next())).toEqual(from(edge - 6n, 12))
    using texts = await generatorOf(options)
    expect(Array.from({ length: 12 }, () => texts.nextString())).toEqual(from(edge - 6n, 12).map(String))
    using arrays = await generatorOf(options)
    expect(arrays.take(12)).toEqual(from(edge - 6n, 12))
    using waiting = await generatorOf({ ...options, stride: 4, offset: 2 })
    const made = [...(await waiting.fillAsync(new BigUint64Array(5)))]
    expect(made).toEqual(from(0n, 5).map((i) => edge - 6n + 4n * i))
  })

  it('give JavaScript numbers up to 2^53 - 1, and then nothing', async () => {
    using numbers = await generatorOf({ start: 2n ** 53n - 3n })
    expect([numbers.nextNumber(), numbers.nextNumber(), numbers.nextNumber()]).toEqual(
      [3, 2, 1].map((below) => 2 ** 53 - below),
    )
    for (let i = 0; i < 3; i++) {
      const error = caught(() => numbers.nextNumber())
      expect(error).toMatchObject({ name: 'RangeError', code: 'ERR_NUMBER_UNSAFE' })
      expect(error.message).toMatch(/^the next number is 9007199254740992, /)
    }
    expect(numbers.stats().issued).toBe(3)
    expect(numbers.next()).toBe(2n ** 53n)
    expect(caught(() => numbers.nextNumber()).message).toMatch(/^the next number is 9007199254740993, /)
  })
})

describe('the last number', () => {
  it.each([
    ['2^63 - 1 by default', undefined, 2n ** 63n - 1n],
    ['2^64 - 1', 2n ** 64n - 1n, 2n ** 64n - 1n],
    ['7', 7, 7n],
  ])('is %s: the last segment is used completely', async (_, max, last) => {
    const options = { max, start: last - 6n, step: 5 } as Partial<SegmentOptions>
    const numbers = await generatorOf(options)
    expect(Array.from({ length: 5 }, () => numbers.next())).toEqual(from(last - 6n, 5))
    expect(await numbers.nextAsync()).toBe(last - 1n)
    expect(numbers.stats()).toMatchObject({ left: 1, segments: 2 })
    await turn()
    expect(numbers.next()).toBe(last)
    await turn()
    const expected = { name: 'RangeError', code: 'ERR_SEGMENT_OVERFLOW', message: expect.stringMatching(/max is/) }
    expect(caught(() => numbers.next())).toMatchObject(expected)
    expect(caught(() => numbers.nextNumber())).toMatchObject(expected)
    expect(caught(() => numbers.nextString())).toMatchObject(expected)
    await expect(numbers.nextAsync()).rejects.toMatchObject(expected)
    expect(caught(() => numbers.take(1))).toMatchObject({ ...expected, filled: 0 })
    await expect(numbers.fillAsync(new BigUint64Array(1))).rejects.toMatchObject({ ...expected, filled: 0 })
    expect(numbers.stats()).toMatchObject({ issued: 7, left: 0, failure: expect.stringMatching(/max is/) })
  })

  it('is reported by fill, fillAsync and take with the number of filled elements', async () => {
    const expected = { code: 'ERR_SEGMENT_OVERFLOW', filled: 3 }
    const array = new BigUint64Array(5)
    await expect((await generatorOf({ max: 3, step: 2 })).fillAsync(array)).rejects.toMatchObject(expected)
    expect([...array]).toEqual([1n, 2n, 3n, 0n, 0n])
    const fill = await generatorOf({ max: 3, prefetchAt: 0 })
    expect(fill.next()).toBe(1n)
    await turn()
    expect(caught(() => fill.fill(array))).toMatchObject({ ...expected, filled: 2 })
    const take = await generatorOf({ max: 3 })
    const error = caught(() => take.take(5))
    expect(error).toMatchObject({ filled: 3 })
  })

  it('was issued already, so the creation is refused', async () => {
    const store = memoryStore()
    await generatorOf({ store, max: 10 })
    await expect(generatorOf({ store, max: 10 })).rejects.toMatchObject({ code: 'ERR_SEGMENT_OVERFLOW' })
    using numbers = await generatorOf({ store, max: 20 })
    expect(numbers.next()).toBe(11n)
  })

  it('never goes into an array that shows it as negative', async () => {
    using numbers = await generatorOf({ max: 2n ** 63n })
    const error = caught(() => numbers.fill(new BigInt64Array(1)))
    expect(error).toMatchObject({ name: 'TypeError', code: 'ERR_ARRAY_INVALID' })
    expect(numbers.stats().issued).toBe(0)
  })
})

describe('an argument that is wrong', () => {
  it.each<[string, unknown]>([
    ['an array of numbers', [1, 2]],
    ['a Uint8Array', new Uint8Array(8)],
    ['shared memory', new BigUint64Array(new SharedArrayBuffer(8))],
  ])('%s is refused by fill and fillAsync', async (_, array) => {
    using numbers = await generatorOf()
    expect(caught(() => numbers.fill(array as never))).toMatchObject({ code: 'ERR_ARRAY_INVALID' })
    await expect(numbers.fillAsync(array as never)).rejects.toMatchObject({ code: 'ERR_ARRAY_INVALID' })
    expect(numbers.stats().issued).toBe(0)
  })

  it.each([-1, 1.5, 2 ** 24 + 1, '3'])('take(%s) is refused', async (count) => {
    using numbers = await generatorOf()
    expect(caught(() => numbers.take(count as number))).toMatchObject({ code: 'ERR_OPTION_INVALID' })
  })

  it('an array that is transferred while its call waits is refused, and takes nothing', async () => {
    using numbers = await generatorOf({ step: 2, maxStep: 2 })
    const first = numbers.fillAsync(new BigUint64Array(3))
    const array = new BigUint64Array(2)
    const second = numbers.fillAsync(array)
    structuredClone(array.buffer, { transfer: [array.buffer] })
    await expect(second).rejects.toMatchObject({ code: 'ERR_ARRAY_INVALID', filled: 0 })
    expect([...(await first)]).toEqual([1n, 2n, 3n])
    expect(await numbers.nextAsync()).toBe(4n)
  })
})

describe('what a generator shows of itself', () => {
  it('are its name and its store, in the console and as JSON', async () => {
    const numbers = await generatorOf()
    expect(inspect(numbers)).toBe("SegmentGenerator { name: 'orders', store: 'memory' }")
    expect(JSON.stringify(numbers)).toBe('{"name":"orders","store":"memory"}')
    expect(numbers.name).toBe('orders')
  })

  it('are exact statistics, in each state', async () => {
    const numbers = await generatorOf({ step: 10, prefetchAt: 0.5 })
    const counts = () => {
      const { issued, left, segments, step } = numbers.stats()
      return { issued, left, segments, step }
    }
    expect(counts()).toEqual({ issued: 0, left: 10, segments: 1, step: 10 })
    numbers.take(5)
    expect(counts()).toEqual({ issued: 5, left: 5, segments: 1, step: 10 })
    numbers.next()
    expect(counts()).toEqual({ issued: 6, left: 4, segments: 1, step: 20 })
    await turn()
    expect(counts()).toEqual({ issued: 6, left: 24, segments: 2, step: 20 })
    const made = numbers.take(24)
    expect(isAscending(made)).toBe(true)
    expect(counts()).toMatchObject({ issued: 30, left: 0, segments: 2 })
    await numbers.nextAsync()
    const before = counts()
    expect(before.issued).toBe(31)
    // On a busy machine the next segment may have come before the call resolves.
    expect([3, 4]).toContain(before.segments)
    numbers.close()
    expect(counts()).toEqual({ ...before, left: 0 })
  })

  it('are statistics that count beyond 2^32 in a run', async () => {
    const numbers = await generatorOf({ start: 2n ** 32n - 2n, step: 10, prefetchAt: 1 })
    numbers.next()
    expect(numbers.stats()).toMatchObject({ issued: 1, left: 9 })
    numbers.take(3)
    expect(numbers.stats()).toMatchObject({ issued: 4, left: 6 })
    const closed = await generatorOf({ start: 2n ** 32n - 2n, step: 10, prefetchAt: 1 })
    closed.next()
    closed.close()
    expect(closed.stats()).toMatchObject({ issued: 1, left: 0 })
  })
})
