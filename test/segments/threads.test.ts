import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { acquireLease } from 'graupel/lease'
import {
  createSegmentGenerator,
  type SegmentGenerator,
  type SegmentHandle,
  type SegmentOptions,
  type SegmentStats,
} from 'graupel/segments'
import { memoryStore, type Store } from 'graupel/stores'
import { afterEach, describe, expect, it } from 'vitest'
import { duplicatesAmong, isAscending } from '../support/ids.js'
import { until } from '../support/until.js'

interface Failure {
  readonly code: string
  readonly message: string
  readonly cause?: string
}

const workers: Worker[] = []
afterEach(async () => {
  for (const worker of workers.splice(0)) await worker.terminate()
})

let orders = 0
async function startWorker(workerData: { handle: SegmentHandle } | { own: Partial<SegmentOptions> }) {
  const worker = new Worker(new URL('./programs/segment-worker.js', import.meta.url), { workerData })
  workers.push(worker)
  await once(worker, 'message')
  const send = async (order: string, count = 1): Promise<{ result: never; error?: Failure }> => {
    const id = ++orders
    worker.postMessage({ order, count, id })
    for (;;) {
      const [answer] = await once(worker, 'message')
      if (answer.id === id) return answer
    }
  }
  /** The numbers that the thread makes, and its error if it fails. */
  const ask = async (order: string, count?: number): Promise<bigint[]> => {
    const { result, error } = await send(order, count)
    if (error !== undefined) throw error
    return result
  }
  return { worker, ask, stats: async (): Promise<SegmentStats> => (await send('stats')).result, send }
}
type Thread = Awaited<ReturnType<typeof startWorker>>

const startAll = (count: number, handle: SegmentHandle) =>
  Promise.all(Array.from({ length: count }, () => startWorker({ handle })))

/** The statistics of all threads, between which no segment came. */
async function statsBetweenFetches(numbers: SegmentGenerator, threads: readonly Thread[]): Promise<SegmentStats[]> {
  for (;;) {
    const { segments } = numbers.stats()
    const each = await Promise.all(threads.map(({ stats }) => stats()))
    if (numbers.stats().segments === segments) return each
  }
}

const arraysOf = (made: readonly (readonly bigint[])[]) => made.map((some) => BigUint64Array.from(some))

