import { describe, expect, it } from 'vitest'
import { platform } from '#platform'
import { createSegmentGenerator, makeSource } from '../../src/segments/create.js'
import { checkSegmentOptions, type SegmentOptions } from '../../src/segments/options.js'
import { memoryStore } from '../../src/stores/memory.js'
import type { Store } from '../../src/stores/store.js'
import { caught } from '../support/engines.js'
import { eventsOf, faultyStore } from './faulty-store.js'

let count = 0
const freshName = () => `orders-${++count}`
const reset = new Error('connection reset')

/**
 * The first numbers of the segments of a process, of which the first segment is fetched at once. This is the
 * source without its generator, which would fetch further segments at times that no test knows.
 */
async function firsts(store: Store, options: Partial<SegmentOptions> = {}) {
  const name = options.name ?? freshName()
  const source = makeSource(checkSegmentOptions({ store, name, step: 10, maxStep: 10, ...options }), platform)
  const fetched = [await source.take(10)]
  const segment = async () => (fetched.pop() ?? (await source.take(10))).first
  return { name, segment }
}

describe('a segment of a store', () => {
  it('costs one read and one write if the store is durable, whatever its incarnation is', async () => {
    const { store, world } = faultyStore(true)
    const { segment, name } = await firsts(store)
    expect(await segment()).toBe(1n)
    await world.backup()
    await world.failover()
    expect(await segment()).toBe(11n)
    expect(world.calls.slice(0, 4)).toEqual(['read', 'write', 'read', 'write'])
    expect(await world.valueOf(name)).toMatchObject({ format: 1, kind: 'segments', name, incarnation: '' })
    expect(eventsOf(name)).toEqual([])
  })

  it('needs the incarnation before the read and after the write if the store may forget', async () => {
    const { store, world } = faultyStore()
    const { name } = await firsts(store)
    expect(world.calls).toEqual(['incarnation', 'read', 'write', 'incarnation'])
    expect(await world.valueOf(name)).toMatchObject({ next: '11', incarnation: 'life 1' })
  })

  it('is taken once if the reply of the write is lost', async () => {
    const { store, world } = faultyStore()
    const { segment, name } = await firsts(store)
    await segment()
    let lost = 0
    world.after = (call) => {
      if (call === 'write' && lost++ === 0) throw reset
    }
    expect(await segment()).toBe(11n)
    expect(await world.valueOf(name)).toMatchObject({ next: '21' })
  })

  it('is lost, and never repeated, if its outcome stays unknown', async () => {
    const { store, world } = faultyStore()
    const { segment } = await firsts(store, { callTimeoutMs: 20 })
    await segment()
    let hasWritten = false
    world.before = (call) => {
      if (hasWritten && call !== 'incarnation') throw reset
    }
    world.after = (call) => {
      if (call !== 'write') return
      hasWritten = true
      throw reset
    }
    const code = 'ERR_STORE_UNAVAILABLE'
    await expect(segment()).rejects.toMatchObject({ code, message: /may or may not have written/ })
    world.before = world.after = () => {}
    expect(await segment()).toBe(21n)
  })

  it('is lost if a reply is lost and another process has written meanwhile', async () => {
    const { store, world } = faultyStore()
    const { segment, name } = await firsts(store)
    await segment()
    let lost = 0
    world.after = async (call) => {
      if (call !== 'write' || lost++ > 0) return
      await (await firsts(store, { name })).segment()
      throw reset
    }
    expect(await segment()).toBe(31n)
  })

  it('is the next segment if another process was faster', async () => {
    const { store, world } = faultyStore()
    const { segment, name } = await firsts(store)
    await segment()
    let others = 0
    world.before = async (call) => {
      if (call === 'write' && others++ === 0) expect(await (await firsts(store, { name })).segment()).toBe(11n)
    }
    expect(await segment()).toBe(21n)
  })
})

