import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { composeId, createGenerator, type IdGenerator } from 'graupel'
import { acquireLease } from 'graupel/lease'
import { memoryStore } from 'graupel/stores'
import { describe, expect, it } from 'vitest'
import { caught, engines, freshNamespace } from '../support/engines.js'
import { until } from '../support/until.js'
import { layout, leaseWith, steal } from './leases.js'

// Ids that are observed while a lease renews its node, loses its store, or moves.

/** The last id of a time, which is of another node unless that is node 1. */
const lastIdAt = (timestampMs: number) => composeId({ timestampMs, node: 1, sequence: 4095 }, layout)

const makesIds = (ids: Pick<IdGenerator, 'next'>) => () => {
  try {
    return ids.next() > 0n
  } catch (error) {
    expect(error).toMatchObject({ code: 'ERR_LEASE_EXPIRED' })
    return false
  }
}

describe.each(engines)('an id that is observed under a lease, on the %s engine', (engine) => {
  it('above the ceiling, while the store is away, is kept until the lease is renewed', async () => {
    const { lease, outage } = await leaseWith({ windowMs: 1000 })
    const ids = createGenerator({ lease, engine, maxAheadMs: 5000, maxWaitMs: 0 })
    const below = ids.observe(lastIdAt(Date.now() + 100))
    expect(ids.next()).toBeGreaterThan(below)
    outage.error = new Error('connection refused')
    const { ceilingMs } = lease.stats()
    const above = ids.observe(lastIdAt(ceilingMs + 300))
    for (let i = 0; i < 3; i++) {
      expect(caught(() => ids.next())).toMatchObject({ code: 'ERR_LEASE_EXPIRED' })
      expect(ids.observe(above)).toBe(above)
    }
    const waiting = createGenerator({ lease, engine, maxAheadMs: 5000, maxWaitMs: 60_000 }).nextAsync()
    await until(() => lease.stats().failures > 0)
    delete outage.error
    expect(await waiting).toBeGreaterThan(above)
    await until(makesIds(ids))
    expect(ids.next()).toBeGreaterThan(above)
    expect(ids.stats()).toMatchObject({ refused: 0, rollbacks: 0 })
    await lease.release()
  })

  it('is kept by a generator of a node given by hand when a lease is parked, also if someone listens', async () => {
    const { lease } = await leaseWith()
    const ids = createGenerator({ layout, node: 0, namespace: freshNamespace(), engine })
    await lease.park()
    const listener = () => {}
    for (const isHeard of [false, true]) {
      if (isHeard) subscribe('graupel:observed', listener)
      const id = lastIdAt(Date.now() + 300 + Number(isHeard))
      expect(ids.observe(id)).toBe(id)
      unsubscribe('graupel:observed', listener)
    }
    expect(ids.stats()).toMatchObject({ observed: 2, raised: 2 })
    expect(caught(() => ids.next()).code).toBe('ERR_STATE_CLONED')
    await lease.release()
  })

  it('is kept when the lease is parked and resumed', async () => {
    const { lease } = await leaseWith()
    const ids = createGenerator({ lease, engine })
    for (let round = 0; round < 3; round++) {
      const seen = ids.observe(lastIdAt(Date.now() + 300))
      await lease.park()
      expect(caught(() => ids.next()).code).toBe('ERR_LEASE_EXPIRED')
      // The state of a parked lease is sealed, and the id counts for the next state.
      const later = ids.observe(lastIdAt(Date.now() + 500))
      await lease.resume()
      const next = ids.next()
      expect(next).toBeGreaterThan(seen)
      expect(next).toBeGreaterThan(later)
    }
    await lease.release()
  })

  it('is kept when another process takes the node', async () => {
    const { lease, inner, namespace } = await leaseWith({ windowMs: 4500 })
    const ids = createGenerator({ lease, engine, maxAheadMs: 5000, maxWaitMs: 10_000 })
    const { node } = lease
    const seen = ids.observe(lastIdAt(Date.now() + 2000))
    await steal(inner, namespace, node, 1000)
    await until(() => lease.node !== node)
    expect(ids.next()).toBeGreaterThan(seen)
    await lease.release()
  })

  it('is below all ids of the next holder, if the lease is released', async () => {
    const store = memoryStore()
    const options = { store, layout, namespace: freshNamespace(), nodes: [0, 0], acquireTimeoutMs: 10_000 } as const
    let before = 0n
    for (let round = 0; round < 3; round++) {
      const lease = await acquireLease(options)
      const ids = createGenerator({ lease, engine, maxWaitMs: 10_000 })
      expect(await ids.nextAsync()).toBeGreaterThan(before)
      before = ids.observe(lastIdAt(Date.now() + 500))
      await lease.release()
      expect(caught(() => ids.next()).code).toBe('ERR_CLOSED')
    }
  })
})
