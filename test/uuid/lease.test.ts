import { createGenerator, type EngineKind } from 'graupel'
import type { LeaseHandle } from 'graupel/lease'
import { createUuidGenerator, decodeUuid } from 'graupel/uuid'
import { describe, expect, it } from 'vitest'
import { startLeasedWorker } from '../lease/leased-worker.js'
import { layout, leaseWith, steal } from '../lease/leases.js'
import { engines } from '../support/engines.js'
import { until } from '../support/until.js'

const program = new URL('./programs/leased-worker.js', import.meta.url)

/** Starts a thread that has the handle. Each call of the function that it returns makes 3 000 UUIDs there. */
async function startWorker(handle: LeaseHandle, engine: EngineKind) {
  const { ask } = await startLeasedWorker<'make', { made: string[]; code?: string }>(program, handle, engine)
  return () => ask('make')
}

describe.each(engines)('UUIDs of a leased node, on the %s engine', (engine) => {
  it('are distinct in all threads, also from ids, follow the lease to another node, and end with it', async () => {
    const { lease, inner, namespace } = await leaseWith({ windowMs: 6000 })
    const threads = [await startWorker(lease.handle, engine), await startWorker(lease.handle, engine)]
    const uuids = createUuidGenerator({ lease, engine })
    const ids = createGenerator({ lease, engine })
    const slots: bigint[] = []
    /** Makes UUIDs and ids everywhere, and returns the nodes that have made them. */
    const round = async () => {
      const answers = await Promise.all(threads.map((make) => make()))
      const made = [uuids.take(3000), ...answers.map(({ made }) => made)]
      for (const some of made) expect(some).toEqual([...some].sort())
      const decoded = made.flat().map((uuid) => decodeUuid(uuid, layout))
      slots.push(...decoded.map(({ id }) => id), ...ids.take(1000))
      return new Set(decoded.map(({ node }) => node))
    }
    const first = lease.node
    expect(await round()).toEqual(new Set([first]))
    await steal(inner, namespace, first)
    await until(() => lease.node !== first)
    expect(await round()).toEqual(new Set([1 - first]))
    expect(new Set(slots).size).toBe(20_000)
    await lease.release()
    expect(() => uuids.next()).toThrow(expect.objectContaining({ code: 'ERR_CLOSED' }))
    expect(await threads[0]?.()).toMatchObject({ made: [], code: 'ERR_CLOSED' })
  })
})
