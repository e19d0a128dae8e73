import { setImmediate as turn } from 'node:timers/promises'
import {
  createSegmentGenerator,
  type LeafAllocStore,
  type SegmentGenerator,
  type SegmentOptions,
} from 'graupel/segments'
import { memoryStore, type Store } from 'graupel/stores'
import { describe, expect, it } from 'vitest'
import { caught } from '../support/engines.js'

/** A memory store whose reads wait while the gate is closed, and fail while there is an error. */
function gatedStore() {
  const inner = memoryStore()
  const gate: { error?: Error; opened?: Promise<void>; open(): void; close(): void; reads: number } = {
    reads: 0,
    open() {},
    close() {
      gate.opened = new Promise((resolve) => {
        gate.open = resolve
      })
    },
  }
  const store: Store = {
    ...inner,
    async read(key, signal) {
      gate.reads++
      await gate.opened
      if (gate.error !== undefined) throw gate.error
      return inner.read(key, signal)
    },
  }
  return { store, gate }
}

async function generatorWithGate(options: Partial<SegmentOptions> = {}) {
  const { store, gate } = gatedStore()
  const numbers = await createSegmentGenerator({
    store,
    name: 'orders',
    step: 4,
    maxStep: 4,
    prefetchAt: 1,
    ...options,
  })
  return { numbers, gate }
}
const outcome = (promise: Promise<unknown>) => promise.then(String, ({ code }) => code)

it('a call rejects, and the process goes on, if its request to the source closes the generator', async () => {
  let isLast = false
  const store = {
    name: 'leaf_alloc',
    takeSegment: async (_, count = 2) => {
      if (isLast) numbers.close()
      return { first: 0n, count }
    },
  } as LeafAllocStore
  const numbers = await createSegmentGenerator({ store, name: 'orders', prefetchAt: 1 })
  isLast = true
  numbers.take(2)
  await expect(numbers.nextAsync()).rejects.toMatchObject({ code: 'ERR_CLOSED' })
  await turn()
})

describe('calls that wait', () => {
  it('get their numbers in the order in which they were made', async () => {
    const { numbers, gate } = await generatorWithGate()
    numbers.take(3)
    gate.close()
    const ended: string[] = []
    const calls = [
      numbers.nextAsync().then((n) => ended.push(`${n}`)),
      numbers.fillAsync(new BigUint64Array(6)).then((a) => ended.push([...a].join())),
      numbers.nextAsync().then((n) => ended.push(`${n}`)),
      numbers.fillAsync(new BigInt64Array(0)).then(() => ended.push('empty')),
      numbers.nextAsync().then((n) => ended.push(`${n}`)),
    ]
    await turn()
    expect(ended).toEqual(['4'])
    gate.open()
    await Promise.all(calls)
    expect(ended).toEqual(['4', '5,6,7,8,9,10', '11', 'empty', '12'])
  })

  it('never fail because another call takes their numbers', async () => {
    const { numbers, gate } = await generatorWithGate({ step: 1, maxStep: 1 })
    numbers.next()
    gate.close()
    const waiting = numbers.nextAsync()
    await turn()
    const taken: bigint[] = []
    // Takes all numbers between any two steps of the waiting call.
    const thief = (async () => {
      for (let i = 0; i < 1000 && taken.length < 3; i++) {
        try {
          taken.push(numbers.next())
        } catch {}
        await (i % 50 === 49 ? turn() : undefined)
      }
    })()
    gate.open()
    await thief
    expect(taken.length).toBeGreaterThan(0)
    expect(taken).not.toContain(await waiting)
  })

  it('all fail with the attempt for which they waited, and not one after the other', async () => {
    const { numbers, gate } = await generatorWithGate()
    numbers.take(4)
    gate.close()
    const error = new Error('connection refused')
    const calls = Array.from({ length: 100 }, () => numbers.nextAsync())
    const settled = Promise.allSettled([...calls, numbers.fillAsync(new BigUint64Array(2))])
    gate.error = error
    const { reads } = gate
    gate.open()
    const outcomes = await settled
    expect(gate.reads - reads).toBeLessThanOrEqual(1)
    for (const { reason } of outcomes as PromiseRejectedResult[]) {
      expect(reason).toMatchObject({ name: 'GraupelError', code: 'ERR_EMPTY' })
      expect(reason.message).toMatch(/the store 'memory' gives none: .*connection refused/)
      expect(reason.cause).toMatchObject({ code: 'ERR_STORE_UNAVAILABLE', cause: error })
    }
    expect(numbers.stats()).toMatchObject({ failures: 1, failure: expect.stringContaining('connection refused') })
    delete gate.error
    // A call that is made later waits for the next attempt.
    expect(await numbers.nextAsync()).toBe(5n)
    expect(numbers.stats()).toMatchObject({ failures: 1, failure: '' })
  })

  it('keep the numbers that fillAsync has made, and report how many', async () => {
    const { numbers, gate } = await generatorWithGate()
    gate.error = new Error('connection refused')
    const array = new BigUint64Array(6)
    await expect(numbers.fillAsync(array)).rejects.toMatchObject({ code: 'ERR_EMPTY', filled: 4 })
    expect([...array]).toEqual([1n, 2n, 3n, 4n, 0n, 0n])
  })
})

