import { fork } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { setImmediate as turn } from 'node:timers/promises'
import { createGenerator, defineLayout, layouts } from 'graupel'
import { acquireLease, type LeaseOptions } from 'graupel/lease'
import { memoryStore, type Store } from 'graupel/stores'
import { describe, expect, it } from 'vitest'
import { caught, freshNamespace } from '../support/engines.js'
import { until } from '../support/until.js'
import { layout, leaseWith, recordOf } from './leases.js'

const seconds = defineLayout({ ...layout, name: 'seconds', tickMs: 1000 })

/** The error with which a call rejects, and the records that are left in the store. */
async function refused(options: object, store: unknown = memoryStore(), inner = store) {
  const error = await acquireLease({ store, layout, namespace: freshNamespace(), ...options } as LeaseOptions).then(
    () => expect.fail('it was not refused'),
    (reason) => reason,
  )
  const left = (await memoryOf(inner)).filter(({ value }) => !JSON.parse(value).isReleased)
  return { type: error.name, code: error.code, message: error.message, left }
}

async function memoryOf(store: unknown) {
  const { list } = Object(store) as Store
  if (typeof list !== 'function') return []
  const groups = await list('groups/').catch(() => [])
  const all = await Promise.all(groups.map(({ key }) => list(`leases/${key.split('/')[1]}/0/`)))
  return all.flat()
}

describe('an option of acquireLease that is wrong', () => {
  it.each([
    ['an unknown name', { windowSeconds: 6 }, 'TypeError', 'ERR_OPTION_UNKNOWN'],
    ['windowMs 0', { windowMs: 0 }, 'RangeError', 'ERR_OPTION_INVALID'],
    ['windowMs NaN', { windowMs: Number.NaN }, 'RangeError', 'ERR_OPTION_INVALID'],
    ['windowMs beyond an hour', { windowMs: 3_600_001 }, 'RangeError', 'ERR_OPTION_INVALID'],
    ['windowMs as text', { windowMs: '6000' }, 'TypeError', 'ERR_OPTION_INVALID'],
    ['windowMs below three ticks', { layout: seconds, windowMs: 2999 }, 'RangeError', 'ERR_OPTION_INVALID'],
    ['acquireTimeoutMs below 0', { acquireTimeoutMs: -1 }, 'RangeError', 'ERR_OPTION_INVALID'],
    ['callTimeoutMs 0', { callTimeoutMs: 0 }, 'RangeError', 'ERR_OPTION_INVALID'],
    ['maxClockSkewMs infinite', { maxClockSkewMs: Number.POSITIVE_INFINITY }, 'RangeError', 'ERR_OPTION_INVALID'],
    ['strict as a number', { strict: 1 }, 'TypeError', 'ERR_OPTION_INVALID'],
    [
      'strict with a window below twice the skew',
      { strict: true, windowMs: 1999, maxClockSkewMs: 1000 },
      'RangeError',
      'ERR_OPTION_INVALID',
    ],
    ['an empty owner', { owner: '' }, 'RangeError', 'ERR_OPTION_INVALID'],
    ['an owner that is no text', { owner: 7 }, 'TypeError', 'ERR_OPTION_INVALID'],
    ['an empty namespace', { namespace: '' }, 'RangeError', 'ERR_OPTION_INVALID'],
    ['a signal that is none', { signal: true }, 'TypeError', 'ERR_OPTION_INVALID'],
    ['a signal that is another target of events', { signal: new EventTarget() }, 'TypeError', 'ERR_OPTION_INVALID'],
    ['a layout that is none', { layout: { name: 'forged' } }, 'TypeError', 'ERR_LAYOUT_INVALID'],
    ['a layout for reading ids', { layout: layouts.mastodon }, 'RangeError', 'ERR_LAYOUT_DECODE_ONLY'],
    ['an epoch in the future', { epoch: Date.now() + 1e6 }, 'GraupelError', 'ERR_CLOCK_BEFORE_EPOCH'],
    ['a field that does not exist', { node: { datacentre: 1 } }, 'TypeError', 'ERR_NODE_INVALID'],
    ['a field that does not fit', { node: { worker: 2 } }, 'RangeError', 'ERR_NODE_INVALID'],
    ['a field that is no number', { node: { worker: '1' } }, 'TypeError', 'ERR_NODE_INVALID'],
    ['a node that does not fit', { node: 2 }, 'RangeError', 'ERR_NODE_INVALID'],
    ['a range backwards', { nodes: [1, 0] }, 'RangeError', 'ERR_OPTION_INVALID'],
    ['a range beyond the layout', { nodes: [0, 2] }, 'RangeError', 'ERR_OPTION_INVALID'],
    ['a range of one number', { nodes: [0] }, 'TypeError', 'ERR_OPTION_INVALID'],
    ['a range without the fixed node', { nodes: [0, 0], node: { worker: 1 } }, 'RangeError', 'ERR_OPTION_INVALID'],
  ])('%s is refused, and nothing is left in the store', async (_, options, type, code) => {
    expect(await refused(options)).toMatchObject({ type, code, left: [] })
  })

  it.each<[string, unknown, string]>([
    ['nothing', null, 'ERR_OPTION_INVALID'],
    ['a client', { get() {}, set() {} }, 'ERR_OPTION_INVALID'],
    ['a store without write', { ...memoryStore(), write: undefined }, 'ERR_OPTION_INVALID'],
    ['a store that may forget and has no incarnation', { ...memoryStore(), durable: false }, 'ERR_OPTION_INVALID'],
    [
      'a store that may forget and has no clock',
      { ...memoryStore(), durable: false, incarnation: async () => 'a', nowMs: undefined },
      'ERR_OPTION_INVALID',
    ],
  ])('%s is no store', async (_, store, code) => {
    expect(await refused({}, store)).toMatchObject({ type: 'TypeError', code })
  })

  it('a window that a store may forget is refused', async () => {
    const store = { ...memoryStore(), durable: false, incarnation: async () => 'a' }
    expect(await refused({ windowMs: 10_001 }, store)).toMatchObject({ type: 'RangeError', code: 'ERR_OPTION_INVALID' })
  })
})

