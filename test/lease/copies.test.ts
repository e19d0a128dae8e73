import { once } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { composeId, createGenerator, defineLayout, engineInfo, type IdGenerator } from 'graupel'
import { acquireLease } from 'graupel/lease'
import { memoryStore } from 'graupel/stores'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { caught, engines, freshNamespace } from '../support/engines.js'
import { isAscending } from '../support/ids.js'
import { eventually, until } from '../support/until.js'
import { leaseWith, recordOf, sixteenNodes, typesOf } from './leases.js'

const { copyMachine, remove } = await vi.hoisted(async () =>
  (await import('../support/vmclock.js')).standInForVmClock(),
)
afterAll(remove)

/** Begins to fill an array, and returns when some ids are in it, but not all. */
async function halfFilled(ids: Pick<IdGenerator, 'fillAsync' | 'stats'>) {
  const array = new BigUint64Array(100_000)
  const filling = ids.fillAsync(array)
  while (ids.stats().issued < 10_000) await turn()
  const before = array.filter((id) => id !== 0n)
  expect(before.length).toBeGreaterThan(9999)
  expect(before.length).toBeLessThan(array.length)
  return { array, filling, before }
}

/** The ids among `before` that are in the array, too. */
function keptOf(before: BigUint64Array, array: BigUint64Array): bigint[] {
  const all = new Set(array)
  return [...before].filter((id) => all.has(id))
}

const hasDevice = engineInfo().kind === 'native' && process.platform === 'linux'