describe('a store that has forgotten acknowledged writes', () => {
  it.each([
    [undefined, 640n],
    [100, 100n],
    [5n, 5n],
    [0, 0n],
  ])('skips failoverGap %s numbers in its next life', async (failoverGap, gap) => {
    const { store, world } = faultyStore()
    const options = failoverGap === undefined ? {} : { failoverGap }
    const { segment, name } = await firsts(store, options)
    await segment()
    await world.backup()
    await firsts(store, { ...options, name })
    await world.failover()
    expect(await segment()).toBe(11n + gap)
    expect(await segment()).toBe(21n + gap)
    // Another process finds the record of this life.
    expect(await (await firsts(store, { ...options, name })).segment()).toBe(31n + gap)
    const skipped = { type: 'skipped', store: 'faulty', name, from: 11n, count: gap }
    expect(eventsOf(name)).toEqual(gap === 0n ? [] : [skipped])
  })

  it('skips as many numbers of a stride', async () => {
    const { store, world } = faultyStore()
    const { segment, name } = await firsts(store, { stride: 100, offset: 7, failoverGap: 30 })
    expect(await segment()).toBe(7n)
    await world.backup()
    await world.failover()
    expect(await segment()).toBe(7n + 100n * (10n + 30n))
    expect(eventsOf(name)).toMatchObject([{ type: 'skipped', from: 1007n, count: 30n }])
  })

  it.each(['read', 'write', 'incarnation'] as const)('between the start of a fetch and its %s', async (at) => {
    const { store, world } = faultyStore()
    const { segment, name } = await firsts(store, { failoverGap: 1000 })
    await segment()
    await world.backup()
    await firsts(store, { name })
    const from = world.calls.length
    let isDone = false
    world.before = async (call) => {
      const isAfterWrite = world.calls.slice(from).includes('write')
      if (isDone || call !== at || (at === 'incarnation' && !isAfterWrite)) return
      isDone = true
      await world.failover()
    }
    const first = await segment()
    expect(first).toBeGreaterThanOrEqual(1011n)
    expect(isDone).toBe(true)
    expect(await world.valueOf(name)).toMatchObject({ incarnation: 'life 2', next: String(first + 10n) })
    expect(eventsOf(name)).toMatchObject([{ type: 'skipped', count: 1000n }])
  })

  it('between a write that landed and its reply', async () => {
    const { store, world } = faultyStore()
    const { segment, name } = await firsts(store, { failoverGap: 1000 })
    await segment()
    await world.backup()
    let isDone = false
    world.after = async (call) => {
      if (call !== 'write' || isDone) return
      isDone = true
      await world.failover()
    }
    expect(await segment()).toBe(1011n)
    expect(await world.valueOf(name)).toMatchObject({ incarnation: 'life 2' })
  })

  it.each([true, false])('goes on above what this process knows, durable %s, with a gap', async (durable) => {
    const { store, world } = faultyStore(durable)
    const { segment, name } = await firsts(store, { failoverGap: 1000 })
    await segment()
    await world.backup()
    await segment()
    await segment()
    // The store is restored from a copy, and the incarnation does not change.
    await world.failover(false)
    expect(await segment()).toBe(1031n)
    expect(eventsOf(name)).toMatchObject([{ type: 'skipped', from: 31n, count: 1000n }])
    expect(await segment()).toBe(1041n)
  })

  it('has lost the record: a process that has read it goes on, and a new process begins at start', async () => {
    const { store, world } = faultyStore()
    const { segment, name } = await firsts(store, { failoverGap: 1000 })
    await segment()
    await world.failover()
    expect(await segment()).toBe(1011n)
    await world.failover()
    expect(await (await firsts(store, { name, start: 5000 })).segment()).toBe(5000n)
  })

  it('has no numbers left after the gap', async () => {
    const { store, world } = faultyStore()
    const { segment } = await firsts(store, { max: 500, failoverGap: 1000 })
    await segment()
    await world.backup()
    await world.failover()
    await expect(segment()).rejects.toMatchObject({ code: 'ERR_SEGMENT_OVERFLOW' })
  })
})

