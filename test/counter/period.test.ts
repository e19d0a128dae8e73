import { beforeEach, describe, expect, it } from 'vitest'
import { World } from './counters.ts'

let world: World
beforeEach(() => {
  world = new World()
})

const day = { pattern: '{yyyyMMdd}-{count:3}', reset: 'day' } as const
const midnightMs = Date.UTC(2026, 10, 23)

describe('a counter that is reset', () => {
  it.each([
    ['day', '{yyyy}{MM}{dd}', '2026-12-31T23:59:59.999Z', '20261231', '20270101'],
    ['month', '{yyyyMM}', '2026-11-30T23:59:59.999Z', '202611', '202612'],
    ['month', '{yyMM}', '2026-11-30T23:59:59.999Z', '2611', '2612'],
    ['year', '{yyyy}', '2026-12-31T23:59:59.999Z', '2026', '2027'],
  ] as const)('by %s, with %s, begins anew at the boundary', async (reset, pattern, time, before, after) => {
    const counter = await world.open({ pattern: `${pattern}-{count}`, reset })
    world.nowMs = Date.parse(time)
    expect(await counter.take(2)).toEqual([`${before}-1`, `${before}-2`])
    world.nowMs++
    expect(await counter.take(2)).toEqual([`${after}-1`, `${after}-2`])
  })

  it('has the boundaries of its time zone', async () => {
    world.nowMs = midnightMs
    const [east, west] = [
      await world.open({ ...day, timeZone: '+08:00' }),
      await world.open({ ...day, name: 'west', timeZone: '-03:30' }),
    ]
    expect([await east.next(), await west.next()]).toEqual(['20261123-001', '20261122-001'])
    world.nowMs += 3.5 * 3_600_000
    expect([await east.next(), await west.next()]).toEqual(['20261123-002', '20261123-001'])
    world.nowMs = midnightMs + 16 * 3_600_000
    expect(await east.next()).toBe('20261124-001')
  })

  it('begins at start again, with bare numbers if no pattern is given', async () => {
    const counter = await world.open({ reset: 'day', start: 10 })
    expect(await counter.take(2)).toEqual(['10', '11'])
    world.nowMs += 86_400_000
    expect(await counter.nextNumber()).toBe(10)
  })

  it('counts each call between its begin and its end: a call after midnight gets no number of the day before', async () => {
    const counter = await world.open(day)
    world.nowMs = midnightMs - 1
    let release = () => {}
    world.faults = [(apply) => new Promise<void>((resolve) => (release = resolve)).then(apply)]
    const before = counter.next()
    await new Promise((resolve) => setImmediate(resolve))
    world.nowMs = midnightMs
    const after = counter.next()
    release()
    expect(await Promise.all([before, after])).toEqual(['20261122-001', '20261123-001'])
  })

  it('decides again if another process has begun the next period meanwhile', async () => {
    const [slow, fast] = [await world.open(day), await world.open(day)]
    world.nowMs = midnightMs - 1
    let release = () => {}
    world.faults = [(apply) => new Promise<void>((resolve) => (release = resolve)).then(apply)]
    const late = slow.next()
    await new Promise((resolve) => setImmediate(resolve))
    world.nowMs = midnightMs
    expect(await fast.next()).toBe('20261123-001')
    release()
    expect(await world.until(late)).toBe('20261123-002')
  })
})

describe('a clock that is behind the period of the record', () => {
  const hosts = async () => {
    const { nowMs: _, ...store } = world.store
    const ahead = await world.open({ ...day, store }, () => midnightMs)
    let wallMs = midnightMs
    const behind = await world.open({ ...day, store }, () => wallMs)
    expect(await ahead.next()).toBe('20261123-001')
    return { next: () => world.until(behind.next()), set: (ms: number) => (wallMs = ms) }
  }

  it('is accepted within a second, and the text has the date of the record', async () => {
    const { next, set } = await hosts()
    set(midnightMs - 1000)
    expect(await next()).toBe('20261123-002')
  })

  it('is refused beyond a second, with the time after which counting can go on, and nothing is counted', async () => {
    const { next, set } = await hosts()
    set(midnightMs - 1000)
    await next()
    set(midnightMs - 61_000)
    await expect(next()).rejects.toMatchObject({ code: 'ERR_CLOCK_ROLLBACK', rollbackMs: 61_000, retryAfterMs: 60_000 })
    expect(await world.record()).toMatchObject({ period: '2026-11-23', count: 2 })
    set(midnightMs - 1000)
    expect(await next()).toBe('20261123-003')
  })

  it.each([Date.UTC(10_000, 0), Date.UTC(-1, 0), 8.64e15])('that shows %d is refused', async (nowMs) => {
    const counter = await world.open(day)
    world.nowMs = nowMs
    await expect(counter.next()).rejects.toMatchObject({ code: 'ERR_CLOCK_INVALID' })
  })

  it('is not read if neither reset nor pattern need it', async () => {
    const nowMs = () => expect.fail('it was asked')
    const counter = await world.open({ store: { ...world.store, nowMs } })
    expect(await counter.next()).toBe('1')
  })
})

describe('a counter that is never reset', () => {
  it('may have a pattern with the time', async () => {
    world.nowMs = Date.UTC(2026, 0, 2, 3, 4, 5, 6)
    const counter = await world.open({ pattern: '{yyyy}-{MM}-{dd}T{HH}:{mm}:{ss}.{SSS} {{{count}}}' })
    expect(await counter.next()).toBe('2026-01-02T03:04:05.006 {1}')
    world.nowMs = Date.UTC(2027, 0)
    expect(await counter.next()).toBe('2027-01-01T00:00:00.000 {2}')
  })

  it('may be shown in several time zones', async () => {
    world.nowMs = midnightMs
    expect(await (await world.open({ pattern: '{dd} {count}' })).next()).toBe('23 1')
    expect(await (await world.open({ pattern: '{dd} {count}', timeZone: '-01:00' })).next()).toBe('22 2')
  })
})
