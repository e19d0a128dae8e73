import { createGenerator, type EngineKind } from 'graupel'
import { acquireLease } from 'graupel/lease'
import { memoryStore } from 'graupel/stores'
import { describe, expect, it } from 'vitest'
import { steal } from '../lease/leases.js'
import { engines, freshNamespace } from '../support/engines.js'
import { duplicatesAmong, isAscending } from '../support/ids.js'
import { until } from '../support/until.js'
import { layout, makeIds, recorder, shards, shardsOf, slotsOf } from './programs/view-maker.js'
import { startWorkers } from './workers.js'

const program = new URL('./programs/view-worker.js', import.meta.url)

interface Views {
  /** The number of ids of each thread. */
  readonly each: number
  /** The number of rounds in which 3 workers are terminated. */
  readonly terminations: number
}

/** Expects ids of threads or processes to have distinct slots, which ascend in each, and all shards. */
export function expectDistinctSlots(made: readonly BigUint64Array[]): void {
  for (const ids of made) expect(shardsOf(ids)).toEqual(shards)
  const slots = made.map(slotsOf)
  expect(slots.every(isAscending)).toBe(true)
  expect(duplicatesAmong(slots)).toBe(0)
}

export function proveViews({ each, terminations }: Views): void {
  const optionsOf = (engine: EngineKind) => ({ engine, node: 1, namespace: freshNamespace() })

  describe.each(engines)('views of one node on the %s engine', (engine) => {
    it(`4 workers and this thread make ${each} ids each by views: no equal slots, and each sees them ascend`, async () => {
      const options = optionsOf(engine)
      const ids = createGenerator({ ...options, layout })
      const workers = await startWorkers(4, each, options, { program })
      const own = new BigUint64Array(each)
      await makeIds(ids, recorder(own))
      await Promise.all(workers.map(({ ended }) => ended))
      const made = workers.map((worker) => worker.made())
      expect(made.map(({ length }) => length)).toEqual(Array(4).fill(each))
      expectDistinctSlots([own, ...made])
      ids.close()
    })

    it('3 workers and this thread make ids by views of a lease, which moves to another node', async () => {
      const namespace = freshNamespace()
      const store = memoryStore()
      const lease = await acquireLease({ store, layout, namespace, windowMs: 3000 })
      // Ids that are ahead of the clock would meet the ceiling.
      const options = { engine, lease: lease.handle, maxWaitMs: 10_000, maxAheadMs: 100 }
      const ids = createGenerator({ ...options, lease })
      const workers = await startWorkers(3, 2_000_000, options as never, { program, data: { pauseMs: 1 } })
      const own: bigint[] = []
      const make = (count: number) =>
        makeIds(ids, (made) => {
          own.push(...Array.from(made))
          return own.length < count
        })
      // More ids would keep the event loop from renewing the lease.
      const part = Math.min(each, 20_000)
      await make(part)
      await until(() => workers.every((worker) => worker.made().length > 1000))
      const { node } = lease
      await steal(store, namespace, node)
      await until(() => lease.node !== node)
      await make(own.length + part)
      const nodesOf = (made: BigUint64Array) => [...new Set(made.map((id) => (id >> 18n) & 15n))].map(Number)
      const ofNode = (made: BigUint64Array, of: number) => made.filter((id) => ((id >> 18n) & 15n) === BigInt(of))
      const haveMoved = until(() => workers.every((worker) => ofNode(worker.made(), lease.node).length > 1000))
      await Promise.race([haveMoved, ...workers.map(({ ended }) => ended.then(() => expect.unreachable('it ended')))])
      await Promise.all(workers.map(({ worker }) => worker.terminate()))
      const made = [BigUint64Array.from(own), ...workers.map((worker) => worker.made().slice())]
      for (const some of made) {
        expect(nodesOf(some)).toEqual([node, lease.node])
        for (const of of [node, lease.node]) {
          expect(shardsOf(ofNode(some, of))).toEqual(shards)
        }
        // The bits above the node are the time.
        const ticks = some.map((id) => id >> 22n)
        expect(ticks.every((tick, i) => i === 0 || tick >= (ticks[i - 1] as bigint))).toBe(true)
      }
      expect(duplicatesAmong(made.map(slotsOf))).toBe(0)
      await lease.release()
    })

    it('workers that are terminated while their views make ids leave no equal slots behind', async () => {
      const options = optionsOf(engine)
      const ids = createGenerator({ ...options, layout })
      const made: BigUint64Array[] = []
      const record = async () => {
        const own = new BigUint64Array(3000)
        await makeIds(ids, recorder(own))
        made.push(own)
      }
      for (let round = 0; round < terminations; round++) {
        const workers = await startWorkers(3, 2_000_000, options, { program })
        await record()
        await until(() => workers.every((worker) => worker.made().length > 1000))
        for (const { worker } of workers) {
          await new Promise((resolve) => setTimeout(resolve, Math.random() * 12))
          // A worker that has made all of its ids before has no exit code.
          expect(await worker.terminate()).toBe(1)
        }
        made.push(...workers.map((worker) => worker.made().slice()))
        await record()
      }
      expectDistinctSlots(made)
      ids.close()
    })
  })
}
