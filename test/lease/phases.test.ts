import { createGenerator, type EngineKind, type IdGenerator } from 'graupel'
import { acquireLease } from 'graupel/lease'
import { memoryStore, type Store } from 'graupel/stores'
import { describe, expect, it } from 'vitest'
import { engines, freshNamespace } from '../support/engines.js'
import { until } from '../support/until.js'
import { layout, recordOf, typesOf } from './leases.js'

// Calls of park(), resume() and release() that come while something else is under way.

/** A store whose calls wait while it is closed, each before it is done or before its answer. */
function gatedStore(side: 'request' | 'answer') {
  const inner = memoryStore()
  let gate: { open: () => void; opened: Promise<void> } | undefined
  const state = { waiting: 0, isAway: false }
  const gated =
    <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
    async (...args: A) => {
      if (state.isAway) throw new Error('away')
      const early = side === 'answer' ? await call(...args) : undefined
      if (gate !== undefined) {
        state.waiting++
        await gate.opened
      }
      return side === 'answer' ? (early as R) : call(...args)
    }
  const store: Store = {
    ...inner,
    read: gated(inner.read),
    list: gated(inner.list),
    write: gated(inner.write),
    nowMs: gated(async () => Date.now()),
  }
  return {
    inner,
    store,
    state,
    close() {
      let open = () => {}
      const opened = new Promise<void>((resolve) => {
        open = resolve
      })
      gate = { open, opened }
      state.waiting = 0
    },
    open() {
      gate?.open()
      gate = undefined
    },
  }
}

/** Lets pass whatever a call that was aborted may still do. */
const settle = () => new Promise((resolve) => setTimeout(resolve, 120))

/**
 * Counts ids that two holders make: leases that may have ended, and the leases of other processes that then
 * take all nodes.
 */
async function equalIds(
  mine: readonly Pick<IdGenerator, 'next'>[],
  store: Store,
  namespace: string,
  engine: EngineKind,
) {
  const options = { store, layout, namespace, acquireTimeoutMs: 100 }
  const others = await Promise.all(
    [0, 1].map((node) => acquireLease({ ...options, node, owner: `other ${node}` }).catch(() => undefined)),
  )
  const taken = others.filter((lease) => lease !== undefined)
  const theirs = taken.map((lease) => createGenerator({ lease, engine, maxWaitMs: 1000 }))
  const seen = new Set<bigint>()
  let [equal, made] = [0, 0]
  for (let i = 0; i < 500; i++) {
    for (const ids of [...mine, ...theirs]) {
      let id: bigint
      try {
        id = ids.next()
      } catch {
        continue
      }
      if (mine.includes(ids)) made++
      if (seen.has(id)) equal++
      seen.add(id)
    }
  }
  await Promise.all(taken.map((lease) => lease.release()))
  return { equal, made, taken: taken.length }
}

/** A lease on a store with a gate, and a generator. */
async function leaseBehind(side: 'request' | 'answer', engine: EngineKind, windowMs = 3000) {
  const gated = gatedStore(side)
  const namespace = freshNamespace()
  const lease = await acquireLease({ store: gated.store, layout, namespace, windowMs })
  const ids = createGenerator({ lease, engine })
  ids.take(10)
  return { ...gated, lease, ids, namespace }
}

const isReleased = async (store: Store, namespace: string, node: number) =>
  JSON.parse((await recordOf(store, namespace, node)).value).isReleased as boolean

/** A lease that is parked makes no id, its node is free, and the next holder's ids are its own. */
async function proveParked(world: Awaited<ReturnType<typeof leaseBehind>>, engine: EngineKind) {
  const { lease, ids, inner, namespace } = world
  const wasReleased = await isReleased(inner, namespace, lease.node)
  expect(await equalIds([ids], inner, namespace, engine)).toEqual({ equal: 0, made: 0, taken: 2 })
  expect(wasReleased).toBe(true)
  expect(lease.toJSON().state).toBe('parked')
}

