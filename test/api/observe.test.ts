import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { composeId, createGenerator, defineLayout, layouts } from 'graupel'
import { testGenerator } from 'graupel/testing'
import { createUuidGenerator, decodeUuid, type UuidGenerator } from 'graupel/uuid'
import { describe, expect, it } from 'vitest'
import { caught, engines, freshNamespace } from '../support/engines.js'
import { parts, simulatedOn, tiny } from '../support/simulated.js'

/** An id of another node. */
const idAt = (timestampMs: number, node: number, sequence = 0) => composeId({ timestampMs, node, sequence }, tiny)

const policies = ['throw', 'advance', 'reuse', () => 'throw' as const] as const

describe.each(engines)('observe on the %s engine', (engine) => {
  const simulated = simulatedOn(engine)

  it('lets the next id be larger than an id of a clock that is ahead', () => {
    const { ids } = simulated()
    expect(ids.observe(idAt(1500, 4, 7))).toBe(idAt(1500, 4, 7))
    expect(parts(ids.next())).toEqual([1500, 0])
    ids.observe(idAt(1500, 6))
    expect(parts(ids.next())).toEqual([1501, 0])
    expect(ids.stats()).toMatchObject({ observed: 2, raised: 2, refused: 0, rollbacks: 0, overflows: 0, waits: 0 })
  })

  it('takes digits, and refuses all that is no id of the layout', () => {
    const { ids } = simulated()
    expect(ids.observe(String(idAt(1500, 4)))).toBe(idAt(1500, 4))
    for (const id of [
      -1n,
      2n ** 37n,
      2n ** 64n,
      '-1',
      ' 1',
      '01',
      '',
      'id',
      '1.0',
      2 ** 53,
      -1,
      0.5,
      null,
      undefined,
    ]) {
      expect(caught(() => ids.observe(id as never)).code, String(id)).toBe('ERR_ID_INVALID')
    }
    const narrow = createGenerator({ node: 1, layout: layouts.js53, engine, namespace: freshNamespace() })
    expect(narrow.observe(7)).toBe(7n)
    const wide = createGenerator({ node: 1, engine, namespace: freshNamespace() })
    expect(caught(() => wide.observe(7 as never)).message).toMatch('a number cannot hold 64 bits')
    expect(ids.stats()).toMatchObject({ observed: 1 })
  })

  it('does nothing for an id below the next id', () => {
    const { ids } = simulated()
    ids.next()
    ids.observe(idAt(1000, 3))
    ids.observe(idAt(900, 9))
    expect(parts(ids.next())).toEqual([1000, 1])
    expect(ids.stats()).toMatchObject({ observed: 2, raised: 0 })
  })

  it('keeps the word above an id of the past, if the clock steps back afterwards', () => {
    const { ids, time } = simulated()
    ids.observe(idAt(990, 9))
    time.now = 980
    expect(parts(ids.next())).toEqual([991, 0])
  })

  it('leaves out the slots of the run below the id, for all generators of the thread', () => {
    const layout = defineLayout({
      name: 'hybrid',
      epochMs: 0,
      tickMs: 1,
      fields: [
        ['timestamp', 30],
        ['sequence', 12],
        ['node', 4],
      ],
    })
    const namespace = freshNamespace()
    const own = { layout, node: 5, engine, namespace, clock: () => 1000, onOverflow: 'advance' } as const
    const [ids, other] = [createGenerator(own), createGenerator(own)]
    const sequences = () => [ids, other].map((some) => some.decode(some.next()).sequence)
    // Runs of 1, 2, 4 and 8 slots.
    for (let i = 0; i < 5; i++) sequences()
    expect(sequences()).toEqual([10, 11])
    ids.observe(composeId({ timestampMs: 1000, node: 4, sequence: 12 }, layout))
    expect(sequences()).toEqual([12, 13])
    ids.observe(composeId({ timestampMs: 1000, node: 6, sequence: 14 }, layout))
    expect(sequences()).toEqual([15, 16])
    ids.observe(composeId({ timestampMs: 1000, node: 6, sequence: 4094 }, layout))
    expect(ids.decode(other.next()).sequence).toBe(4095)
    ids.observe(composeId({ timestampMs: 1000, node: 6, sequence: 4095 }, layout))
    expect(other.decode(other.next())).toMatchObject({ timestampMs: 1001, sequence: 0 })
  })

  it('lets the ids of all tags be larger, and takes ids of all tags', () => {
    const layout = defineLayout({
      name: 'tagged',
      epochMs: 0,
      tickMs: 1,
      fields: [
        ['timestamp', 30],
        ['shard', 3, 'tag'],
        ['node', 4],
        ['sequence', 3],
      ],
    })
    const ids = createGenerator({ layout, node: 5, engine, namespace: freshNamespace(), clock: () => 1000 })
    const views = [0, 7].map((shard) => ids.with({ shard }))
    for (const shard of [0, 3, 7]) {
      for (const node of [4, 6]) {
        for (const call of [ids, ...views]) {
          const timestampMs = call.decode(views[0]?.next() as bigint).timestampMs + 1
          const seen = call.observe(composeId({ timestampMs, node, tags: { shard } }, layout))
          for (const view of views) expect(view.next()).toBeGreaterThan(seen)
        }
      }
    }
  })

  it.each(policies)(
    'goes on at once with onRollback %s, up to maxAheadMs, on each generator of the node',
    (onRollback) => {
      const { ids, another, time } = simulated({ onRollback, onOverflow: 'throw', maxAheadMs: 100, maxWaitMs: 0 })
      const other = another()
      other.next()
      ids.observe(idAt(1090, 9))
      expect(parts(other.next())).toEqual([1091, 0])
      // The ids that lead on are not taken for an overflow either, also if the observed tick has passed.
      ids.take(60)
      time.now = 1092
      expect(parts(other.next())).toEqual([1098, 5])
      const error = caught(() => ids.take(1000))
      expect(error).toMatchObject({ code: 'ERR_CLOCK_SKEW', retryAfterMs: 1, option: 'maxWaitMs' })
      expect(other.stats()).toMatchObject({ rollbacks: 0, overflows: 0, observed: 0 })
    },
  )

  it("waits with onRollback 'wait', which keeps the order, too", () => {
    let now = 1000
    const { ids } = simulated({ onRollback: 'wait', clock: () => (now += 0.5) })
    ids.observe(idAt(1020, 9))
    const [tick] = parts(ids.next())
    expect(tick).toBeGreaterThanOrEqual(1021)
    expect(tick).toBeLessThanOrEqual(now)
    const { ids: late } = simulated({ onRollback: 'wait' })
    late.observe(idAt(1100, 3))
    expect(caught(() => late.next())).toMatchObject({ code: 'ERR_CLOCK_SKEW', retryAfterMs: 100 })
  })

  it('is a rollback if the clock has stepped back as well', () => {
    const { ids, time } = simulated({ onRollback: 'throw' })
    ids.next()
    ids.observe(idAt(1010, 9))
    time.now = 995
    expect(caught(() => ids.next())).toMatchObject({ code: 'ERR_CLOCK_ROLLBACK', rollbackMs: 5 })
    time.now = 1000
    expect(parts(ids.next())).toEqual([1011, 0])
  })

  it('refuses an id more than maxAheadMs ahead, and changes nothing', () => {
    const { ids, time } = simulated({ maxAheadMs: 20 })
    ids.next()
    const error = caught(() => ids.observe(idAt(1021, 9)))
    expect(error).toMatchObject({ name: 'GraupelError', code: 'ERR_CLOCK_SKEW', retryAfterMs: 1, option: 'maxAheadMs' })
    expect(error.message).toBe(
      `the id ${idAt(1021, 9)} of node 9 has the time 1970-01-01T00:00:01.021Z, 21 ms after 1970-01-01T00:00:01.000Z, and maxAheadMs (20) allows no more; compare the clocks of the hosts, and observe only ids that you trust`,
    )
    expect(parts(ids.next())).toEqual([1000, 1])
    expect(ids.stats()).toMatchObject({ observed: 0, raised: 0, refused: 1 })
    time.now = 1001
    ids.observe(idAt(1021, 9))
    time.now = 900
    // The word is above the id already, wherever the clock is.
    ids.observe(idAt(1021, 9))
    ids.observe(idAt(1000, 9))
  })

  it('refuses all ids from the future with maxAheadMs 0', () => {
    const { ids } = simulated({ maxAheadMs: 0 })
    expect(caught(() => ids.observe(idAt(1001, 0))).code).toBe('ERR_CLOCK_SKEW')
    ids.observe(idAt(1000, 4))
    expect(parts(ids.next())).toEqual([1000, 0])
  })

  it.each([...policies, 'wait'] as const)(
    'keeps the order with onRollback %s and maxAheadMs 0, by waiting for the tick after the id',
    (onRollback) => {
      const { ids, time } = simulated({ onRollback, maxAheadMs: 0, maxWaitMs: 0 })
      ids.next()
      expect(caught(() => ids.observe(idAt(1001, 0)))).toMatchObject({ code: 'ERR_CLOCK_SKEW', option: 'maxAheadMs' })
      // No id of this tick is larger, because the node is.
      const seen = ids.observe(idAt(1000, 9))
      expect(caught(() => ids.next())).toMatchObject({ code: 'ERR_CLOCK_SKEW', retryAfterMs: 1 })
      time.now = 1001
      expect(ids.next()).toBeGreaterThan(seen)
      expect(parts(ids.next())).toEqual([1001, 1])
      expect(ids.stats()).toMatchObject({ observed: 1, raised: 1, refused: 1, rollbacks: 0, overflows: 0 })
    },
  )

  it('refuses the last id of the layout', () => {
    const end = 2 ** 30 - 1
    const { ids } = simulated({}, { now: end })
    ids.observe(idAt(end, 4, 7))
    ids.observe(idAt(end, 5, 6))
    const error = caught(() => ids.observe(idAt(end, 5, 7)))
    expect(error).toMatchObject({ name: 'GraupelError', code: 'ERR_LAYOUT_EXPIRED' })
    expect(parts(ids.next())).toEqual([end, 7])
  })

  it('refuses a layout that does not begin with the timestamp', () => {
    const layout = defineLayout({
      ...tiny,
      fields: [
        ['node', 4],
        ['timestamp', 30],
        ['sequence', 3],
      ],
    })
    const { ids } = simulated({ layout } as never)
    expect(caught(() => ids.observe(7n))).toMatchObject({ name: 'RangeError', code: 'ERR_LAYOUT_INVALID' })
  })

  it('refuses a clock before the epoch, and a closed generator', () => {
    const { ids, time } = simulated()
    time.now = -1
    expect(caught(() => ids.observe(idAt(5, 1))).code).toBe('ERR_CLOCK_BEFORE_EPOCH')
    const { observe } = ids
    time.now = 1000
    observe(idAt(1000, 1))
    ids.close()
    // Also an id that it knows.
    for (const ms of [5, 1000, 1500]) expect(caught(() => observe(idAt(ms, 1))).code).toBe('ERR_CLOSED')
    expect(caught(() => observe('x')).code).toBe('ERR_ID_INVALID')
  })

  it('asks no clock for an id below the next one, and asks again if the clock was wrong for a moment', () => {
    const times: number[] = []
    const { ids } = simulatedOn(engine)({ clock: () => times.shift() ?? 1000 })
    ids.next()
    times.push(Number.NaN)
    expect(ids.observe(idAt(999, 1))).toBe(idAt(999, 1))
    expect(times.splice(0)).toEqual([Number.NaN])
    times.push(-1)
    expect(ids.observe(idAt(1500, 1))).toBe(idAt(1500, 1))
    expect(parts(ids.next())).toEqual([1500, 0])
  })

  it('is published if the id is ahead of the clock', () => {
    const { ids } = simulated({ maxAheadMs: 20 })
    const heard: unknown[] = []
    const listener = (message: unknown) => heard.push(message)
    subscribe('graupel:observed', listener)
    try {
      ids.observe(idAt(999, 9))
      ids.observe(idAt(1010, 9))
      ids.observe(idAt(1010, 9))
      caught(() => ids.observe(idAt(1030, 9)))
    } finally {
      unsubscribe('graupel:observed', listener)
    }
    expect(heard).toMatchObject([
      { type: 'ahead', layout: 'tiny', node: 5, nowMs: 1000, id: idAt(1010, 9), aheadMs: 10 },
      { type: 'refused', id: idAt(1030, 9), aheadMs: 30 },
    ])
  })

  it('is kept by calls that wait', async () => {
    const { ids, time } = simulated()
    ids.take(8)
    const later = [ids.nextAsync(), ids.nextAsync()]
    ids.observe(idAt(1500, 9))
    time.now = 1001
    const first = Promise.race([Promise.all(later), new Promise<bigint[]>((resolve) => setTimeout(resolve, 2000, []))])
    try {
      expect((await first).map(parts)).toEqual([
        [1501, 0],
        [1501, 1],
      ])
    } finally {
      for (const promise of later) promise.catch(() => {})
      ids.close()
    }
  })
})

