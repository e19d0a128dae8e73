import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { engineInfo } from 'graupel'
import { connect } from 'graupel/client'
import { acquireLease } from 'graupel/lease'
import { createSegmentGenerator, type SegmentGenerator } from 'graupel/segments'
import { memoryStore, type Store } from 'graupel/stores'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { fakeService } from '../client/service.js'
import { caught } from '../support/engines.js'

const { copyMachine, remove } = await vi.hoisted(async () =>
  (await import('../support/vmclock.js')).standInForVmClock(),
)
afterAll(remove)

const hasDevice = engineInfo().kind === 'native' && process.platform === 'linux'

type Calls = Pick<SegmentGenerator, 'next' | 'nextNumber' | 'nextString' | 'fill' | 'take' | 'nextAsync'>

/** Fetched numbers, by both kinds of fetching. */
const kinds: [string, () => Promise<Calls>][] = [
  ['a segment generator', () => createSegmentGenerator({ store: memoryStore(), name: 'orders', step: 100 })],
  ['a client', async () => connect({ url: (await fakeService()).url, segment: 'orders', count: 100, maxCount: 100 })],
]

const ways: [string, (numbers: Calls) => unknown][] = [
  ['next', ({ next }) => next()],
  ['nextNumber', ({ nextNumber }) => nextNumber()],
  ['nextString', ({ nextString }) => nextString()],
  ['fill', (numbers) => numbers.fill(new BigUint64Array(3))],
  ['take', (numbers) => numbers.take(3)],
]

describe.skipIf(!hasDevice).each(kinds)('%s in a copy of the machine, as a device tells it', (_, open) => {
  it.each(ways)('gives no number that was fetched before, by %s', async (_, call) => {
    const numbers = await open()
    // The second call finds numbers ready.
    for (let i = 0; i < 2; i++) call(numbers)
    copyMachine()
    expect(caught(() => call(numbers))).toMatchObject({ code: 'ERR_EMPTY' })
    // 1 to 100, and the 100 after them if they were fetched in time.
    expect(await numbers.nextAsync()).toBeOneOf([101n, 201n])
    expect(numbers.take(3)).toHaveLength(3)
  })
})

describe.skipIf(!hasDevice)('numbers whose fetching is under way when the machine is copied', () => {
  // Before and after each of the two calls of a store.
  it.each([0, 1, 2, 3])('are not given by a segment generator: copied at %i', async (at) => {
    const inner = memoryStore()
    let calls = at
    const copying =
      <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
      async (...args: A) => {
        if (calls-- === 0) copyMachine()
        const result = await call(...args)
        if (calls-- === 0) copyMachine()
        return result
      }
    const store: Store = { ...inner, read: copying(inner.read), write: copying(inner.write) }
    const numbers = await createSegmentGenerator({ store, name: 'orders', step: 10 })
    expect(calls).toBeLessThan(0)
    expect(await numbers.nextAsync()).toBe(11n)
  })

  it('are not given by a client', async () => {
    const service = await fakeService()
    service.script = (_, __, give) => {
      service.script = (_, __, give) => give()
      copyMachine()
      give()
    }
    const numbers = await connect({ url: service.url, segment: 'orders', count: 10 })
    expect(await numbers.nextAsync()).toBe(11n)
  })
})

describe.skipIf(!hasDevice)('a thread with the handle of a segment generator', () => {
  it('drops the numbers that it has taken, and those that were fetched before', async () => {
    const numbers = await createSegmentGenerator({ store: memoryStore(), name: 'orders', step: 1000 })
    const worker = new Worker(new URL('./programs/segment-worker.js', import.meta.url), {
      workerData: { handle: numbers.handle },
    })
    await once(worker, 'message')
    const ask = async (): Promise<bigint> => {
      worker.postMessage({ order: 'wait', count: 1 })
      return (await once(worker, 'message'))[0].result[0]
    }
    expect(await ask()).toBeLessThan(1000n)
    copyMachine()
    expect(await ask()).toBeGreaterThan(1000n)
    expect(await numbers.nextAsync()).toBeGreaterThan(1000n)
    await worker.terminate()
  })
})

describe.each(kinds)('%s beside a lease that is parked', (_, open) => {
  it('drops what was fetched before park() and before resume()', async () => {
    const lease = await acquireLease({ store: memoryStore() })
    const numbers = await open()
    numbers.take(3)
    await lease.park()
    const first = await numbers.nextAsync()
    expect(first).toBeGreaterThan(100n)
    await lease.resume()
    expect(await numbers.nextAsync()).toBeGreaterThan(first + 99n)
    await lease.release()
  })
})