describe.each(engines)('park() on the %s engine', (engine) => {
  it('parks two leases of a process one after the other, and neither acquires a node', async () => {
    const [store, namespace] = [memoryStore(), freshNamespace()]
    const options = { store, layout, namespace, windowMs: 3000 }
    const [one, two] = [await acquireLease(options), await acquireLease(options)]
    const [of, more] = [createGenerator({ lease: one, engine }), createGenerator({ lease: two, engine })]
    of.take(10)
    const before = more.take(10)
    const node = two.node
    await one.park()
    // The second lease goes on with its node, and its generator notices nothing.
    const after = more.take(10)
    expect(after[0]).toBeGreaterThan(before.at(-1) as bigint)
    expect(two.node).toBe(node)
    expect(two.stats().acquisitions).toBe(1)
    await two.park()
    await settle()
    for (const lease of [one, two]) {
      expect(lease.toJSON().state).toBe('parked')
      expect(await isReleased(store, namespace, lease.node)).toBe(true)
    }
    expect(await equalIds([of, more], store, namespace, engine)).toEqual({ equal: 0, made: 0, taken: 2 })
    await Promise.all([one.resume(), two.resume()])
    expect(new Set([...of.take(50), ...more.take(50)]).size).toBe(100)
    expect([one.stats().acquisitions, two.stats().acquisitions]).toEqual([2, 2])
    await Promise.all([one.release(), two.release()])
  })

  it('parks two leases that are in use and parked at once', async () => {
    const [store, namespace] = [memoryStore(), freshNamespace()]
    const options = { store, layout, namespace, windowMs: 3000 }
    const [one, two] = [await acquireLease(options), await acquireLease(options)]
    const [of, more] = [createGenerator({ lease: one, engine }), createGenerator({ lease: two, engine })]
    of.take(10)
    more.take(10)
    const parked = [one.park()]
    try {
      more.next()
    } catch {}
    parked.push(two.park())
    await Promise.all(parked)
    await settle()
    expect(await equalIds([of, more], store, namespace, engine)).toEqual({ equal: 0, made: 0, taken: 2 })
  })

  it.each(['request', 'answer'] as const)('ends a renewal that waits for the store: for the %s', async (side) => {
    const world = await leaseBehind(side, engine, 300)
    world.close()
    await until(() => world.state.waiting > 0)
    const parked = world.lease.park()
    world.open()
    await parked
    await settle()
    await proveParked(world, engine)
  })

  it.each(['request', 'answer'] as const)(
    'ends an acquisition of a lease that has lapsed: at the %s of each call',
    async (side) => {
      // The acquisition calls the store several times. The call at which it is parked is another each time.
      // With the last call, the lease is held again.
      const lapsed = async () => {
        const world = await leaseBehind(side, engine, 300)
        world.state.isAway = true
        await until(() => Date.now() > world.lease.stats().ceilingMs + 50)
        return world
      }
      // All leases lapse side by side.
      const worlds = await Promise.all(Array.from({ length: 6 }, lapsed))
      let early = 0
      for (const [i, world] of worlds.entries()) {
        const at = i + 1
        let calls = 0
        const count = world.store.list
        // After the list, the acquisition writes its record.
        world.store.list = (...args) => {
          calls++
          return count(...args)
        }
        world.close()
        world.state.isAway = false
        await until(() => world.state.waiting > 0)
        for (let step = 1; step < at; step++) {
          const waiting = world.state.waiting
          world.open()
          world.close()
          world.state.waiting = 0
          await Promise.race([until(() => world.state.waiting > 0), settle()])
          if (world.state.waiting === 0) world.state.waiting = waiting
        }
        if (world.state.waiting > 0 && world.lease.toJSON().state === 'expired') early++
        const parked = world.lease.park()
        world.open()
        await parked
        await settle()
        await proveParked(world, engine)
        expect(calls).toBeLessThan(4)
      }
      expect(early).toBeGreaterThan(3)
    },
  )

  it.each(['request', 'answer'] as const)('ends a resume(), which rejects: at the %s of each call', async (side) => {
    // With the last call, the lease has a node again, and resume() succeeds.
    let rejected = 0
    for (let at = 1; at <= 5; at++) {
      const world = await leaseBehind(side, engine)
      await world.lease.park()
      world.close()
      const resumed = world.lease.resume().catch((error) => error)
      for (let step = 1; step < at; step++) {
        await Promise.race([until(() => world.state.waiting > 0), settle()])
        world.open()
        world.close()
      }
      await Promise.race([until(() => world.state.waiting > 0), settle()])
      const parked = world.lease.park()
      world.open()
      await parked
      const error = await resumed
      await settle()
      if (error !== undefined) {
        expect(error).toMatchObject({ code: 'ERR_LEASE_EXPIRED' })
        rejected++
      }
      await proveParked(world, engine)
      // It can be resumed again.
      await world.lease.resume()
      expect(world.ids.take(3)).toHaveLength(3)
      await world.lease.release()
    }
    expect(rejected).toBeGreaterThan(3)
  })

  it('is waited for by resume(), release() and another park()', async () => {
    const world = await leaseBehind('request', engine)
    world.close()
    const order: string[] = []
    const done = (what: string) => () => void order.push(what)
    const calls = [
      world.lease.park().then(done('park')),
      world.lease.park().then(done('park again')),
      world.lease.resume().then(done('resume')),
    ]
    await settle()
    expect(order).toEqual([])
    world.open()
    await Promise.all(calls)
    expect(order).toEqual(['park', 'park again', 'resume'])
    expect(typesOf(world.namespace)).toEqual(['acquired', 'parked', 'moved'])
    expect(world.lease.toJSON().state).toBe('held')
    world.close()
    const parked = world.lease.park().then(done('parked'))
    const released = world.lease.release().then(done('released'))
    world.open()
    await Promise.all([parked, released])
    expect(order.slice(3)).toEqual(['parked', 'released'])
    expect(await equalIds([world.ids], world.inner, world.namespace, engine)).toMatchObject({ equal: 0, made: 0 })
  })
})