describe('a store that does not do its part', () => {
  const never = () => new Promise<never>(() => {})
  it.each<[string, Partial<Store>, string]>([
    ['throws at once', { read: () => expect.fail('no connection') }, 'ERR_STORE_UNAVAILABLE'],
    ['rejects with nothing', { read: () => Promise.reject() }, 'ERR_STORE_UNAVAILABLE'],
    ['never answers', { nowMs: never }, 'ERR_STORE_UNAVAILABLE'],
    ['never answers a write', { write: never }, 'ERR_STORE_UNAVAILABLE'],
    ['answers nonsense', { list: async () => 'nothing' as never }, 'ERR_STORE_INVALID'],
    ['answers a write with what is no version', { write: async () => true as never }, 'ERR_STORE_INVALID'],
    ['has a clock of nonsense', { nowMs: async () => Number.NaN }, 'ERR_STORE_INVALID'],
    ['has a clock an hour ahead', { nowMs: async () => Date.now() + 3_600_000 }, 'ERR_CLOCK_SKEW'],
    ['has a clock an hour behind', { nowMs: async () => Date.now() - 3_600_000 }, 'ERR_CLOCK_SKEW'],
  ])('%s: the call rejects, and nothing is left', async (_, changes, code) => {
    const inner = memoryStore()
    expect(await refused({ callTimeoutMs: 20 }, { ...inner, ...changes }, inner)).toMatchObject({
      type: 'GraupelError',
      code,
      left: [],
    })
  })

  it.each([
    [
      'another version of the package',
      (record: object) => JSON.stringify({ ...record, format: 2 }),
      'ERR_STATE_MISMATCH',
    ],
    ['another program', () => 'hello', 'ERR_STATE_CORRUPT'],
    ['a disk that has lost a half', (_: object, text: string) => text.slice(0, 40), 'ERR_STATE_CORRUPT'],
    ['other ids', (record: object) => JSON.stringify({ ...record, ids: 'others' }), 'ERR_STATE_MISMATCH'],
    [
      'an operator who has made a text of a number',
      (record: object) => JSON.stringify({ ...record, ceiling: '12' }),
      'ERR_STATE_CORRUPT',
    ],
    ['a floor below 0', (record: object) => JSON.stringify({ ...record, floor: -2 }), 'ERR_STATE_CORRUPT'],
    ['a ceiling below its floor', (record: object) => JSON.stringify({ ...record, ceiling: 3 }), 'ERR_STATE_CORRUPT'],
    [
      'a time that is none',
      (record: object) => JSON.stringify({ ...record, ceiling: 2 ** 53 - 1 }),
      'ERR_STATE_CORRUPT',
    ],
  ])('has a record of %s: it is refused by name, and never written over', async (_, damage, code) => {
    const { lease, inner, namespace } = await leaseWith()
    await lease.release()
    const { key, value, version } = await recordOf(inner, namespace, lease.node)
    const damaged = damage(JSON.parse(value), value)
    await inner.write(key, damaged, version)
    const error = await acquireLease({ store: inner, layout, namespace, acquireTimeoutMs: 0 }).catch((reason) => reason)
    expect(error).toMatchObject({ code, message: expect.stringContaining(key) })
    expect((await inner.read(key))?.value).toBe(damaged)
  })
})