describe('a record of the name that belongs to no segments', () => {
  const record = { format: 1, kind: 'segments', name: 'n', next: '7', incarnation: '', attempt: 'a' }
  const json = (changes: object) => JSON.stringify({ ...record, ...changes })
  it.each([
    [
      'a counter',
      json({ kind: 'counter' }),
      'ERR_STATE_MISMATCH',
      /has kind 'counter' and name 'n', not kind 'segments'/,
    ],
    ['a lease', json({ kind: undefined, node: 3 }), 'ERR_STATE_MISMATCH', /has kind undefined/],
    ['another name', json({ name: 'm' }), 'ERR_STATE_MISMATCH', /'m'/],
    ['another version', json({ format: 2 }), 'ERR_STATE_MISMATCH', /format 2/],
    ['another program', 'hello', 'ERR_STATE_CORRUPT', /'hello' is no JSON/],
    ['half a record', json({}).slice(0, 30), 'ERR_STATE_CORRUPT', /no JSON/],
    ['no object', '7', 'ERR_STATE_CORRUPT', /has no format/],
    ['a next that is a number', json({ next: 7 }), 'ERR_STATE_CORRUPT', /its next is 7/],
    ['a next that is no number', json({ next: '07' }), 'ERR_STATE_CORRUPT', /its next is '07'/],
    ['a negative next', json({ next: '-7' }), 'ERR_STATE_CORRUPT', /its next is '-7'/],
    ['an empty next', json({ next: '' }), 'ERR_STATE_CORRUPT', /its next is ''/],
    ['a next of 1000 digits', json({ next: '9'.repeat(1000) }), 'ERR_STATE_CORRUPT', /its next is '9+/],
    ['no incarnation', json({ incarnation: undefined }), 'ERR_STATE_CORRUPT', /its incarnation/],
  ])('%s: it is refused by name, and not written over', async (_, value, code, message) => {
    const { store, world } = faultyStore(true)
    await world.put('n', value)
    const error = await firsts(store, { name: 'n' }).catch((reason) => reason)
    expect(error).toMatchObject({ name: 'GraupelError', code, message: expect.stringMatching(message) })
    expect(error.message).toContain('numbers/n')
    expect((await world.read('n'))?.value).toBe(value)
  })

  it('is found while numbers are made: the buffer lasts, then an error has its error as the cause', async () => {
    const { store, world } = faultyStore()
    const name = freshName()
    const numbers = await createSegmentGenerator({ store, name, step: 10, callTimeoutMs: 50 })
    await world.put(name, json({ kind: 'counter', name }))
    expect(numbers.take(10)).toHaveLength(10)
    await expect(numbers.nextAsync()).rejects.toMatchObject({
      code: 'ERR_EMPTY',
      cause: { code: 'ERR_STATE_MISMATCH' },
    })
    expect(caught(() => numbers.next()).cause).toMatchObject({ code: 'ERR_STATE_MISMATCH' })
    const failed = { type: 'failed', store: 'faulty', name, error: { code: 'ERR_STATE_MISMATCH' } }
    expect(eventsOf(name)[0]).toMatchObject(failed)
    numbers.close()
  })

  it.each([
    ['nothing for its incarnation', { incarnation: async () => '' }, 'ERR_STORE_INVALID'],
    ['no record', { read: async () => 'hello' as never }, 'ERR_STORE_INVALID'],
    ['an error of a write', { write: () => Promise.reject(reset) }, 'ERR_STORE_UNAVAILABLE'],
    ['nothing at all', { read: () => new Promise<never>(() => {}) }, 'ERR_STORE_UNAVAILABLE'],
  ])('is had of a store that answers %s: the creation rejects', async (_, changes, code) => {
    const { store } = faultyStore()
    await expect(firsts({ ...store, ...changes }, { callTimeoutMs: 20 })).rejects.toMatchObject({ code })
  })
})

describe('a store that never shows whether a write landed', () => {
  it.each<[string, boolean, () => Partial<Store>]>([
    ['whose versions change with each read', true, changingVersions],
    ['whose incarnation changes with each call', false, () => ({ incarnation: async () => `life ${++count}` })],
  ])('ends the creation if it is a store %s', async (_, durable, changes) => {
    const store = { ...memoryStore(), durable, ...changes() }
    const name = freshName()
    await store.write(`numbers/${name}`, recordOf(name), undefined)
    const error = await createSegmentGenerator({ store, name, callTimeoutMs: 10 }).catch((reason) => reason)
    expect(error).toMatchObject({ code: 'ERR_STORE_UNAVAILABLE', message: expect.stringContaining('within 100 ms') })
  })
})

function changingVersions(): Partial<Store> {
  const { read, write } = memoryStore()
  return {
    write,
    async read(key) {
      const entry = await read(key)
      return entry && { ...entry, version: `version ${++count}` }
    },
  }
}

function recordOf(name: string): string {
  return JSON.stringify({ format: 1, kind: 'segments', name, next: '1', incarnation: '', attempt: 'first' })
}