describe.skipIf(!hasDevice)('a lease in a copy of the machine', () => {
  it('goes on with another node, and leaves the first node to the original', async () => {
    const { lease, store, namespace } = await leaseWith({ windowMs: 3000 })
    const ids = createGenerator({ lease })
    const before = ids.take(20)
    const original = lease.node
    const record = await recordOf(store, namespace, original)
    copyMachine()
    const { code, message, cause } = caught(() => ids.next())
    expect({ code, message, cause: String(cause) }).toEqual({
      code: 'ERR_LEASE_EXPIRED',
      message: expect.stringContaining('restored from a snapshot'),
      cause: 'Error: restored from a snapshot',
    })
    const after = [await ids.nextAsync(), ...ids.take(20)]
    expect(lease.node).not.toBe(original)
    expect(isAscending([...before, ...after])).toBe(true)
    expect(await recordOf(store, namespace, original)).toEqual(record)
    expect(typesOf(namespace)).toEqual(['acquired', 'copied', 'moved'])
    await lease.release()
  })

  it('goes on by its views, above all ids that were observed before and after the copy', async () => {
    const fields = [
      ['timestamp', 41],
      ['worker', 4],
      ['shard', 6, 'tag'],
      ['sequence', 8],
    ] as const
    const layout = defineLayout({ ...sixteenNodes, name: 'sharded', fields })
    const lease = await acquireLease({ store: memoryStore(), layout, namespace: freshNamespace(), windowMs: 3000 })
    const ids = createGenerator({ lease, maxWaitMs: 10_000 })
    const views = [0, 63].map((shard) => ids.with({ shard }))
    const original = lease.node
    const idAt = (aheadMs: number) =>
      composeId({ timestampMs: Date.now() + aheadMs, node: 15, tags: { shard: 63 }, sequence: 255 }, layout)
    const slotsOf = (view: (typeof views)[number]) => view.take(20).map((id) => id & ~(63n << 8n))
    const before = views.flatMap(slotsOf)
    const seen = [views[0]?.observe(idAt(400)) as bigint]
    copyMachine()
    for (const view of views) expect(caught(() => view.next()).code).toBe('ERR_LEASE_EXPIRED')
    seen.push(views[1]?.observe(idAt(600)) as bigint)
    for (const view of views) {
      const id = await view.nextAsync()
      expect(seen.every((one) => one < id)).toBe(true)
      expect(ids.decode(id).node).not.toBe(original)
    }
    const all = [...before, ...views.flatMap(slotsOf)]
    expect(isAscending(all)).toBe(true)
    await lease.release()
  })

  it('fills an array from the front again', async () => {
    const { lease } = await leaseWith({ windowMs: 3000 })
    const ids = createGenerator({ lease, maxWaitMs: 10_000 })
    const original = lease.node
    const { array, filling, before } = await halfFilled(ids)
    copyMachine()
    await filling
    expect(keptOf(before, array)).toEqual([])
    expect(new Set([...array].map((id) => ids.decode(id).node))).toEqual(new Set([1 - original]))
    expect(isAscending([...array])).toBe(true)
    await lease.release()
  })

  it('does not release the node of the original', async () => {
    const { lease, store, namespace } = await leaseWith()
    const record = await recordOf(store, namespace, lease.node)
    copyMachine()
    await lease.release()
    expect(await recordOf(store, namespace, lease.node)).toEqual(record)
  })

  it('does not release the node of the original during an acquisition', async () => {
    const { lease, store, namespace } = await leaseWith()
    const ids = createGenerator({ lease })
    const original = lease.node
    const record = await recordOf(store, namespace, original)
    copyMachine()
    caught(() => ids.next())
    // The acquisition of another node is under way.
    const released = lease.release()
    await released
    expect(await recordOf(store, namespace, original)).toEqual(record)
  })

  it('moves after its first acquisition has failed, and does not renew the node of the original', async () => {
    const { lease, inner, namespace, outage } = await leaseWith()
    const ids = createGenerator({ lease })
    const original = lease.node
    const record = await recordOf(inner, namespace, original)
    outage.error = new Error('away')
    copyMachine()
    caught(() => ids.next())
    await until(() => lease.stats().failures > 0)
    delete outage.error
    await eventually(() => ids.next())
    expect(lease.node).not.toBe(original)
    expect(await recordOf(inner, namespace, original)).toEqual(record)
    await lease.release()
  })

  it('leaves the node of the original if it is parked, or resumed, after the copy', async () => {
    for (const call of ['park', 'resume'] as const) {
      const { lease, store, namespace } = await leaseWith()
      const ids = createGenerator({ lease })
      ids.next()
      const original = lease.node
      const record = await recordOf(store, namespace, original)
      copyMachine()
      await lease[call]()
      expect(await recordOf(store, namespace, original)).toEqual(record)
      if (call === 'park') await lease.resume()
      expect(lease.node).not.toBe(original)
      expect(ids.take(3)).toHaveLength(3)
      expect(await recordOf(store, namespace, original)).toEqual(record)
      await lease.release()
    }
  })

  it('leaves the nodes of the original, also of a second lease, if the first is parked', async () => {
    const { lease, store, namespace } = await leaseWith({ windowMs: 600, layout: sixteenNodes } as object)
    const other = await acquireLease({ store, layout: sixteenNodes, namespace, windowMs: 600 })
    const ids = createGenerator({ lease: other })
    ids.next()
    const original = other.node
    const record = await recordOf(store, namespace, original)
    copyMachine()
    await lease.park()
    await eventually(() => ids.next())
    expect(other.node).not.toBe(original)
    expect(await recordOf(store, namespace, original)).toEqual(record)
    await Promise.all([lease.release(), other.release()])
  })

  it('moves by itself, in threads that make no ids, too', async () => {
    const { lease } = await leaseWith({ windowMs: 4500 })
    const worker = new Worker(new URL('./programs/leased-worker.js', import.meta.url), {
      workerData: { handle: lease.handle, engine: 'native' },
    })
    await once(worker, 'message')
    const original = lease.node
    copyMachine()
    worker.postMessage('one')
    expect((await once(worker, 'message'))[0]).toMatchObject({ made: [], code: 'ERR_LEASE_EXPIRED' })
    await until(() => lease.node !== original)
    worker.postMessage('one')
    expect((await once(worker, 'message'))[0]).toMatchObject({ made: [expect.any(BigInt)], node: lease.node })
    await worker.terminate()
    await lease.release()
  })

  // A renewal and an acquisition call the store several times; the machine is copied before or after each of
  // these calls.
  it.each([0, 1, 2, 3, 4, 5, 6, 7])(
    'makes ids only on a node that it acquired as a copy: copied at call %i',
    async (at) => {
      const store = memoryStore()
      let calls = Number.POSITIVE_INFINITY
      const copying =
        <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
        async (...args: A) => {
          if (calls-- === 0) copyMachine()
          const result = await call(...args)
          if (calls-- === 0) copyMachine()
          return result
        }
      const { lease } = await leaseWith({
        windowMs: 300,
        store: { ...store, read: copying(store.read), list: copying(store.list), write: copying(store.write) },
      })
      const ids = createGenerator({ lease })
      const original = lease.node
      calls = at
      await until(() => calls < 0)
      await until(() => {
        try {
          return ids.next() > 0n
        } catch {
          return false
        }
      })
      expect(ids.node).not.toBe(original)
      await lease.release()
    },
  )
})

