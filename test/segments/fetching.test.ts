import { describe, expect, it } from 'vitest'
import { GraupelError, rangeError } from '../../src/core/errors.js'
import { fetchAt, nextBatchSize } from '../../src/numbers/prefetcher.js'
import { caught } from '../support/engines.js'
import { heldNumbers } from './held-source.js'

describe('the next segment', () => {
  it.each([
    [0.8, 8],
    [0.5, 5],
    [0.05, 0],
    [0, 0],
    [1, 10],
  ])('is fetched by the call behind prefetchAt %f of it, and once', async (prefetchAt, used) => {
    const { numbers, takes, attempt } = await heldNumbers({ prefetchAt })
    if (used > 0) numbers.take(used)
    expect(takes).toEqual([])
    if (used < 10) numbers.next()
    else expect(caught(() => numbers.next()).code).toBe('ERR_EMPTY')
    if (used < 9) numbers.take(9 - used)
    await attempt().give()
    expect(numbers.stats()).toMatchObject({ segments: 2, failures: 0 })
    expect(takes).toEqual([])
  })

  it('is fetched sooner if the rest lasts for less than the lead', async () => {
    const { numbers, attempt, pass } = await heldNumbers({ leadMs: 60, least: 10, most: 10 })
    numbers.take(8)
    await pass(100)
    // 10 numbers last 100 ms, so after 4 numbers the rest lasts 60 ms.
    numbers.next()
    await attempt().give()
    numbers.take(1 + 4)
    expect(numbers.stats().segments).toBe(2)
    numbers.next()
    expect(attempt().count).toBe(10)
  })

  it('is fetched at once if the whole segment lasts for less than the lead', async () => {
    const { numbers, attempt, takes, pass } = await heldNumbers({ leadMs: 1000, most: 10 })
    numbers.take(8)
    await pass(10)
    numbers.next()
    await attempt().give()
    numbers.next()
    expect(takes).toEqual([])
    numbers.next()
    expect(attempt().count).toBe(10)
  })
})

describe('the step', () => {
  const steps = { least: 10, most: 80, batchMs: 1000, prefetchAt: 0.8, leadMs: 0 }

  it('is doubled, kept or halved by how long a segment lasted', () => {
    const cases = [999, 1000, 1999, 2000, Number.POSITIVE_INFINITY].map((lastedMs) =>
      nextBatchSize(40, lastedMs, steps),
    )
    expect(cases).toEqual([80, 40, 40, 20, 20])
    expect(nextBatchSize(80, 0, steps)).toBe(80)
    expect(nextBatchSize(50, 0, steps)).toBe(80)
    expect(nextBatchSize(15, 1e9, steps)).toBe(10)
    expect(nextBatchSize(1, 1e9, { ...steps, least: 1 })).toBe(1)
    expect(nextBatchSize(2 ** 53 - 1, 0, { ...steps, most: Number.MAX_SAFE_INTEGER })).toBe(2 ** 53 - 1)
  })

  it('sets the position in the segment at which the next segment is fetched', () => {
    expect(fetchAt(10, 0, steps)).toBe(8)
    expect(fetchAt(10, 1e9, { ...steps, leadMs: 1 })).toBe(0)
    expect(fetchAt(100, 0.5, { ...steps, leadMs: 100 })).toBe(50)
    expect(fetchAt(2 ** 53 - 1, 0, { ...steps, prefetchAt: 1 })).toBe(2 ** 53 - 1)
  })

  it('follows the rate at which numbers are used', async () => {
    const { numbers, attempt, pass } = await heldNumbers()
    const counts: (number | undefined)[] = []
    /** Uses up a segment within a time. */
    const use = async (count: number, ms: number) => {
      const used = Math.floor(count * 0.8)
      numbers.take(used)
      await pass(ms)
      numbers.next()
      const one = attempt()
      counts.push(one.count)
      await one.give()
      numbers.take(count - used - 1)
    }
    await use(10, 100)
    await use(20, 100)
    await use(40, 100)
    await use(80, 100)
    await use(80, 1500)
    await use(80, 3000)
    await use(40, 30_000)
    await use(20, 30_000)
    await use(10, 30_000)
    expect(counts).toEqual([20, 40, 80, 80, 80, 40, 20, 10, 10])
  })

  it('begins with the step of the table, if the table has a step', async () => {
    const { numbers, attempt, pass } = await heldNumbers({ first: undefined, least: undefined, most: undefined })
    expect(numbers.stats()).toMatchObject({ step: 10, left: 10 })
    numbers.take(8)
    await pass(1)
    numbers.next()
    expect(attempt().count).toBe(20)
  })

  it.each([
    [{ most: 5 }, 5],
    [{ most: 12 }, 12],
    [{ least: 40 }, 80],
    [{ least: 2 ** 30 }, 2 ** 30],
  ])('stays in the bounds of the options, whatever step the table has: %j', async (bounds, second) => {
    const ofTable = { first: undefined, least: undefined, most: undefined }
    const { numbers, attempt, pass } = await heldNumbers({ ...ofTable, ...bounds })
    numbers.take(8)
    await pass(1)
    numbers.next()
    expect(attempt().count).toBe(second)
  })
})