describe('threads that have the handle of a generator', () => {
  it('drop what they have taken when a lease of another thread is parked or resumed', async () => {
    const numbers = await createSegmentGenerator({ store: memoryStore(), name: 'orders', step: 1000 })
    const thread = await startWorker({ handle: numbers.handle })
    const lease = await acquireLease({ store: memoryStore() })
    await thread.ask('wait', 3)
    await lease.park()
    const [parked = 0n] = await thread.ask('wait')
    expect(parked).toBeGreaterThan(1000n)
    await lease.resume()
    const [resumed] = await thread.ask('wait')
    expect(resumed).toBeGreaterThan(parked + 900n)
    await lease.release()
    numbers.close()
  })

  it.each([
    ['wait', 3, 60],
    ['wait', 64, 300],
    ['poll', 5, 100],
    ['poll', 200, 3000],
  ])(
    'make distinct numbers by %s in segments of %i, ascending in each, and dense together',
    async (order, step, count) => {
      const options = { store: memoryStore(), name: 'orders', step, maxStep: step }
      const numbers = await createSegmentGenerator(options)
      const threads = await startAll(4, numbers.handle)
      const made: bigint[][] = await Promise.all(threads.map(({ ask }) => ask(order, count)))
      expect(made.map(({ length }) => length)).toEqual(Array(4).fill(count))
      expect(made.every(isAscending)).toBe(true)
      const each = await statsBetweenFetches(numbers, threads)
      expect(each.map(({ issued }) => issued)).toEqual(Array(4).fill(count))
      // The made numbers, and the numbers left in the threads and in the memory, have no hole.
      const left = await Promise.all(
        threads.map(async ({ ask }, i) => {
          const own = (each[i] as SegmentStats).left - numbers.stats().left
          return ask('take', own)
        }),
      )
      const rest = numbers.take(numbers.stats().left)
      const all = [...made, ...left, rest].flat().sort((a, b) => (a < b ? -1 : 1))
      expect(all).toEqual(all.map((_, i) => BigInt(i + 1)))
      numbers.close()
    },
  )

  it('lose only their run if they are terminated in the middle', async () => {
    const numbers = await createSegmentGenerator({ store: memoryStore(), name: 'orders', step: 160, maxStep: 160 })
    const made: bigint[][] = []
    for (let round = 0; round < 4; round++) {
      const threads = await startAll(2, numbers.handle)
      const working = threads.map(({ ask }) => ask('poll', 100_000_000).catch(() => []))
      void working
      // The threads take numbers, too: later numbers are more than this thread has made.
      let own: bigint[]
      do {
        own = [...(await numbers.fillAsync(new BigUint64Array(500)))]
        made.push(own)
      } while ((own.at(-1) as bigint) - (own[0] as bigint) === 499n)
      await Promise.all(threads.map(({ worker }) => worker.terminate()))
      made.push([...(await numbers.fillAsync(new BigUint64Array(500)))])
    }
    expect(made.every(isAscending)).toBe(true)
    expect(duplicatesAmong(arraysOf(made))).toBe(0)
    numbers.close()
  })

  it('lose at most a run of a sixteenth of the step', async () => {
    const numbers = await createSegmentGenerator({ store: memoryStore(), name: 'orders', step: 1600, maxStep: 1600 })
    const { handle } = numbers
    const thread = await startWorker({ handle })
    const [first] = await thread.ask('next')
    expect(first).toBe(1n)
    await thread.worker.terminate()
    expect(numbers.next()).toBe(101n)
    numbers.close()
  })

  it('may be the main thread, while the generator is in a worker', async () => {
    const owner = await startWorker({ own: { name: 'orders', step: 10, maxStep: 10 } })
    const { result: handle } = await owner.send('handle')
    using numbers = await createSegmentGenerator({ handle })
    expect(numbers.stats()).toMatchObject({ name: 'orders', store: 'memory', step: 10 })
    expect(numbers.handle).toBe(handle)
    const made = [...(await numbers.fillAsync(new BigUint64Array(100)))]
    expect(made).toEqual(made.map((_, i) => BigInt(i + 1)))
  })

  it("have one channel, however often the handle is read, and never another generator's channel", async () => {
    const store = memoryStore()
    const numbers = await createSegmentGenerator({ store, name: 'orders', step: 2, maxStep: 2 })
    const others = await createSegmentGenerator({ store, name: 'orders', start: 1_000_000, step: 2, maxStep: 2 })
    expect(numbers.handle).toBe(numbers.handle)
    expect(numbers.handle.channel).not.toBe(others.handle.channel)
    const threads = [await startWorker({ handle: numbers.handle }), await startWorker({ handle: others.handle })]
    const made = await Promise.all(threads.map(({ ask }) => ask('wait', 50)))
    expect(duplicatesAmong(arraysOf(made))).toBe(0)
    others.close()
    expect(await (threads[0] as Thread).ask('wait', 10)).toHaveLength(10)
    await expect((threads[1] as Thread).ask('wait', 10)).rejects.toMatchObject({ code: 'ERR_CLOSED' })
    numbers.close()
  })

  it('close only their own generator', async () => {
    const numbers = await createSegmentGenerator({ store: memoryStore(), name: 'orders', step: 10, maxStep: 10 })
    const [one, other] = (await startAll(2, numbers.handle)) as [Thread, Thread]
    await one.ask('close')
    await expect(one.ask('next')).rejects.toMatchObject({ code: 'ERR_CLOSED' })
    expect(await other.ask('wait', 30)).toHaveLength(30)
    expect(await numbers.nextAsync()).toBeGreaterThan(30n)
    numbers.close()
  })
})

