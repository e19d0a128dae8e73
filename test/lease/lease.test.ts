import { createGenerator } from 'graupel'
import { acquireLease } from 'graupel/lease'
import { memoryStore } from 'graupel/stores'
import { describe, expect, it } from 'vitest'
import { caught, engines, freshNamespace } from '../support/engines.js'
import { isAscending } from '../support/ids.js'
import { until } from '../support/until.js'
import { eventsOf, layout, leaseWith, recordOf, steal, typesOf } from './leases.js'

describe.each(engines)('a lease with the %s engine', (engine) => {
  it('makes ids of its node, below its ceiling', async () => {
    const { lease } = await leaseWith()
    const ids = createGenerator({ lease, engine })
    const id = ids.next()
    expect(ids.decode(id).node).toBe(lease.node)
    expect(ids).toMatchObject({ node: lease.node, layout, engine, state: 'lease' })
    const { ceilingMs } = lease.stats()
    expect(ids.stats()).toMatchObject({ issued: 1, ceilingMs, lease: { node: lease.node, acquisitions: 1 } })
    expect(ids.decode(id).timestamp.getTime()).toBeLessThan(ceilingMs)
    await lease.release()
  })

  it('may have a window with a fraction, for which others wait in whole milliseconds', async () => {
    const { lease, store, namespace } = await leaseWith({ windowMs: 20_000 / 3 })
    expect(JSON.parse((await recordOf(store, namespace, lease.node)).value)).toMatchObject({ windowMs: 6667 })
    const other = await acquireLease({ layout, store, namespace, windowMs: 2000.5 })
    expect(other.node).not.toBe(lease.node)
    const ids = createGenerator({ lease: other, engine })
    ids.next()
    await lease.release()
    await other.release()
  })

  it('goes on for as long as the store renews it', async () => {
    const { lease } = await leaseWith({ windowMs: 900 })
    const ids = createGenerator({ lease, engine })
    const made = [ids.next()]
    await until(async () => {
      made.push(await ids.nextAsync())
      return lease.stats().renewals >= 4
    })
    expect(isAscending(BigUint64Array.from(made))).toBe(true)
    expect(lease.stats()).toMatchObject({ failures: 0 })
    await lease.release()
  })

  it('ends at its ceiling while the store cannot be reached, and goes on by itself', async () => {
    const { lease, outage, namespace } = await leaseWith({ windowMs: 300 })
    const ids = createGenerator({ lease, engine })
    const before = typesOf(namespace).length
    outage.error = new Error('connection refused')
    await until(() => lease.stats().failures > 0 && Date.now() > lease.stats().ceilingMs + 5)
    const error = caught(() => ids.next())
    expect(error).toMatchObject({ code: 'ERR_LEASE_EXPIRED' })
    expect(error.message).toContain('(ERR_STORE_UNAVAILABLE)')
    await expect(ids.nextAsync()).rejects.toMatchObject({ code: 'ERR_LEASE_EXPIRED' })
    await expect(ids.fillAsync(new BigUint64Array(3))).rejects.toMatchObject({ code: 'ERR_LEASE_EXPIRED', filled: 0 })
    delete outage.error
    const since = () => typesOf(namespace).slice(before)
    await until(() => since().includes('moved'))
    expect(ids.decode(await ids.nextAsync()).node).toBe(lease.node)
    // In virtual time, timing.test.ts proves their order. A busy machine may be late for the first.
    expect(since()).toEqual(expect.arrayContaining(['unreachable', 'expired', 'moved']))
    expect(lease.signal.aborted).toBe(false)
    await lease.release()
  })

  it('moves to another node when it is lost, and each caller sees its ids ascend', async () => {
    const world = await leaseWith()
    const { lease, namespace } = world
    const ids = createGenerator({ lease, engine })
    const first = lease.node
    const made = [...ids.take(5000)]
    await steal(world.inner, world.namespace, lease.node)
    await until(async () => {
      made.push(await ids.nextAsync())
      return lease.node !== first
    })
    made.push(...ids.fill(new BigUint64Array(5000)))
    expect(ids.node).toBe(1 - first)
    expect(ids.decode(made.at(-1) as bigint).node).toBe(1 - first)
    expect(isAscending(BigUint64Array.from(made))).toBe(true)
    expect(ids.stats().issued).toBe(made.length)
    expect(typesOf(namespace)).toEqual(expect.arrayContaining(['acquired', 'lost', 'moved']))
    await lease.release()
  })

  it('is over if it is lost and no other node is free', async () => {
    const world = await leaseWith({ node: { worker: 1 }, acquireTimeoutMs: 50 })
    const { lease, namespace } = world
    const ids = createGenerator({ lease, engine })
    ids.next()
    await steal(world.inner, world.namespace, lease.node)
    await until(() => lease.signal.aborted)
    expect(lease.signal.reason).toMatchObject({ code: 'ERR_NODES_EXHAUSTED' })
    expect(caught(() => ids.next())).toMatchObject({
      code: 'ERR_NODES_EXHAUSTED',
      message: lease.signal.reason.message,
    })
    const phases = ['acquired', 'lost', 'moved', 'ended']
    expect(typesOf(namespace).filter((type) => phases.includes(type))).toEqual(['acquired', 'lost', 'ended'])
    await expect(lease.resume()).rejects.toMatchObject({ code: 'ERR_NODES_EXHAUSTED' })
    await lease.release()
    expect(typesOf(namespace).at(-1)).toBe('ended')
  })

  it('is free at once after release(), for ids above all that were made', async () => {
    const { lease, store, namespace } = await leaseWith({ node: { worker: 0 } })
    const ids = createGenerator({ lease, engine })
    const last = ids.take(10_000).at(-1) as bigint
    await lease.release()
    await lease.release()
    expect(lease.signal.reason).toMatchObject({ code: 'ERR_CLOSED' })
    expect(caught(() => ids.next())).toMatchObject({ code: 'ERR_CLOSED' })
    expect(caught(() => createGenerator({ lease, engine }))).toMatchObject({ code: 'ERR_CLOSED' })
    await using next = await acquireLease({ store, layout, namespace, node: { worker: 0 }, acquireTimeoutMs: 0 })
    expect(createGenerator({ lease: next, engine }).next()).toBeGreaterThan(last)
  })

  it('is released without a rejection while the store cannot be reached, and the event has the error', async () => {
    const { lease, outage, namespace } = await leaseWith({ windowMs: 900, callTimeoutMs: 100 })
    const ids = createGenerator({ lease, engine })
    ids.next()
    outage.error = new Error('connection refused')
    await lease.release()
    expect(caught(() => ids.next())).toMatchObject({ code: 'ERR_CLOSED' })
    const [released] = eventsOf(namespace).filter(({ type }) => type === 'released')
    expect(released?.error).toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
    expect(released?.error?.message).toContain('connection refused')
    expect(lease.toJSON().state).toBe('released')
  })

  it('names a blocked event loop as the reason', async () => {
    const { lease } = await leaseWith({ windowMs: 900 })
    const ids = createGenerator({ lease, engine })
    const error = caught(() => {
      for (;;) ids.next()
    })
    expect(error).toMatchObject({ code: 'ERR_LEASE_EXPIRED' })
    expect(error.message).toMatch(/renewal is \d+ ms late: the event loop/)
    expect(await ids.nextAsync()).toBeGreaterThan(0n)
    await lease.release()
  })
})

describe('a lease', () => {
  it('publishes no node before it has a node', async () => {
    const namespace = freshNamespace()
    const store = { ...memoryStore(), durable: false, incarnation: async () => 'a', nowMs: async () => Date.now() }
    const cancel = new AbortController()
    const acquired = acquireLease({ store, layout, namespace, signal: cancel.signal })
    await until(() => typesOf(namespace).length > 0)
    cancel.abort(new Error('enough'))
    await expect(acquired).rejects.toThrow('enough')
    const event = { type: 'waiting', store: 'memory', layout: 'pair', namespace, untilMs: expect.any(Number) }
    expect(eventsOf(namespace)).toEqual([event])
  })
})
