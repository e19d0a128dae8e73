import { createCounter } from 'graupel/segments'
import { memoryStore } from 'graupel/stores'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { Store } from '../../src/stores/store.js'
import { type Fault, World } from './counters.ts'

let world: World
beforeEach(() => {
  world = new World()
})

describe('a counter', () => {
  it('counts from 1 on', async () => {
    const counter = await createCounter({ store: memoryStore(), name: 'orders' })
    expect(await counter.nextNumber()).toBe(1)
    expect(await counter.next()).toBe('2')
    expect(await counter.take(3)).toEqual(['3', '4', '5'])
    expect(counter.name).toBe('orders')
  })

  it('writes nothing until a number is taken', async () => {
    await world.open()
    expect(await world.record()).toBeUndefined()
  })

  it('shares its numbers with all counters of its name, and with no other counter', async () => {
    const [one, same, other] = [await world.open(), await world.open(), await world.open({ name: 'invoices' })]
    expect(await one.nextNumber()).toBe(1)
    expect(await world.until(same.nextNumber())).toBe(2)
    expect(await world.until(one.nextNumber())).toBe(3)
    expect(await other.nextNumber()).toBe(1)
  })

  it('answers calls in their order, and takes the numbers of all waiting calls by one write', async () => {
    const { nextNumber, take, next, stats } = await world.open()
    const all = await Promise.all([nextNumber(), nextNumber(), take(3), next()])
    expect(all).toEqual([1, 2, ['3', '4', '5'], '6'])
    expect(stats()).toEqual({ issued: 6, writes: 1, conflicts: 0, held: 0, lost: 0, recovered: 0 })
  })

  it('has at most one write in progress, and later calls share the next write', async () => {
    const counter = await world.open()
    let release = () => {}
    world.faults = [(apply) => new Promise<void>((resolve) => (release = resolve)).then(apply)]
    const first = counter.nextNumber()
    await new Promise((resolve) => setImmediate(resolve))
    const later = Array.from({ length: 50 }, () => counter.nextNumber())
    await new Promise((resolve) => setImmediate(resolve))
    expect(world.writes).toBe(1)
    release()
    expect(await first).toBe(1)
    expect(await Promise.all(later)).toEqual(Array.from({ length: 50 }, (_, index) => index + 2))
    expect(world.writes).toBe(2)
  })

  it('begins at `start`', async () => {
    const counter = await world.open({ start: 0 })
    expect(await counter.take(2)).toEqual(['0', '1'])
  })

  it('keeps one text for each process that has written, the latest first', async () => {
    const counters = [await world.open(), await world.open()]
    for (let round = 0; round < 5; round++) {
      for (const counter of counters) await world.until(counter.nextNumber())
    }
    const { writers } = (await world.record()) as { writers: string[] }
    expect(writers.map((writer) => writer.split(' ')[0])).toEqual(['t2', 't1'])
  })

  it('has a record that fits a value, with the longest name and as many writers as it remembers', async () => {
    const name = '\u0001'.repeat(80)
    const token = () => 'z'.repeat(19)
    for (let process = 0; process < 70; process++) {
      const counter = await createCounter({
        store: world.inner,
        name,
        pattern: '{yyyyMMdd} {count}',
        reset: 'day',
        timeZone: '-03:30',
      })
      await counter.next()
    }
    const [entry] = await world.inner.list('numbers/')
    const { writers } = JSON.parse(entry?.value ?? '')
    expect(writers).toHaveLength(64)
    const longest = writers.map(() => `${token()} ${token()}`)
    expect(entry?.value.replace(JSON.stringify(writers), JSON.stringify(longest)).length).toBeLessThan(4096)
  })
})