describe('close', () => {
  const calls: [string, (numbers: SegmentGenerator) => unknown][] = [
    ['next', (numbers) => numbers.next()],
    ['nextNumber', (numbers) => numbers.nextNumber()],
    ['nextString', (numbers) => numbers.nextString()],
    ['take', (numbers) => numbers.take(1)],
    ['take of none', (numbers) => numbers.take(0)],
    ['fill', (numbers) => numbers.fill(new BigUint64Array(1))],
    ['the iterator', (numbers) => numbers[Symbol.iterator]().next()],
  ]
  it.each(calls)('makes %s throw', async (_, call) => {
    const { numbers } = await generatorWithGate()
    numbers.next()
    numbers.close()
    numbers.close()
    expect(caught(() => call(numbers))).toMatchObject({ name: 'GraupelError', code: 'ERR_CLOSED' })
    await expect(numbers.nextAsync()).rejects.toMatchObject({ code: 'ERR_CLOSED' })
    await expect(numbers.fillAsync(new BigUint64Array(0))).rejects.toMatchObject({ code: 'ERR_CLOSED' })
    expect(numbers.stats()).toMatchObject({ issued: 1, left: 0 })
  })

  it('rejects all waiting calls at once', async () => {
    const { numbers, gate } = await generatorWithGate()
    numbers.take(4)
    gate.close()
    const outcomes = [numbers.nextAsync(), numbers.fillAsync(new BigUint64Array(1)), numbers.nextAsync()].map(outcome)
    await turn()
    numbers.close()
    expect(await Promise.all(outcomes)).toEqual(['ERR_CLOSED', 'ERR_CLOSED', 'ERR_CLOSED'])
    gate.open()
    await turn()
    expect(numbers.stats()).toMatchObject({ issued: 4, left: 0, segments: 1, failures: 0 })
  })

  it('rejects a call that waits during the pause after a failure', async () => {
    const { numbers, gate } = await generatorWithGate()
    numbers.take(4)
    gate.error = new Error('connection refused')
    expect(await outcome(numbers.nextAsync())).toBe('ERR_EMPTY')
    const waiting = outcome(numbers.nextAsync())
    await turn()
    numbers.close()
    expect(await waiting).toBe('ERR_CLOSED')
  })

  it('is what `using` does', async () => {
    const { numbers } = await generatorWithGate()
    {
      using _ = numbers
    }
    expect(caught(() => numbers.next()).code).toBe('ERR_CLOSED')
  })
})