describe('observe of UUIDs and of tests', () => {
  it('lets the next UUID be larger', () => {
    const namespace = freshNamespace()
    const uuids = createUuidGenerator({ node: 1, namespace })
    const later = createUuidGenerator({ node: 9, namespace, clock: () => Date.now() + 500, state: 'process' })
    const seen = later.next()
    expect(uuids.observe(seen.toUpperCase())).toBe(seen)
    expect(uuids.next() > seen).toBe(true)
    expect(uuids.ids.stats()).toMatchObject({ observed: 1, raised: 1 })
    const other = uuids.observe(later.nextBytes())
    expect(uuids.next() > other).toBe(true)
    for (const uuid of ['f81d4fae-7dec-41d0-a765-00a0c91e6bf6', 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6', '', 7n]) {
      expect(caught(() => uuids.observe(uuid as never)).code).toBe('ERR_ID_INVALID')
    }
    expect(caught(() => uuids.observe('ffffffff-ffff-7000-8000-000000000000')).code).toBe('ERR_ID_INVALID')
  })

  it('lets the next UUID of the same tick have a later sequence number, from any node', () => {
    const namespace = freshNamespace()
    // In one tick, sequence numbers decide before nodes do.
    const clock = () => 1_800_000_000_000
    const [low, high] = [1, 9].map((node) => createUuidGenerator({ node, namespace, clock })) as [
      UuidGenerator,
      UuidGenerator,
    ]
    low.take(20)
    const text = high.observe(low.next())
    expect(high.next() > text).toBe(true)
    const answer = low.observe(high.next())
    expect(low.next() > answer).toBe(true)
    expect(decodeUuid(low.next(), layouts.twitter).timestampMs).toBe(clock())
    const ahead = createUuidGenerator({ node: 3, namespace, clock: () => clock() + 1001 }).next()
    const refused = caught(() => low.observe(ahead))
    expect(refused).toMatchObject({ code: 'ERR_CLOCK_SKEW', retryAfterMs: 1 })
    expect(refused.message).toMatch(`the UUID '${ahead}' of node 3 `)
    expect(low.stats()).toMatchObject({ refused: 1 })
    const other8 = createUuidGenerator({ node: 4, namespace, clock, version: 8 }).next()
    expect(caught(() => low.observe(other8)).message).toMatch('version 8, and not 7')
  })

  it('works on a generator for tests, in its own time', () => {
    const ids = testGenerator()
    const first = ids.next()
    const other = testGenerator({ node: 3, clock: () => Date.UTC(2030, 0, 1) })
    const seen = ids.observe(other.next())
    expect(ids.next()).toBeGreaterThan(seen)
    ids.reset()
    expect(ids.next()).toBe(first)
    // The generator has begun again, and has not seen the id.
    ids.observe(seen)
    expect(ids.next()).toBeGreaterThan(seen)
  })
})
