import { createGenerator, layouts } from 'graupel'
import { describe, expect, it } from 'vitest'
import { caught, engines, freshNamespace } from '../support/engines.js'
import { parts, simulatedOn } from '../support/simulated.js'

describe.each(engines)('a generator on the %s engine', (engine) => {
  const simulated = simulatedOn(engine)

  it('counts from 0 in every tick', () => {
    const { ids, time } = simulated()
    expect([ids.next(), ids.next()].map(parts)).toEqual([
      [1000, 0],
      [1000, 1],
    ])
    time.now = 1007
    expect(parts(ids.next())).toEqual([1007, 0])
    time.now = 0
  })

  it('takes each time in milliseconds with a fraction', () => {
    const times = { openTimeoutMs: 0.5, maxWaitMs: 1.5, maxAheadMs: 2.5 }
    using ids = createGenerator({ engine, node: 1, namespace: freshNamespace(), state: 'process', ...times })
    expect(ids.next()).toBeGreaterThan(0n)
  })

  it('begins at the epoch itself', () => {
    const { ids } = simulated({}, { now: 0 })
    expect(ids.take(3).map(parts)).toEqual([
      [0, 0],
      [0, 1],
      [0, 2],
    ])
  })

  it('gives every form of an id the same value', () => {
    const { ids } = simulated()
    expect(ids.next()).toBe(BigInt(ids.nextString()) - 1n)
    expect(ids.nextNumber()).toBe(Number(ids.next()) - 1)
  })

  it('refuses nextNumber if a number does not hold the id, and makes none', () => {
    const ids = createGenerator({ engine, node: 1, namespace: freshNamespace() })
    const error = caught(() => (ids as unknown as { nextNumber(): number }).nextNumber())
    expect(error).toBeInstanceOf(RangeError)
    expect(error.code).toBe('ERR_NUMBER_UNSAFE')
    expect(ids.stats().issued).toBe(0)
  })

  it('makes numbers up to the last of 53 bits', () => {
    const end = layouts.js53.expiresAt.getTime() - 1
    const ids = createGenerator({
      engine,
      layout: layouts.js53,
      node: 31,
      namespace: freshNamespace(),
      clock: () => end,
    })
    let last = 0
    for (let i = 0; i < 128; i++) last = ids.nextNumber()
    expect(last).toBe(Number.MAX_SAFE_INTEGER)
  })

  it('shares its state with every other instance on the node', () => {
    const { ids, another } = simulated()
    const other = another()
    const made = [ids.next(), other.next(), ...ids.take(2), other.next(), ids.next()]
    expect(made.map(parts).map(([, sequence]) => sequence)).toEqual([0, 1, 2, 3, 4, 5])
  })

  it('shares it with a layout of other names and equal bits', () => {
    const namespace = freshNamespace()
    const now = 1656432460105
    const one = createGenerator({ engine, namespace, layout: layouts.twitter, node: 378, clock: () => now })
    const two = createGenerator({ engine, namespace, layout: layouts.leaf, node: 378, clock: () => now })
    expect(two.next()).not.toBe(one.next())
  })

  it('does not share it with another namespace or node', () => {
    const { ids } = simulated()
    ids.next()
    expect(parts(simulated().ids.next())[1]).toBe(0)
    expect(parts(simulated({ node: 6 }).ids.next())[1]).toBe(0)
  })

  it('iterates without end', () => {
    const { ids } = simulated()
    const made: bigint[] = []
    for (const id of ids) {
      made.push(id)
      if (made.length === 5) break
    }
    const [next] = ids
    expect(new Set([...made, next]).size).toBe(6)
  })

  it('tells what it did', () => {
    const { ids, time } = simulated()
    ids.take(5)
    time.now = 999
    ids.next()
    expect(ids.stats()).toEqual({
      engine,
      state: 'process',
      issued: 6,
      waits: 0,
      waitedMs: 0,
      rollbacks: 1,
      overflows: 0,
      observed: 0,
      raised: 0,
      refused: 0,
      aheadMs: 1,
      ceilingMs: null,
    })
  })
})