describe('a counter that is closed', () => {
  it('refuses new and waiting calls; a write in progress ends for its callers', async () => {
    const counter = await world.open()
    let release = () => {}
    world.faults = [(apply) => new Promise<void>((resolve) => (release = resolve)).then(apply)]
    const under = counter.nextNumber()
    await new Promise((resolve) => setImmediate(resolve))
    const waiting = counter.nextNumber()
    counter.close()
    await expect(waiting).rejects.toMatchObject({ code: 'ERR_CLOSED' })
    await expect(counter.take(2)).rejects.toMatchObject({ code: 'ERR_CLOSED' })
    release()
    expect(await under).toBe(1)
    expect(world.writes).toBe(1)
  })

  it('rejects a waiting call whose signal is aborted with the reason of the signal', async () => {
    const counter = await world.open()
    const leaving = new AbortController()
    const waiting = counter.take(2, leaving.signal)
    leaving.abort(new Error('left'))
    counter.close()
    await expect(waiting).rejects.toThrow('left')
  })

  it('does not write again if another process was faster', async () => {
    const [counter, other] = [await world.open(), await world.open()]
    let release = () => {}
    world.faults = [(apply) => new Promise<void>((resolve) => (release = resolve)).then(apply)]
    const under = counter.nextNumber()
    await new Promise((resolve) => setImmediate(resolve))
    await other.nextNumber()
    counter[Symbol.dispose]()
    release()
    await expect(under).rejects.toMatchObject({ code: 'ERR_CLOSED' })
    expect(await world.record()).toMatchObject({ count: 1 })
  })
})

describe('a counter that is closed while it pauses', () => {
  it('does not ask the store again', async () => {
    const asked = vi.spyOn(world.store as Required<Store>, 'nowMs')
    const options = { pattern: '{yyyy}-{count}', reset: 'year' } as const
    const [counter, other] = [await world.open(options), await world.open(options)]
    const slow: Fault = (apply) => new Promise((resolve) => world.time.later(() => resolve(apply()), 10))
    world.faults = [slow, undefined, slow]
    const first = counter.next()
    await new Promise((resolve) => setImmediate(resolve))
    await other.next()
    expect(await world.until(first)).toBe('2026-2')
    const before = asked.mock.calls.length
    const waiting = counter.next()
    await new Promise((resolve) => setImmediate(resolve))
    expect(asked.mock.calls.length).toBe(before)
    counter.close()
    await expect(waiting).rejects.toMatchObject({ code: 'ERR_CLOSED' })
    await world.until(world.time.sleep(100))
    expect(asked.mock.calls.length).toBe(before)
  })
})

describe('a count that does not fit', () => {
  it('is refused before anything is written', async () => {
    const counter = await world.open({ pattern: 'N{count:2}', start: 97 })
    const [two, three, last] = await Promise.allSettled([counter.take(2), counter.take(2), counter.next()])
    expect(two).toMatchObject({ value: ['N97', 'N98'] })
    expect(three).toMatchObject({ reason: { code: 'ERR_COUNTER_OVERFLOW' } })
    expect(last).toMatchObject({ value: 'N99' })
    await expect(counter.next()).rejects.toMatchObject({
      code: 'ERR_COUNTER_OVERFLOW',
      message: expect.stringContaining("the next count of 'orders' is 100, and the last one is 99"),
    })
    await expect(counter.nextNumber()).rejects.toMatchObject({ code: 'ERR_COUNTER_OVERFLOW' })
    expect(await world.record()).toMatchObject({ count: 99 })
    expect(world.writes).toBe(1)
  })

  it('fits a pattern with more digits, because the pattern is no part of the record', async () => {
    const narrow = await world.open({ pattern: '{count:1}', start: 9 })
    expect(await narrow.next()).toBe('9')
    await expect(narrow.next()).rejects.toMatchObject({ code: 'ERR_COUNTER_OVERFLOW' })
    const wide = await world.open({ pattern: 'A{count:3}', start: 9 })
    expect(await wide.next()).toBe('A010')
  })

  it('is a count beyond 2^53 - 1', async () => {
    const counter = await world.open({ start: Number.MAX_SAFE_INTEGER })
    expect(await counter.nextNumber()).toBe(Number.MAX_SAFE_INTEGER)
    await expect(counter.nextNumber()).rejects.toMatchObject({ code: 'ERR_COUNTER_OVERFLOW' })
  })
})
