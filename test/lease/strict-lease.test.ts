import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { platform } from '#platform'
import { createGenerator } from '../../src/generator/create.js'
import { defineLayout } from '../../src/layout/index.js'
import { acquireLease, type Lease } from '../../src/lease/lease.js'
import type { LeaseEvent } from '../../src/platform/events.js'
import { memoryStore } from '../../src/stores/memory-store.js'
import type { Store } from '../../src/stores/store.js'
import { freshNamespace } from '../support/engines.ts'
import { virtualPlatform } from './virtual-platform.ts'

// Leases of a strict group in virtual time. They differ by their owners.

const time = virtualPlatform()
/** By how much the wall clocks of all hosts and of the store are ahead. */
let aheadMs = 0
beforeEach(() => {
  aheadMs = 0
  vi.spyOn(platform, 'wallMs').mockImplementation(() => Date.UTC(2026, 0) + time.monotonicMs() + aheadMs)
})
const windowMs = 2000

/** A group of leases on one store, which may be away for a lease. @param answerMs - How late answers come. */
function group(answerMs = 0) {
  const inner = memoryStore()
  const namespace = freshNamespace()
  const lease = (owner: string, outage = { isAway: false, storeAheadMs: 0 }): Promise<Lease> => {
    const guarded =
      <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
      async (...args: A) => {
        if (outage.isAway) throw new Error('away')
        const answer = await call(...args)
        if (answerMs > 0) await time.sleep(answerMs)
        return answer
      }
    const { read, list, write } = inner
    const store: Store = {
      ...inner,
      ...{ read: guarded(read), list: guarded(list), write: guarded(write) },
      nowMs: guarded(async () => platform.wallMs() + outage.storeAheadMs),
    }
    const acquireTimeoutMs = Number.MAX_SAFE_INTEGER
    return acquireLease({
      store,
      namespace,
      node: 0,
      strict: true,
      windowMs,
      acquireTimeoutMs,
      owner,
    }) as Promise<Lease>
  }
  return { lease, namespace }
}

it('a lease has a term only if it is strict', async () => {
  const { lease } = group()
  const strict = await lease('a')
  expect(strict.term?.isOver).toBe(false)
  expect(strict.term?.remainingMs).toBe(windowMs * 0.99)
  await strict.release()
  const usual = await acquireLease({ store: memoryStore(), namespace: freshNamespace() })
  expect(usual.term).toBeUndefined()
  await usual.release()
})

it('a renewal prolongs the term, and a store that is away ends it', async () => {
  const { lease } = group()
  const outage = { isAway: false, storeAheadMs: 0 }
  const held = await lease('a', outage)
  const { term } = held
  await time.until(time.sleep(10_000))
  expect(held.term).toBe(term)
  expect(term?.remainingMs).toBeGreaterThan(windowMs / 2)
  outage.isAway = true
  await time.until(time.sleep(windowMs))
  expect(term?.isOver).toBe(true)
  outage.isAway = false
  await time.until(held.release())
})

it('a term begins before the store is called, and not when it answers', async () => {
  const { lease } = group(200)
  const held = await time.until(lease('a'))
  let [longestMs, { renewals }] = [held.term?.remainingMs ?? 0, held.stats()]
  while (held.stats().renewals === renewals) await time.until(time.sleep(1))
  longestMs = Math.max(longestMs, held.term?.remainingMs ?? 0)
  // The clock of the store is read, and then the record is written.
  expect(longestMs).toBeLessThanOrEqual(windowMs * 0.99 - 2 * 200)
  expect(longestMs).toBeGreaterThan(0)
  await time.until(held.release())
})

it('release() and park() end the term before they call the store', async () => {
  const { lease } = group()
  const held = await lease('a')
  const { term } = held
  const parked = held.park()
  expect([term?.isOver, held.term]).toEqual([true, undefined])
  await time.until(parked)
  await time.until(held.resume())
  const next = held.term
  expect([next?.isOver, next === term]).toEqual([false, false])
  const released = held.release()
  expect([next?.isOver, held.term]).toEqual([true, undefined])
  await time.until(released)
})

it.each([
  ['are right', 0],
  ['go ahead by an hour', 3_600_000],
])(
  'a standby takes the node after the term of the holder, if the clocks of the store and the hosts %s',
  async (_, ms) => {
    const { lease } = group()
    const outage = { isAway: false, storeAheadMs: 0 }
    const held = await lease('a', outage)
    const term = held.term
    let taken: Lease | undefined
    const standby = lease('b').then((other) => {
      taken = other
    })
    await time.until(time.sleep(5000))
    expect(taken).toBeUndefined()
    aheadMs = ms
    outage.isAway = true
    const startMs = time.monotonicMs()
    while (taken === undefined && time.monotonicMs() - startMs < 10_000) await time.until(time.sleep(1))
    expect(term?.isOver).toBe(true)
    // The last renewal was sent up to a third of a window before.
    expect(time.monotonicMs() - startMs).toBeGreaterThan(windowMs * (0.99 - 1 / 3))
    expect(time.monotonicMs() - startMs).toBeLessThan(3000)
    await standby
  },
)

