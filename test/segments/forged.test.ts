import diagnostics from 'node:diagnostics_channel'
import { createSegmentGenerator, type LeafAllocStore, type SegmentHandle } from 'graupel/segments'
import { memoryStore } from 'graupel/stores'
import { afterEach, describe, expect, it } from 'vitest'
import { until } from '../support/until.js'

const ends: (() => void)[] = []
afterEach(() => {
  for (const end of ends.splice(0)) end()
})

async function generator(more: object = {}) {
  const numbers = await createSegmentGenerator({ store: memoryStore(), name: 'orders', ...more })
  ends.push(() => numbers.close())
  return numbers
}

describe("a foreign message on a generator's channel", () => {
  it('is ignored', async () => {
    const numbers = await generator()
    const { handle } = numbers
    using same = await createSegmentGenerator({ handle })
    const channel = new BroadcastChannel(handle.channel)
    const heard = new BroadcastChannel(handle.channel)
    ends.push(
      () => channel.close(),
      () => heard.close(),
    )
    const last = new Promise((resolve) => {
      heard.onmessage = ({ data }) => data === 'last' && resolve(undefined)
    })
    const failure = { code: 'ERR_STORE_UNAVAILABLE', message: {} }
    const forged = [null, undefined, 5, [], {}, { type: 5 }, { type: 'news', failure: null }, { type: 'news', failure }]
    for (const message of [...forged, 'last']) channel.postMessage(message)
    await last
    expect(same.stats().failure).toBe('')
    expect([numbers.next(), same.next()]).toEqual([1n, 64n])
  })
})

describe('a handle', () => {
  it.each<[string, Partial<Record<keyof SegmentHandle, unknown>>]>([
    ['no stride', { stride: undefined }],
    ['half a number as stride', { stride: 1.5 }],
    ['a negative stride', { stride: -1 }],
    ['a number as max', { max: 5 }],
    ['a max beyond 64 bits', { max: 2n ** 64n }],
    ['no channel', { channel: undefined }],
    ['a symbol as channel', { channel: Symbol('channel') }],
    ['no name', { name: 5 }],
    ['no deadline', { callTimeoutMs: Number.NaN }],
    ['memory that is too large', { memory: new SharedArrayBuffer(4096) }],
    ['memory by its name alone', { memory: { [Symbol.toStringTag]: 'SharedArrayBuffer', byteLength: 104 } }],
  ])('is refused with %s', async (_, forged) => {
    const { handle } = await generator()
    const given = { ...handle, ...forged } as SegmentHandle
    const error = await createSegmentGenerator({ handle: given }).catch((reason) => reason)
    expect(error).toMatchObject({ name: 'TypeError', code: 'ERR_OPTION_INVALID' })
  })

  it('is accepted after structuredClone has copied it', async () => {
    const numbers = await generator()
    using same = await createSegmentGenerator({ handle: structuredClone(numbers.handle) })
    expect([same.next(), numbers.next()]).toEqual([1n, 64n])
  })
})

describe('a generator that a subscriber closes when a fetch has failed', () => {
  it('ends, and sends its threads nothing more', async () => {
    const rejected: unknown[] = []
    const note = (reason: unknown) => rejected.push(reason)
    process.on('unhandledRejection', note)
    ends.push(() => process.removeListener('unhandledRejection', note))
    const store = memoryStore()
    const { read } = store
    const numbers = await generator({ store, step: 1 })
    expect(numbers.handle.name).toBe('orders')
    let failures = 0
    const close = () => {
      failures++
      numbers.close()
    }
    diagnostics.subscribe('graupel:segments', close)
    ends.push(() => diagnostics.unsubscribe('graupel:segments', close))
    store.read = () => Promise.reject(new Error('away'))
    ends.push(() => Object.assign(store, { read }))
    numbers.next()
    await expect(numbers.nextAsync()).rejects.toMatchObject({ code: 'ERR_CLOSED' })
    await until(() => failures === 1)
    await new Promise(setImmediate)
    expect(rejected).toEqual([])
    await expect(numbers.nextAsync()).rejects.toMatchObject({ code: 'ERR_CLOSED' })
  })
})

describe('a table whose answer is no segment', () => {
  it.each<[string, unknown]>([
    ['nothing', null],
    ['no numbers', { first: 5n, count: 0 }],
    ['fewer than none', { first: 5n, count: -1 }],
    ['half a number', { first: 5n, count: 1.5 }],
    ['a number as the first', { first: 5, count: 10 }],
    ['a negative first', { first: -5n, count: 10 }],
    ['numbers beyond 63 bits', { first: 2n ** 63n - 1n, count: 2 }],
  ])('is refused: %s', async (_, answer) => {
    const store: LeafAllocStore = { name: 'leaf_alloc', takeSegment: async () => answer as never }
    const error = await createSegmentGenerator({ store, name: 'orders' }).catch((reason) => reason)
    expect(error).toMatchObject({ name: 'GraupelError', code: 'ERR_STORE_INVALID' })
  })
})