describe.each(engines)('a lease that is parked, on the %s engine', (engine) => {
  it('makes no id until it is resumed, and then ids that ascend', async () => {
    const { lease, store, namespace } = await leaseWith()
    const ids = createGenerator({ lease, engine })
    // Has a run that is not used up, because its clock stands still.
    const byHand = createGenerator({ node: 1, namespace, engine, clock: () => Date.UTC(2026, 0, 1) })
    const before = ids.take(20)
    for (let i = 0; i < 5; i++) byHand.next()
    await lease.park()
    await lease.park()
    expect(JSON.parse((await recordOf(store, namespace, lease.node)).value)).toMatchObject({ isReleased: true })
    expect(caught(() => ids.next())).toMatchObject({
      code: 'ERR_LEASE_EXPIRED',
      message: expect.stringContaining('parked'),
    })
    expect(caught(() => byHand.next()).code).toBe('ERR_STATE_CLONED')
    expect(lease.toJSON().state).toBe('parked')
    await lease.resume()
    expect(lease.toJSON().state).toBe('held')
    expect(isAscending([...before, ...ids.take(20)])).toBe(true)
    expect(lease.stats().ceilingMs - Date.now()).toBeGreaterThan(0)
    expect(engineInfo().copies).toBe(hasDevice ? 'detected' : 'hooked')
    await lease.release()
    await expect(lease.resume()).rejects.toMatchObject({ code: 'ERR_CLOSED' })
  })

  it('fills an array from the front again after it was resumed', async () => {
    const { lease } = await leaseWith()
    const ids = createGenerator({ lease, engine, maxWaitMs: 10_000 })
    const { array, filling, before } = await halfFilled(ids)
    await lease.park()
    const parked = lease.stats()
    await lease.resume()
    expect(lease.stats().acquisitions).toBe(parked.acquisitions + 1)
    await filling
    expect(keptOf(before, array)).toEqual([])
    expect(isAscending([...array])).toBe(true)
    await lease.release()
  })

  it('counts no id of an array that it could not fill', async () => {
    const { lease } = await leaseWith()
    const ids = createGenerator({ lease, engine })
    const { filling } = await halfFilled(ids)
    await lease.park()
    await expect(filling).rejects.toMatchObject({ code: 'ERR_LEASE_EXPIRED', filled: 0 })
    await lease.release()
  })

  it('stays parked while the store fails, and can be resumed again', async () => {
    const { lease, outage } = await leaseWith({ callTimeoutMs: 100 })
    const ids = createGenerator({ lease, engine })
    ids.next()
    outage.error = new Error('away')
    await expect(lease.park()).rejects.toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
    await expect(lease.resume()).rejects.toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
    expect(caught(() => ids.next()).code).toBe('ERR_LEASE_EXPIRED')
    delete outage.error
    await lease.resume()
    expect(ids.take(3)).toHaveLength(3)
    await lease.release()
  })
})