describe('a store that does not answer', () => {
  const refused = new Error('connection refused')

  it('is not noticed while the buffer lasts, and is used again without a call', async () => {
    const { numbers, takes, attempt, news, pass, backgrounds } = await heldNumbers({}, 0.999)
    numbers.take(9)
    for (let i = 0; i < 8; i++) {
      await attempt().fail(refused)
      expect(takes).toEqual([])
      await pass(1001)
    }
    expect(news).toEqual(Array(8).fill('connection refused'))
    // The process may end during each pause.
    expect(backgrounds()).toBe(8)
    expect(numbers.next()).toBe(10n)
    for (let i = 0; i < 2; i++) {
      const error = caught(() => numbers.next())
      expect(error).toMatchObject({ name: 'GraupelError', code: 'ERR_EMPTY', cause: refused })
      expect(error.message).toMatch(/'orders' .* the store 'held' gives none: connection refused$/)
    }
    expect(numbers.stats()).toMatchObject({ failures: 8, failure: 'connection refused', left: 0 })
    await attempt().give()
    expect(numbers.next()).toBe(11n)
    expect(numbers.stats()).toMatchObject({ failures: 8, failure: '' })
    expect(news.at(-1)).toBeUndefined()
  })

  it('is tried again after pauses that double up to a second', async () => {
    const { numbers, takes, pass, nowMs } = await heldNumbers({}, 0)
    numbers.take(9)
    const pauses: number[] = []
    for (let i = 0; i < 8; i++) {
      const failedMs = nowMs()
      await takes.shift()?.fail(refused)
      while (takes.length === 0) await pass(1)
      pauses.push(Math.round(nowMs() - failedMs))
    }
    // Each pause is half of 50, 100, 200, 400, 800, 1000, 1000, 1000.
    expect(pauses).toEqual([25, 50, 100, 200, 400, 500, 500, 500])
  })

  it('fails the call that waits for an attempt, and the next call waits for the next attempt', async () => {
    const { numbers, takes, attempt, pass } = await heldNumbers()
    numbers.take(10)
    const first = numbers.nextAsync().catch((error) => error)
    await attempt().fail(refused)
    expect(await first).toMatchObject({ code: 'ERR_EMPTY', cause: refused })
    let isSettled = false
    const second = numbers.nextAsync().finally(() => {
      isSettled = true
    })
    await pass(20)
    expect([takes.length, isSettled]).toEqual([0, false])
    await pass(80)
    await attempt().give()
    expect(await second).toBe(11n)
  })

  it('hangs: the buffer goes on, and a waiting call gets the late answer', async () => {
    const { numbers, attempt, pass } = await heldNumbers()
    numbers.take(9)
    const one = attempt()
    await pass(1_000_000)
    expect(numbers.next()).toBe(10n)
    const error = caught(() => numbers.next())
    expect(error.message).toMatch(/the next numbers come in a later turn/)
    const waiting = numbers.nextAsync()
    await one.give()
    expect(await waiting).toBe(11n)
  })

  it('has no more numbers, and is not asked again', async () => {
    const { numbers, attempt, takes, pass } = await heldNumbers()
    numbers.take(9)
    await attempt().fail(rangeError('ERR_SEGMENT_OVERFLOW', 'the last number is used up'))
    await pass(5000)
    expect(numbers.next()).toBe(10n)
    for (let i = 0; i < 3; i++) {
      expect(caught(() => numbers.next())).toMatchObject({ name: 'RangeError', code: 'ERR_SEGMENT_OVERFLOW' })
      await expect(numbers.nextAsync()).rejects.toMatchObject({ code: 'ERR_SEGMENT_OVERFLOW' })
    }
    expect(takes).toEqual([])
  })

  it('says that the record is another’s: the error is kept as the cause, and it is tried again', async () => {
    const { numbers, attempt, pass } = await heldNumbers()
    numbers.take(10)
    const mismatch = new GraupelError('ERR_STATE_MISMATCH', 'the record is of a counter')
    await attempt().fail(mismatch)
    expect(caught(() => numbers.next())).toMatchObject({ code: 'ERR_EMPTY', cause: mismatch })
    await pass(100)
    await attempt().give()
    expect(numbers.next()).toBe(11n)
  })

  it('is not tried again after close', async () => {
    const { numbers, attempt, takes, pass } = await heldNumbers()
    numbers.take(10)
    await attempt().fail(refused)
    const waiting = numbers.nextAsync()
    numbers.close()
    await expect(waiting).rejects.toMatchObject({ code: 'ERR_CLOSED' })
    await pass(5000)
    expect(takes).toEqual([])
  })

  it('answers after close: the answer is not used, and the call was aborted', async () => {
    const { numbers, attempt, news } = await heldNumbers()
    numbers.take(9)
    const one = attempt()
    numbers.close()
    expect(one.signal?.aborted).toBe(true)
    await one.give()
    expect(news).toEqual([])
    expect(numbers.stats()).toMatchObject({ segments: 1, left: 0, issued: 9 })
  })
})