it('a standby takes a node that was released within a quarter of a second', async () => {
  const { lease } = group()
  let held = await lease('a')
  for (let round = 0; round < 10; round++) {
    const standby = lease(`${round}`)
    await time.until(time.sleep(5000))
    const startMs = time.monotonicMs()
    await time.until(held.release())
    held = await time.until(standby)
    expect(time.monotonicMs() - startMs).toBeLessThanOrEqual(250)
    expect(held.node).toBe(0)
  }
  await time.until(held.release())
})

it('a standby publishes each holder once', async () => {
  const { lease, namespace } = group()
  const holders: unknown[] = []
  const listen = (event: unknown) => {
    const { type, holder, ...rest } = event as LeaseEvent
    if (rest.namespace === namespace && type === 'standby') holders.push(holder)
  }
  subscribe('graupel:lease', listen)
  const first = await lease('http://a')
  const second = lease('http://b')
  const third = lease('http://c')
  await time.until(time.sleep(3000))
  expect(holders).toEqual(['http://a', 'http://a'])
  await time.until(first.release())
  const next = await time.until(Promise.race([second, third]))
  await time.until(time.sleep(1000))
  expect(holders).toHaveLength(3)
  expect(['http://b', 'http://c']).toContain(holders[2])
  await time.until(next.release())
  await time.until(Promise.all([second, third]))
  unsubscribe('graupel:lease', listen)
})

it('is refused on a store that may forget', async () => {
  const forgetful: Store = { ...memoryStore(), durable: false, incarnation: async () => 'a', nowMs: async () => 0 }
  await expect(acquireLease({ store: forgetful, strict: true })).rejects.toMatchObject({
    name: 'TypeError',
    code: 'ERR_OPTION_INVALID',
    option: 'strict',
  })
})

describe('it is refused for a layout whose later ids may be smaller:', () => {
  const sequence = ['sequence', 16] as const
  const timestamp = ['timestamp', 41] as const
  const shard = ['shard', 6, 'tag?'] as const

  it.each([
    ['one that begins with the sequence', [sequence, timestamp], /begin with the sequence/],
    ['a tag above the sequence', [timestamp, shard, sequence], /the tag 'shard' of layout 'own' is above its sequence/],
  ] as const)('%s', async (_, fields, message) => {
    const own = defineLayout({ name: 'own', epochMs: 0, tickMs: 1, fields: [...fields] })
    const lease = acquireLease({ store: memoryStore(), layout: own, strict: true })
    const error = await time.until(lease.catch((reason) => reason))
    expect(error).toMatchObject({ name: 'RangeError', code: 'ERR_OPTION_INVALID', option: 'layout' })
    expect(error.message).toMatch(message)
  })

  it('tags below the sequence are taken', async () => {
    const own = defineLayout({ name: 'own', epochMs: 0, tickMs: 1, fields: [timestamp, sequence, shard] })
    const lease = await time.until(acquireLease({ store: memoryStore(), layout: own, strict: true }))
    await time.until(lease.release())
  })
})

it('a generator from before the lease acquired its node anew may hand out older ids, and one from after it does not', async () => {
  const { lease } = group()
  const outage = { isAway: false, storeAheadMs: 0 }
  const held = await lease('a', outage)
  const before = createGenerator({ lease: held, engine: 'js', maxWaitMs: 0 })
  // A caller that needs many ids gets a run of slots.
  for (let i = 0; i < 1001; i++) before.next()
  const startMs = platform.wallMs()
  outage.isAway = true
  await time.until(time.sleep(10_000))
  outage.isAway = false
  const { acquisitions } = held.stats()
  while (acquisitions === held.stats().acquisitions) await time.until(time.sleep(1))
  const after = createGenerator({ lease: held, engine: 'js', maxWaitMs: 0, maxAheadMs: 60_000 })
  const floor = after.next()
  // The clock of the host is set back to the tick of the run.
  aheadMs = startMs - platform.wallMs()
  expect(before.next()).toBeLessThan(floor)
  expect(after.next()).toBeGreaterThan(floor)
  before.close()
  after.close()
  await time.until(held.release())
})

it('a holder whose clock is wrong renews no longer, and a standby takes the node', async () => {
  const { lease } = group()
  const clocks = { isAway: false, storeAheadMs: 0 }
  const holder = await lease('a', clocks)
  const standby = lease('b')
  clocks.storeAheadMs = -3_600_000
  await time.until(time.sleep(3 * windowMs))
  expect(holder.term === undefined || holder.term.isOver).toBe(true)
  expect((await time.until(standby)).term?.isOver).toBe(false)
})
