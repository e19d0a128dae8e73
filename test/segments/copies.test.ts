import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { connect } from '../../src/client/index.js'
import { raiseGeneration } from '../../src/engine/generation.js'
import { createGenerator, engineInfo } from '../../src/index.js'
import { acquireLease, type Lease } from '../../src/lease/index.js'
import { createSegmentGenerator, type SegmentGenerator } from '../../src/segments/index.js'
import { memoryStore, type Store } from '../../src/stores/index.js'
import { fakeService } from '../client/service.js'
import { caught, freshNamespace } from '../support/engines.js'
import { isAscending } from '../support/ids.js'

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

/** Numbers whose fifth fetch calls a function. */
const interrupted: [string, (interrupt: () => void) => Promise<SegmentGenerator>][] = [
  [
    'a segment generator',
    async (interrupt) => {
      let writes = 0
      const store = memoryStore()
      const write: Store['write'] = (...args) => {
        writes++
        if (writes === 5) interrupt()
        return store.write(...args)
      }
      return createSegmentGenerator({ store: { ...store, write }, name: 'orders', step: 100, maxStep: 100 })
    },
  ],
  [
    'a client',
    async (interrupt) => {
      const service = await fakeService()
      service.script = (_, __, give) => {
        if (service.asked.length === 5) interrupt()
        give()
      }
      const numbers = await connect({ url: service.url, segment: 'orders', count: 100, maxCount: 100 })
      return numbers as unknown as SegmentGenerator
    },
  ],
]
const signals: [string, () => void][] = [
  ['a hook', raiseGeneration],
  ...(hasDevice ? [['a device', copyMachine] as [string, () => void]] : []),
]

describe.each(interrupted.flatMap((kind) => signals.map((way) => [...kind, ...way] as const)))(
  'an array that %s fills by several fetches, in a copy of the machine',
  (_, open, way, copy) => {
    it(`has no number from before the copy: ${way} tells it`, async () => {
      let before: bigint[] = []
      const array = new BigUint64Array(1000)
      const numbers = await open(() => {
        before = [...array.filter((number) => number !== 0n)]
        copy()
      })
      await numbers.fillAsync(array)
      expect(before.length).toBeGreaterThan(99)
      expect(before.length).toBeLessThan(array.length)
      expect(before.filter((number) => array.includes(number))).toEqual([])
      expect(isAscending([...array])).toBe(true)
      numbers.close()
    })

    it(`counts no number if the call fails: ${way} tells it`, async () => {
      let before = 0n
      const array = new BigUint64Array(1000)
      const numbers: SegmentGenerator = await open(() => {
        before = array[99] as bigint
        copy()
        numbers.close()
      })
      await expect(numbers.fillAsync(array)).rejects.toMatchObject({ code: 'ERR_CLOSED', filled: 0 })
      expect(before).toBe(100n)
    })
  },
)

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

describe('the step of a segment generator', () => {
  it('stays, however often numbers are dropped', async () => {
    const rule = { batchMs: 100, callTimeoutMs: 100 }
    const numbers = await createSegmentGenerator({ store: memoryStore(), name: 'orders', ...rule })
    for (let copies = 0; copies < 6; copies++) {
      // A number in 10 ms: a thousand last for 10 s. Five calls of the store take half a second, so no
      // segment is fetched before the last is nearly used up.
      await sleep(10)
      raiseGeneration()
      await numbers.nextAsync()
    }
    expect(numbers.stats().step).toBe(1000)
    // Two segments at most are dropped each time.
    expect(await numbers.nextAsync()).toBeLessThan(14_000n)
    numbers.close()
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

  it.each<[string, (lease: Lease) => Promise<void>]>([
    ['released', (lease) => lease.release()],
    ['parked', (lease) => lease.park()],
  ])('drops what was fetched before park() and before resume(), if the lease was %s before', async (_, end) => {
    const lease = await acquireLease({ store: memoryStore() })
    await end(lease)
    const numbers = await open()
    const ids = createGenerator({ node: 7, state: 'process', namespace: freshNamespace() })
    numbers.take(3)
    ids.next()
    await lease.park()
    expect(caught(() => ids.next())).toMatchObject({ code: 'ERR_STATE_CLONED' })
    const first = await numbers.nextAsync()
    expect(first).toBeGreaterThan(100n)
    await lease.resume().catch(() => {})
    expect(await numbers.nextAsync()).toBeGreaterThan(first + 99n)
    await lease.release()
  })
})