describe('threads whose generator does not fetch', () => {
  /** Makes a generator whose store fails while an error is set, and hangs on request. */
  async function generatorWith(options: Partial<SegmentOptions> = {}) {
    const inner = memoryStore()
    const outage: { error?: Error; hangs?: boolean } = {}
    const store: Store = {
      ...inner,
      async read(key) {
        if (outage.hangs) await new Promise(() => {})
        if (outage.error !== undefined) throw outage.error
        return inner.read(key)
      },
    }
    const numbers = await createSegmentGenerator({ store, name: 'orders', step: 2, maxStep: 2, ...options })
    return { numbers, outage, thread: await startWorker({ handle: numbers.handle }) }
  }

  it('are told why the store fails, and go on when it is back', async () => {
    const { numbers, outage, thread } = await generatorWith()
    outage.error = new Error('connection refused')
    await thread.ask('take', 2)
    const expected = { code: 'ERR_EMPTY', cause: 'ERR_STORE_UNAVAILABLE' }
    await expect(thread.ask('wait')).rejects.toMatchObject({
      ...expected,
      message: expect.stringContaining('connection refused'),
    })
    await expect(thread.ask('next')).rejects.toMatchObject(expected)
    expect(await thread.stats()).toMatchObject({ failure: expect.stringContaining('connection refused') })
    delete outage.error
    await until(async () => (await thread.ask('wait').catch(() => [])).length === 1)
    expect(await thread.stats()).toMatchObject({ failure: '' })
    numbers.close()
  })

  it('are told that there are no more numbers', async () => {
    const { numbers, thread } = await generatorWith({ max: 3 })
    expect(await thread.ask('wait', 3)).toEqual([1n, 2n, 3n])
    await expect(thread.ask('wait')).rejects.toMatchObject({ code: 'ERR_SEGMENT_OVERFLOW' })
    await expect(thread.ask('next')).rejects.toMatchObject({ code: 'ERR_SEGMENT_OVERFLOW' })
    numbers.close()
  })

  it('wait while a call of the store hangs, and learn of its deadline', async () => {
    const { numbers, outage, thread } = await generatorWith({ callTimeoutMs: 100 })
    outage.hangs = true
    await thread.ask('take', 2)
    await expect(thread.ask('wait')).rejects.toMatchObject({
      code: 'ERR_EMPTY',
      cause: 'ERR_STORE_UNAVAILABLE',
      message: expect.stringContaining('did not answer within 100 ms'),
    })
    numbers.close()
  })

  it('reject with ERR_CLOSED when the generator is closed, even if they wait', async () => {
    const { numbers, outage, thread } = await generatorWith()
    outage.hangs = true
    await thread.ask('take', 2)
    const waiting = thread.ask('wait').catch((error) => error)
    await thread.stats()
    numbers.close()
    expect(await waiting).toMatchObject({ code: 'ERR_CLOSED' })
    await expect(thread.ask('next')).rejects.toMatchObject({ code: 'ERR_CLOSED' })
    expect(await thread.stats()).toMatchObject({ left: 0, issued: 2 })
  })

  it('have no numbers left after the generator is closed', async () => {
    const { numbers, thread } = await generatorWith({ step: 100, maxStep: 100 })
    numbers.close()
    await expect(thread.ask('next')).rejects.toMatchObject({ code: 'ERR_CLOSED' })
    expect(await thread.stats()).toMatchObject({ left: 0, issued: 0 })
  })

  it.each([
    ['its thread has ended', (owner: Thread) => owner.worker.terminate()],
    ['its event loop is blocked', (owner: Thread) => owner.send('block', 100_000)],
  ])('reject with the possible reasons if %s', async (_, stop) => {
    const owner = await startWorker({ own: { name: 'orders', step: 10, maxStep: 10, callTimeoutMs: 50 } })
    const { result: handle } = await owner.send('handle')
    using numbers = await createSegmentGenerator({ handle })
    expect(numbers.next()).toBe(1n)
    await stop(owner)
    const used = numbers.stats().left
    numbers.take(used)
    const error = await numbers.nextAsync().catch((reason) => reason)
    expect(error).toMatchObject({ code: 'ERR_EMPTY', cause: { code: 'ERR_STATE_UNREACHABLE' } })
    expect(error.message).toMatch(
      /the thread that fetches .* does not answer; it has ended, or its event loop is blocked/,
    )
  })
})
