import { createCounter } from 'graupel/segments'
import { memoryStore } from 'graupel/stores'
import { beforeEach, describe, expect, it } from 'vitest'
import { GraupelError } from '../../src/core/errors.js'
import { never, World } from './counters.ts'

let world: World
beforeEach(() => {
  world = new World()
})

describe('an option of createCounter that is wrong', () => {
  it.each<[string, object, string, string]>([
    ['an unknown name', { step: 10 }, 'TypeError', 'ERR_OPTION_UNKNOWN'],
    ['a store that is none', { store: new Map() }, 'TypeError', 'ERR_OPTION_INVALID'],
    ['a name that is no text', { name: 7 }, 'TypeError', 'ERR_OPTION_INVALID'],
    ['an empty name', { name: '' }, 'RangeError', 'ERR_OPTION_INVALID'],
    ['a name that is too long', { name: 'x'.repeat(129) }, 'RangeError', 'ERR_OPTION_INVALID'],
    ['a name that is not well-formed', { name: '\ud800' }, 'RangeError', 'ERR_OPTION_INVALID'],
    ['a reset that is no text', { reset: true }, 'TypeError', 'ERR_OPTION_INVALID'],
    ['an unknown reset', { reset: 'week' }, 'TypeError', 'ERR_OPTION_INVALID'],
    ['a time zone with summer time', { timeZone: 'Europe/Berlin' }, 'RangeError', 'ERR_OPTION_INVALID'],
    ['a time zone that is no text', { timeZone: 60 }, 'TypeError', 'ERR_OPTION_INVALID'],
    ['a start as text', { start: '1' }, 'TypeError', 'ERR_OPTION_INVALID'],
    ['a start below 0', { start: -1 }, 'RangeError', 'ERR_OPTION_INVALID'],
    ['a start that is no whole number', { start: 1.5 }, 'RangeError', 'ERR_OPTION_INVALID'],
    ['a start beyond 2^53 - 1', { start: 2 ** 53 }, 'RangeError', 'ERR_OPTION_INVALID'],
    [
      'a start with more digits than the pattern',
      { start: 100, pattern: '{count:2}' },
      'RangeError',
      'ERR_OPTION_INVALID',
    ],
    ['callTimeoutMs 0', { callTimeoutMs: 0 }, 'RangeError', 'ERR_OPTION_INVALID'],
    ['a signal that is none', { signal: true }, 'TypeError', 'ERR_OPTION_INVALID'],
    ['a pattern that is no text', { pattern: 7 }, 'TypeError', 'ERR_PATTERN_INVALID'],
    ['an empty pattern', { pattern: '' }, 'RangeError', 'ERR_PATTERN_INVALID'],
    ['a pattern without the count', { pattern: 'SO-{yyyy}' }, 'RangeError', 'ERR_PATTERN_INVALID'],
    ['a pattern with two counts', { pattern: '{count}{count:3}' }, 'RangeError', 'ERR_PATTERN_INVALID'],
    ['a pattern with an unknown placeholder', { pattern: '{count}{node}' }, 'RangeError', 'ERR_PATTERN_INVALID'],
    ['a pattern with a brace too many', { pattern: '{count}}' }, 'RangeError', 'ERR_PATTERN_INVALID'],
    ['a pattern without the day', { pattern: '{yyyyMM}{count}', reset: 'day' }, 'RangeError', 'ERR_PATTERN_INVALID'],
    ['a pattern without the year', { pattern: '{MMdd}{count}', reset: 'day' }, 'RangeError', 'ERR_PATTERN_INVALID'],
    ['a pattern without the month', { pattern: '{yyyy}{count}', reset: 'month' }, 'RangeError', 'ERR_PATTERN_INVALID'],
    ['a pattern without any date', { pattern: '{count}', reset: 'year' }, 'RangeError', 'ERR_PATTERN_INVALID'],
  ])('%s is refused', async (_, options, name, code) => {
    const store = memoryStore()
    await expect(createCounter({ store, name: 'orders', ...options })).rejects.toMatchObject({ name, code })
    expect(await store.list('numbers/')).toEqual([])
  })

  it('names the part that a pattern lacks', async () => {
    await expect(world.open({ pattern: '{MM}{count}', reset: 'month' })).rejects.toMatchObject({
      message:
        "the pattern is '{MM}{count}': it does not name the month, and the counts begin anew with each month, so two numbers would have the same text; add {yyyyMM}",
    })
  })

  it.each([undefined, null, 7, 'orders'])('%s is no object of options', async (options) => {
    await expect(createCounter(options as never)).rejects.toMatchObject({ code: 'ERR_OPTION_INVALID' })
  })

  it.each<[unknown, string]>([
    ['2', 'TypeError'],
    [2n, 'TypeError'],
    [0, 'RangeError'],
    [1.5, 'RangeError'],
    [Number.NaN, 'RangeError'],
    [65_537, 'RangeError'],
  ])('take(%s) is refused', async (count, name) => {
    const { take } = await world.open()
    await expect(take(count as number)).rejects.toMatchObject({ name, code: 'ERR_OPTION_INVALID' })
  })

  it('take(65_536) is the largest allowed take', async () => {
    const { take } = await world.open()
    expect(await take(65_536)).toHaveLength(65_536)
  })
})