describe.each(engines)('resume() on the %s engine', (engine) => {
  it('acquires one node if it is called twice at once', async () => {
    const { lease, ids, store, namespace } = await leaseBehind('request', engine)
    await lease.park()
    await Promise.all([lease.resume(), lease.resume()])
    expect(ids.take(3)).toHaveLength(3)
    await lease.release()
    expect(await isReleased(store, namespace, lease.node)).toBe(true)
    // Both nodes are free.
    const options = { store, layout, namespace, acquireTimeoutMs: 0 }
    const both = [await acquireLease({ ...options, node: 0 }), await acquireLease({ ...options, node: 1 })]
    await Promise.all(both.map((other) => other.release()))
  })

  it('waits for a node again after a resume() that has found none', async () => {
    const [store, namespace] = [memoryStore(), freshNamespace()]
    let afterList = async () => {}
    const watched = { ...store, list: (folder: string) => store.list(folder).finally(() => afterList()) }
    const lease = await acquireLease({ store: watched, layout, namespace, acquireTimeoutMs: 200 })
    const ids = createGenerator({ lease, engine })
    await lease.park()
    // Not leases of this process, because resume() would let them move.
    const { key, value } = await recordOf(store, namespace, lease.node)
    const record = JSON.parse(value)
    const writeBoth = async (change: object) => {
      for (const node of [0, 1]) {
        const theirs = key.replace(/\d$/, String(node))
        const text = JSON.stringify({ ...record, token: 'another', attempt: `another at ${node}`, ...change })
        await store.write(theirs, text, (await store.read(theirs))?.version)
      }
    }
    await writeBoth({ ceiling: record.ceiling + 60_000, isReleased: false })
    await expect(lease.resume()).rejects.toMatchObject({ code: 'ERR_NODES_EXHAUSTED' })
    // The first look finds both nodes held.
    afterList = () => {
      afterList = async () => {}
      return writeBoth({ isReleased: true })
    }
    await lease.resume()
    expect(ids.take(3)).toHaveLength(3)
    await lease.release()
  })

  it('ends with ERR_CLOSED if the lease is released meanwhile', async () => {
    const world = await leaseBehind('answer', engine)
    await world.lease.park()
    world.close()
    const resumed = world.lease.resume().catch((error) => error)
    await until(() => world.state.waiting > 0)
    const released = world.lease.release()
    world.open()
    expect(await resumed).toMatchObject({ code: 'ERR_CLOSED' })
    await released
    expect(await equalIds([world.ids], world.inner, world.namespace, engine)).toEqual({ equal: 0, made: 0, taken: 2 })
  })
})