describe('waiting for a node', () => {
  it('ends with an error that names how many, who, and when', async () => {
    const first = await leaseWith({ owner: 'first' })
    const second = await leaseWith({ store: first.inner, namespace: first.namespace, owner: 'second' })
    const { message } = await refused({ namespace: first.namespace, acquireTimeoutMs: 60 }, first.inner)
    expect(message).toMatch(/^every node .*: 2 of .* by (first, second|second, first); .*free at \d{4}-/)
    await first.lease.release()
    await second.lease.release()
  })

  it('ends in time, and without haste, if the list of the store does not show the holder', async () => {
    const { lease, inner, namespace } = await leaseWith({ node: 1 })
    let lists = 0
    const list = async () => {
      if (++lists > 1000) throw new Error('it asks all the time')
      return []
    }
    const acquired = acquireLease({ store: { ...inner, list }, layout, namespace, node: 1, acquireTimeoutMs: 20 })
    await expect(acquired).rejects.toMatchObject({ code: 'ERR_NODES_EXHAUSTED' })
    expect(lists).toBeLessThan(100)
    await lease.release()
  })

  it('ends when a node is given back', async () => {
    const { lease, inner, namespace } = await leaseWith({ node: 1 })
    let lists = 0
    const list = (prefix: string, signal?: AbortSignal) => {
      lists++
      return inner.list(prefix, signal)
    }
    const waiting = acquireLease({ store: { ...inner, list }, layout, namespace, node: 1 })
    await until(() => lists > 1)
    await lease.release()
    await using next = await waiting
    expect(next.node).toBe(1)
  })

  it('is cancelled by a signal, and nothing is left', async () => {
    const { lease, inner, namespace } = await leaseWith({ node: 1 })
    const cancel = new AbortController()
    const waiting = acquireLease({ store: inner, layout, namespace, node: 1, signal: cancel.signal })
    cancel.abort(new Error('enough'))
    await expect(waiting).rejects.toThrow('enough')
    const aborted = acquireLease({ store: inner, layout, namespace, signal: AbortSignal.abort(new Error('before')) })
    await expect(aborted).rejects.toThrow('before')
    await lease.release()
    expect((await memoryOf(inner)).map(({ value }) => JSON.parse(value).isReleased)).toEqual([true])
  })

  it('gives back what had landed when the signal came', async () => {
    const inner = memoryStore()
    const cancel = new AbortController()
    const store: Store = {
      ...inner,
      async write(key, value, expected) {
        const version = await inner.write(key, value, expected)
        if (key.startsWith('leases/') && !cancel.signal.aborted) {
          cancel.abort(new Error('enough'))
          // The call that was aborted has its turn before the store answers.
          await turn()
        }
        return version
      },
    }
    const { message, left } = await refused({ signal: cancel.signal }, store)
    expect({ message, left }).toEqual({ message: 'enough', left: [] })
  })

  it('is cancelled while the store tells the place of the record, which only listeners of events ask for', async () => {
    const cancel = new AbortController()
    const listener = () => {}
    subscribe('graupel:lease', listener)
    const store: Store = {
      ...memoryStore(),
      async place() {
        cancel.abort(new Error('enough'))
        await turn()
        return 'here'
      },
    }
    const { message, left } = await refused({ signal: cancel.signal }, store)
    unsubscribe('graupel:lease', listener)
    expect({ message, left }).toEqual({ message: 'enough', left: [] })
  })
})

describe('the option lease of createGenerator', () => {
  it('decides node, layout, epoch, namespace, state and its reserve, so none of them may stand beside it', async () => {
    const { lease } = await leaseWith()
    const beside = { node: 1, layout, epoch: 0, namespace: 'a', state: 'process', reserveMs: 900, clock: Date.now }
    for (const [name, value] of Object.entries(beside)) {
      const error = caught(() => createGenerator({ lease, [name]: value } as never))
      expect(error).toMatchObject({ name: 'TypeError', code: 'ERR_OPTION_INVALID' })
      expect(error.message).toContain(name)
    }
    expect(createGenerator({ lease, clock: 'steady' }).next()).toBeGreaterThan(0n)
    await lease.release()
  })

  it.each([
    ['nothing', null],
    ['a node', 7],
    ['the options of a lease', { store: memoryStore() }],
    ['a forged handle', { format: 'graupel lease 2' }],
  ])('is refused where it is %s', (_, lease) => {
    expect(caught(() => createGenerator({ lease } as never))).toMatchObject({ code: 'ERR_OPTION_INVALID' })
  })

  it('is refused if it comes from another process', async () => {
    const { lease } = await leaseWith()
    const sent = JSON.parse(JSON.stringify(lease.handle))
    expect(caught(() => createGenerator({ lease: sent }))).toMatchObject({ code: 'ERR_OPTION_INVALID' })
    const copy = structuredClone({ ...lease.handle, memory: new ArrayBuffer(4096) })
    expect(caught(() => createGenerator({ lease: copy }))).toMatchObject({ code: 'ERR_OPTION_INVALID' })
    // Memory that threads share cannot be sent to a process at all.
    const child = fork('-e', ['0'], { serialization: 'advanced', execArgv: ['-e', '0'] })
    expect(() => child.send(lease.handle)).toThrow()
    child.kill()
    await lease.release()
  })
})
