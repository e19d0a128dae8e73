import { expect, it, vi } from 'vitest'
import { platform } from '#platform'
import { createGenerator } from '../../src/generator/create.js'
import { acquireLease } from '../../src/lease/lease.js'
import { memoryStore } from '../../src/stores/memory-store.js'
import { read } from '../support/documents.ts'
import { freshNamespace } from '../support/engines.ts'
import { recordOf } from './leases.ts'
import { virtualPlatform } from './virtual-platform.ts'

// Proves "Without the store, ids continue for 4 to 6 s" of README.md and docs/leases.md, in virtual time.

const time = virtualPlatform()

/** A store whose calls fail while `state.isAway`. */
function unreliableStore() {
  /** `goesAwayForMs` is set: after the next write has landed, the store is away for so long. */
  const state = { isAway: false, goesAwayForMs: 0 }
  const inner = memoryStore()
  const guarded =
    <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
    async (...args: A) => {
      if (state.isAway) throw new Error('the store is away')
      return call(...args)
    }
  const { read, list } = inner
  const write: typeof inner.write = async (...words) => {
    const version = await inner.write(...words)
    if (state.goesAwayForMs === 0) return version
    state.isAway = true
    time.later(() => {
      state.isAway = false
    }, state.goesAwayForMs)
    state.goesAwayForMs = 0
    throw new Error('the answer is lost')
  }
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

/** A lease that has expired, and whose next write lands without an answer. It is failing afterwards. */
async function unanswered(options: object = {}) {
  const { state, store } = unreliableStore()
  const namespace = freshNamespace()
  const lease = await acquireLease({ store, namespace, windowMs: 60_000, ...options })
  state.isAway = true
  await time.sleep(70_000)
  const { failures } = lease.stats()
  state.goesAwayForMs = 5000
  state.isAway = false
  while (lease.stats().failures === failures || state.isAway) await time.sleep(1)
  return { lease, store, namespace }
}

it('after a write without an answer, ids go on with the next attempt', async () => {
  const waitedMs = async () => {
    const { lease } = await unanswered()
    const ids = createGenerator({ lease, engine: 'js', maxWaitMs: 120_000 })
    const startMs = time.monotonicMs()
    await ids.nextAsync()
    await lease.release()
    return time.monotonicMs() - startMs
  }
  expect(await time.until(waitedMs())).toBeLessThan(2000)
})

it.each(['release', 'park'] as const)('%s() gives back what a write without an answer has taken', async (call) => {
  const stolen = async () => {
    const { lease, store, namespace } = await unanswered({ node: 7 })
    await lease[call]()
    const other = await acquireLease({ store, namespace, node: 7, acquireTimeoutMs: 0, windowMs: 60_000 })
    const { node } = other.stats()
    await other.release()
    await lease.release()
    return node
  }
  expect(await time.until(stolen())).toBe(7)
})

/** A lease on an unreliable store. */
async function leaseWith(options: object) {
  const { state, store } = unreliableStore()
  const namespace = freshNamespace()
  const lease = await acquireLease({ store, namespace, ...options })
  const isReleased = async (node: number) => JSON.parse((await recordOf(store, namespace, node)).value).isReleased
  return { state, store, namespace, lease, isReleased }
}

/**
 * From the renewal after 20 s until after the ceiling of 60 s. If this renewal has landed, the record has a
 * ceiling of 80 s.
 */
const untilExpiredMs = 45_000

it.each(['release', 'park'] as const)(
  '%s() gives back a node whose renewal had no answer, although another acquisition has begun',
  async (call) => {
    const given = async () => {
      const { state, store, lease, isReleased } = await leaseWith({ node: 7, windowMs: 60_000 })
      state.goesAwayForMs = untilExpiredMs
      const { read } = store
      await new Promise<void>((resolve, reject) => {
        store.read = (...words) => {
          // The first call of an acquisition reads the record of the group.
          if (words[0].startsWith('groups/') && !state.isAway) {
            store.read = read
            lease[call]().then(resolve, reject)
          }
          return read(...words)
        }
      })
      const isGiven = await isReleased(7)
      await lease.release()
      return isGiven
    }
    expect(await time.until(given())).toBe(true)
  },
)

it('release() gives back the node of a renewal without an answer, and another node that was just taken', async () => {
  // Chooses the first node at first, and later the last.
  const random = vi.spyOn(platform, 'random').mockReturnValue(0)
  const given = async () => {
    const options = { nodes: [7, 8], owner: 'one', windowMs: 60_000 }
    const { state, store, namespace, lease, isReleased } = await leaseWith(options)
    await (await acquireLease({ store, namespace, ...options, nodes: [8, 8] })).release()
    state.goesAwayForMs = untilExpiredMs
    random.mockReturnValue(0.99)
    const { write } = store
    await new Promise<void>((resolve, reject) => {
      store.write = async (...words) => {
        const version = await write(...words)
        if (words[0].endsWith('/8') && version !== undefined) {
          store.write = write
          lease.release().then(resolve, reject)
        }
        return version
      }
    })
    return [await isReleased(7), await isReleased(8)]
  }
  expect(await time.until(given())).toEqual([true, true])
})

it('park() tells that a node that was just taken could not be given back, and release() tries again', async () => {
  const given = async () => {
    const { state, store, namespace, lease, isReleased } = await leaseWith({ node: 7 })
    await lease.park()
    // The floor of the next acquisition is half a second ahead of the clock, so it waits.
    const { key, value, version } = await recordOf(store, namespace, 7)
    const record = JSON.parse(value)
    await store.write(key, JSON.stringify({ ...record, ceiling: record.ceiling + 500 }), version)
    let parked: Promise<unknown> | undefined
    lease.on('waiting', () => {
      state.isAway = true
      parked = lease.park().catch((error) => error)
    })
    await expect(lease.resume()).rejects.toMatchObject({ code: 'ERR_LEASE_EXPIRED' })
    expect(await parked).toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
    state.isAway = false
    expect(await isReleased(7)).toBe(false)
    await lease.release()
    return isReleased(7)
  }
  expect(await time.until(given())).toBe(true)
})

it('a place that a store does not tell uses up no window', async () => {
  const made = async () => {
    const place = () => new Promise<string>(() => {})
    const store = { ...memoryStore(), place }
    const lease = await acquireLease({ store, namespace: freshNamespace(), windowMs: 1000 })
    const heard: unknown[] = []
    lease.on('moved', (event) => heard.push(event))
    const ids = createGenerator({ lease, engine: 'js' })
    ids.next()
    await lease.park()
    await lease.resume()
    ids.next()
    await lease.release()
    return heard
  }
  expect(await time.until(made())).toHaveLength(1)
})

it('a lease that is parked while the server is looked at says that it is parked, and does not wait', async () => {
  const parked = async (turns: number) => {
    let life = 'one'
    let looks = 0
    let calls = () => {}
    const store = { ...memoryStore(), durable: false, incarnation: async () => life }
    const nowMs = () => {
      const answer = Promise.resolve(platform.wallMs())
      let turn: Promise<unknown> = answer
      for (let i = 0; i < turns; i++) turn = turn.then(() => {})
      // The first look finds another life, the second writes its time, and the third waits.
      if (++looks === 3) turn.then(calls)
      return answer
    }
    const lease = await acquireLease({ store: { ...store, nowMs }, namespace: freshNamespace() })
    const ids = createGenerator({ lease, engine: 'js', maxWaitMs: 0 })
    await lease.park()
    life = 'two'
    looks = 0
    calls = () => void lease.park()
    await expect(lease.resume()).rejects.toMatchObject({ code: 'ERR_LEASE_EXPIRED' })
    await time.sleep(1000)
    expect(() => ids.next(), `${turns}`).toThrow('lease.resume()')
    await lease.release()
  }
  // In each turn of the promises between the answer and the wait.
  for (let turns = 0; turns < 12; turns++) await time.until(parked(turns))
})
