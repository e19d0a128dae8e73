import { expect, it, vi } from 'vitest'
import { platform } from '#platform'
import { createGenerator } from '../../src/generator/create.js'
import { acquireLease } from '../../src/lease/lease.js'
import { memoryStore } from '../../src/stores/memory-store.js'
import { read } from '../support/documents.ts'
import { freshNamespace } from '../support/engines.ts'
import { virtualPlatform } from './virtual-platform.ts'

// Proves "Without the store, ids continue for 4 to 6 s" of README.md and docs/leases.md, in virtual time.

const time = virtualPlatform()

/** A store whose calls fail while `state.isAway`. */
function unreliableStore() {
  const state = { isAway: false }
  const inner = memoryStore()
  const guarded =
    <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
    async (...args: A) => {
      if (state.isAway) throw new Error('the store is away')
      return call(...args)
    }
  const { read, list, write } = inner
  return { state, store: { ...inner, read: guarded(read), list: guarded(list), write: guarded(write) } }
}

/** Returns for how long ids are made if the store goes away this long after a renewal. */
async function madeWithoutStore(afterRenewalMs: number): Promise<number> {
  const { state, store } = unreliableStore()
  const lease = await acquireLease({ store, namespace: freshNamespace() })
  const ids = createGenerator({ lease, engine: 'js', maxWaitMs: 0 })
  const { renewals } = lease.stats()
  while (lease.stats().renewals === renewals) await time.sleep(1)
  await time.sleep(afterRenewalMs)
  state.isAway = true
  const startMs = time.monotonicMs()
  let madeMs = 0
  for (;;) {
    try {
      ids.next()
      madeMs = time.monotonicMs() - startMs
    } catch (error) {
      expect(error).toMatchObject({ code: 'ERR_LEASE_EXPIRED' })
      break
    }
    await time.sleep(1)
  }
  await time.sleep(60_000)
  expect(() => ids.next()).toThrow(expect.objectContaining({ code: 'ERR_LEASE_EXPIRED' }))
  state.isAway = false
  await time.sleep(1000)
  ids.next()
  await lease.release()
  return madeMs
}

it('without the store, ids continue for 4 to 6 s; after that, calls throw until the store answers', async () => {
  expect(read('README.md')).toContain('Without the store, ids continue for 4 to 6 s; after that, calls throw')
  const made: number[] = []
  // Over one default window, in which a lease is renewed three times.
  for (let afterMs = 0; afterMs < 6000; afterMs += 199) made.push(await time.until(madeWithoutStore(afterMs)))
  expect(made.every((ms) => ms > 4000 && ms <= 6000)).toBe(true)
  expect(made.map((ms) => Math.round(ms / 1000))).toEqual(expect.arrayContaining([4, 5, 6]))
})

/** Makes a generator whose lease has expired, because its store is away. */
async function expired(maxWaitMs: number) {
  const { state, store } = unreliableStore()
  const lease = await acquireLease({ store, namespace: freshNamespace() })
  const ids = createGenerator({ lease, engine: 'js', maxWaitMs })
  ids.next()
  state.isAway = true
  await time.sleep(7000)
  return { state, lease, ids }
}

it('calls that wait together for an expired lease are given up together, each after maxWaitMs', async () => {
  const made = async () => {
    const { state, lease, ids } = await expired(500)
    const waits: number[] = []
    const wait = async () => {
      const startMs = time.monotonicMs()
      await ids.nextAsync().catch((error) => expect(error).toMatchObject({ code: 'ERR_LEASE_EXPIRED' }))
      waits.push(time.monotonicMs() - startMs)
    }
    // Twenty at once, and one in each of the next ten pauses.
    const calls = Array.from({ length: 20 }, wait)
    for (let i = 0; i < 10; i++) {
      await time.sleep(100)
      calls.push(wait())
    }
    await Promise.all(calls)
    // Time that has passed before a call counts for none.
    await time.sleep(10_000)
    await wait()
    state.isAway = false
    await time.sleep(1000)
    ids.next()
    await lease.release()
    return waits
  }
  const waits = await time.until(made())
  expect(waits).toHaveLength(31)
  for (const ms of waits) expect(ms, waits.join()).toBeGreaterThanOrEqual(500)
  for (const ms of waits) expect(ms, waits.join()).toBeLessThanOrEqual(502)
})

it('a wait that has failed shortens no later wait: not that of a call before a pause of the process', async () => {
  let pausedMs = 0
  const now = () => time.monotonicMs() + pausedMs
  vi.spyOn(platform, 'wallMs').mockImplementation(() => Date.UTC(2026, 0) + now())
  vi.spyOn(platform, 'monotonicMs').mockImplementation(now)
  const made = async () => {
    const { state, lease, ids } = await expired(3000)
    await expect(ids.nextAsync()).rejects.toMatchObject({ code: 'ERR_LEASE_EXPIRED' })
    state.isAway = false
    await time.sleep(1000)
    ids.next()
    const filling = ids.fillAsync(new BigUint64Array(3))
    // Longer than the window, before the call has looked.
    pausedMs += 7000
    const filled = await filling
    await lease.release()
    return filled
  }
  expect(await time.until(made())).toHaveLength(3)
})