describe('the record that a counter finds', () => {
  it.each([
    [{ reset: 'month' }, "reset 'day', timeZone '+08:00' and start 1", "reset 'month', timeZone '+08:00' and start 1"],
    [{ timeZone: '-00:30' }, "timeZone '+08:00'", "timeZone '-00:30'"],
    [{ timeZone: 'UTC' }, "timeZone '+08:00'", "timeZone 'UTC'"],
    [{ start: 2 }, 'start 1', 'start 2'],
    [{ reset: 'never' }, "reset 'day'", "reset 'never', timeZone 'UTC'"],
  ] as const)('is refused if it has other rules than %o', async (options, theirs, ours) => {
    const rules = { reset: 'day', timeZone: '+08:00' } as const
    await (await world.open(rules)).next()
    await expect(world.open({ ...rules, ...options })).rejects.toMatchObject({
      code: 'ERR_STATE_MISMATCH',
      message: expect.stringMatching(
        new RegExp(`${theirs.replace('+', '\\+')}.*, and this process asks for.*${ours.replace('+', '\\+')}`),
      ),
    })
    expect(await world.record()).toMatchObject({ count: 1 })
  })

  it('is refused if it has numbers of another kind', async () => {
    await world.replace(JSON.stringify({ format: 1, kind: 'segments', name: 'orders' }))
    await expect(world.open()).rejects.toMatchObject({
      code: 'ERR_STATE_MISMATCH',
      message: expect.stringContaining("has kind 'segments' and name 'orders', not kind 'counter'"),
    })
  })

  const good = {
    format: 1,
    kind: 'counter',
    name: 'orders',
    reset: 'never',
    timeZone: 'UTC',
    start: 1,
    period: '',
    count: 5,
    writers: [],
  }
  it.each<[string, string]>([
    ['no JSON', 'numbers'],
    ['a count that is none', JSON.stringify({ ...good, count: '5' })],
    ['a count below its start', JSON.stringify({ ...good, count: 0 })],
    ['a period that is none', JSON.stringify({ ...good, period: '2026-11-22' })],
    ['writers that are none', JSON.stringify({ ...good, writers: {} })],
    ['a writer that is no text', JSON.stringify({ ...good, writers: [7] })],
  ])('is refused if it is damaged: %s', async (_, value) => {
    await world.replace(value)
    await expect(world.open()).rejects.toMatchObject({ code: 'ERR_STATE_CORRUPT' })
    const { value: left } = (await world.inner.read('numbers/orders')) ?? {}
    expect(left).toBe(value)
  })

  it.each(['2026-11-31', '2026-13-01', '0-11-22123', '2026-11', ''])('is refused if its day is %o', async (period) => {
    await world.replace(JSON.stringify({ ...good, reset: 'day', period }))
    await expect(world.open({ reset: 'day' })).rejects.toMatchObject({ code: 'ERR_STATE_CORRUPT' })
  })

  it('is refused if another record replaces it later, and is not written over', async () => {
    const counter = await world.open()
    await counter.next()
    await world.replace(JSON.stringify({ format: 1, kind: 'segments', name: 'orders' }))
    await expect(world.until(counter.next())).rejects.toMatchObject({ code: 'ERR_STATE_MISMATCH' })
    await expect(world.until(counter.next())).rejects.toMatchObject({ code: 'ERR_STATE_MISMATCH' })
    expect(await world.record()).toMatchObject({ kind: 'segments' })
    await world.replace(JSON.stringify({ ...good, count: 7 }))
    expect(await world.until(counter.next())).toBe('8')
  })
})

describe('the creation', () => {
  it('is refused if the store does not answer', async () => {
    await expect(world.until(world.open({ store: { ...world.store, read: never } }))).rejects.toMatchObject({
      code: 'ERR_STORE_UNAVAILABLE',
    })
  })

  it('rejects with the error of a store that refuses to be read', async () => {
    const refusal = new GraupelError('ERR_STORE_UNSAFE', 'a transaction is open')
    await expect(world.open({ store: { ...world.store, read: () => Promise.reject(refusal) } })).rejects.toBe(refusal)
  })

  it('is cancelled by its signal, before and during the call of the store', async () => {
    const reason = new Error('enough')
    await expect(createCounter({ store: world.store, name: 'orders', signal: AbortSignal.abort(reason) })).rejects.toBe(
      reason,
    )
    const controller = new AbortController()
    const opening = world.open({ store: { ...world.store, read: never }, signal: controller.signal })
    controller.abort(reason)
    await expect(opening).rejects.toBe(reason)
  })
})
