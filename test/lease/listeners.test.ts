import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { readFileSync } from 'node:fs'
import type { LeaseEvent } from 'graupel'
import { acquireLease, type Lease } from 'graupel/lease'
import { memoryStore } from 'graupel/stores'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { Listeners } from '../../src/lease/listeners.js'
import { freshNamespace } from '../support/engines.js'
import { until } from '../support/until.js'
import { leaseWith } from './leases.js'

let lease: Lease
const warnings: (Error & { code?: string })[] = []
const warned = (warning: Error) => void warnings.push(warning)

beforeEach(async () => {
  warnings.length = 0
  process.on('warning', warned)
  lease = await acquireLease({ store: memoryStore(), namespace: freshNamespace() })
})
afterEach(async () => {
  await lease.release()
  process.off('warning', warned)
})

it('a listener gets the events of its type, as tools get them by the channel', async () => {
  const [moved, parked, all]: LeaseEvent[][] = [[], [], []]
  const hear = (message: unknown) => {
    if ((message as LeaseEvent).namespace === lease.namespace) all?.push(message as LeaseEvent)
  }
  subscribe('graupel:lease', hear)
  lease.on('moved', (event) => moved?.push(event))
  lease.on('parked', (event) => parked?.push(event))
  await lease.resume()
  await lease.park()
  await lease.resume()
  unsubscribe('graupel:lease', hear)
  expect(moved?.map(({ node }) => node)).toEqual([expect.any(Number), lease.node])
  expect(moved).toEqual(all?.filter(({ type }) => type === 'moved'))
  expect(parked).toEqual(all?.filter(({ type }) => type === 'parked'))
})

it('a listener ends by the function that on() returned, also within an event', async () => {
  const heard: string[] = []
  const end = lease.on('moved', () => {
    heard.push('first')
    end()
    endSecond()
  })
  const endSecond = lease.on('moved', () => heard.push('second'))
  const same = () => heard.push('same')
  const endSame = lease.on('moved', same)
  lease.on('moved', same)
  await lease.resume()
  endSame()
  endSame()
  await lease.resume()
  // The second listener had its event already, when the first listener ended it.
  expect(heard).toEqual(['first', 'second', 'same', 'same', 'same'])
})

it('the event of the release is the last one that listeners get', async () => {
  const heard: string[] = []
  lease.on('released', ({ type }) => heard.push(type))
  await lease.release()
  lease.on('released', () => heard.push('too late'))()
  await lease.release()
  expect(heard).toEqual(['released'])
})

it.each(['released', 'ended'] as const)('no listener is kept after the event %s', (last) => {
  const listeners = new Listeners()
  const event = { store: 'memory', layout: 'twitter', namespace: '' } as const
  listeners.add('moved', () => {})
  listeners.add(last, () => {})
  listeners.tell({ ...event, type: 'moved' })
  expect([listeners.has('moved'), listeners.has(last)]).toEqual([true, true])
  listeners.tell({ ...event, type: last })
  listeners.add('late', () => {})
  expect(['moved', last, 'late'].filter((type) => listeners.has(type as 'moved'))).toEqual([])
})

it('a listener that throws or rejects disturbs neither the lease nor other listeners, and is warned of', async () => {
  const heard: string[] = []
  lease.on('moved', () => {
    throw new Error('my bug')
  })
  lease.on('moved', async () => Promise.reject(new Error('my other bug')))
  lease.on('moved', ({ type }) => heard.push(type))
  await lease.resume()
  await until(() => warnings.length === 2)
  expect(heard).toEqual(['moved'])
  expect(warnings.map(({ code, message }) => [code, message])).toEqual(
    ['my bug', 'my other bug'].map((reason) => [
      'GRAUPEL_LEASE_LISTENER',
      `a listener of lease.on('moved') has failed: ${reason}; the lease goes on; catch the error in the listener`,
    ]),
  )
})

it('a listener may release the lease', async () => {
  let isReleased = false
  lease.on('moved', async () => {
    await lease.release()
    isReleased = true
  })
  await lease.resume()
  await until(() => isReleased)
  expect(lease.signal.aborted).toBe(true)
})

it('a listener of moves learns the place of the records', async () => {
  const store = { ...memoryStore(), place: async () => 'server a:1' }
  const placed = await acquireLease({ store, namespace: freshNamespace() })
  const places: unknown[] = []
  placed.on('moved', ({ place }) => places.push(place))
  await placed.resume()
  await placed.release()
  expect(places).toEqual(['server a:1'])
})

it('on() refuses another type and another listener', () => {
  const on = lease.on.bind(lease) as (type: unknown, listener: unknown) => () => void
  for (const type of ['acquired', 'move', undefined, '__proto__']) {
    expect(() => on(type, () => {})).toThrow(
      expect.objectContaining({
        name: 'TypeError',
        code: 'ERR_OPTION_INVALID',
        option: 'type',
        message: expect.stringMatching(/^type is .*; pass one of waiting, standby, .*, ended$/),
      }),
    )
  }
  expect(() => on('moved', undefined)).toThrow(
    expect.objectContaining({ code: 'ERR_OPTION_INVALID', message: 'listener is undefined; pass a function' }),
  )
})

it('on() takes every type of the events but the first', () => {
  const declared = /\n {2}type:\n((?: {4}\| '\w+'\n)+)/.exec(readFileSync('src/platform/events.ts', 'utf8'))?.[1]
  const types = [...(declared ?? '').matchAll(/'(\w+)'/g)].map(([, type]) => type)
  expect(types).toHaveLength(12)
  for (const type of types) if (type !== 'acquired') lease.on(type as 'moved', () => {})()
})

it('a listener of the signal that releases once more waits for the store, and so may end its pool', async () => {
  const said: string[] = []
  const inner = memoryStore()
  const write = async (...words: Parameters<typeof inner.write>) => {
    const version = await inner.write(...words)
    await new Promise((resolve) => setTimeout(resolve, 50))
    said.push('written')
    return version
  }
  const own = await acquireLease({ store: { ...inner, write }, namespace: freshNamespace() })
  said.length = 0
  own.on('released', () => said.push('event'))
  let inListener: Promise<void> | undefined
  own.signal.addEventListener('abort', () => {
    inListener = own.release().then(() => void said.push('released'))
  })
  await own.release()
  await inListener
  expect(said).toEqual(['written', 'event', 'released'])
})

it('release() in a listener does not reject for a park() that the store has not heard, whose event has the error', async () => {
  const { lease: own, outage } = await leaseWith()
  const parked: LeaseEvent[] = []
  own.on('parked', (event) => parked.push(event))
  let inListener: Promise<void> | undefined
  own.signal.addEventListener('abort', () => {
    inListener = own.release()
  })
  outage.error = new Error('away')
  await expect(own.park()).rejects.toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
  expect(parked).toEqual([
    expect.objectContaining({ error: expect.objectContaining({ code: 'ERR_STORE_UNAVAILABLE' }) }),
  ])
  delete outage.error
  await own.release()
  await inListener
})
