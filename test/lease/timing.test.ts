import { subscribe } from 'node:diagnostics_channel'
import { inspect } from 'node:util'
import type { LeaseEvent } from 'graupel'
import { expect, it, vi } from 'vitest'
import { platform } from '#platform'
import { acquireLease } from '../../src/lease/lease.js'
import { memoryStore } from '../../src/stores/memory-store.js'
import { freshNamespace } from '../support/engines.ts'
import { randomFrom } from '../support/random.ts'
import { layout } from './leases.ts'
import { virtualPlatform } from './virtual-platform.ts'

// Properties of leases that depend on time, in virtual time: a busy machine changes nothing.

const time = virtualPlatform()
const events: LeaseEvent[] = []
subscribe('graupel:lease', (event) => void events.push(event as LeaseEvent))
const typesOf = (namespace: string) => events.filter((event) => event.namespace === namespace).map(({ type }) => type)

/** A store whose calls wait for `takes`, and whose clock is the virtual time. */
function slowStore(takes: () => Promise<unknown>) {
  const inner = memoryStore()
  const slow =
    <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
    async (...args: A) => {
      await takes()
      const result = await call(...args)
      await takes()
      return result
    }
  const nowMs = slow(async () => platform.wallMs())
  return { ...inner, read: slow(inner.read), list: slow(inner.list), write: slow(inner.write), nowMs }
}

it('a renewal that is late is published', async () => {
  const windowMs = 1500
  let answersAtMs = 0
  const store = slowStore(() => time.sleep(Math.max(0, answersAtMs - platform.wallMs())))
  const namespace = freshNamespace()
  const run = async () => {
    const lease = await acquireLease({ store, namespace, windowMs })
    answersAtMs = lease.stats().renewedMs + windowMs * 0.7
    while (lease.stats().renewals === 0) await time.sleep(1)
    const types = typesOf(namespace)
    await lease.release()
    return types
  }
  expect(await time.until(run())).toEqual(['acquired', 'late'])
})

it('a lease shows layout, node, state and the time until which it holds', async () => {
  let isAway = false
  const store = slowStore(async () => {
    if (isAway) throw new Error('connection refused')
  })
  const namespace = freshNamespace()
  const run = async () => {
    const lease = await acquireLease({ store, namespace, layout, windowMs: 300, node: 1 })
    const shown = () => {
      const { layout, node, state, until } = JSON.parse(JSON.stringify(lease))
      expect(until).toBe(new Date(lease.stats().ceilingMs).toISOString())
      return `${layout} ${node} ${state}`
    }
    expect(shown()).toBe('pair 1 held')
    expect(inspect(lease, { breakLength: Infinity })).toMatch(
      /^Lease \{ layout: 'pair', node: 1, state: 'held', until: \d{4}-[-\d]+T[:.\d]+Z \}$/,
    )
    isAway = true
    await time.sleep(301)
    expect(shown()).toBe('pair 1 expired')
    await time.sleep(1000)
    isAway = false
    await time.sleep(3000)
    expect(typesOf(namespace).filter((type) => type !== 'late')).toEqual([
      'acquired',
      'unreachable',
      'expired',
      'moved',
    ])
    await lease.release()
    expect(shown()).toBe('pair 1 released')
  }
  await time.until(run())
})

// Calls of a second each take more writes, up to 4.1: more processes meet in a record, and the first renew.
it.each([1, 2, 3])(
  '64 processes that begin together take at most four writes each, by the choices of seed %i',
  async (seed) => {
    const random = randomFrom(seed)
    vi.spyOn(platform, 'random').mockImplementation(random)
    let writes = 0
    const inner = slowStore(() => time.sleep(random() * 20))
    const store = {
      ...inner,
      // The server may have forgotten leases, so each process also writes to prove its life.
      durable: false,
      incarnation: async () => 'the only life',
      write: (...words: Parameters<typeof inner.write>) => {
        writes++
        return inner.write(...words)
      },
    }
    const namespace = freshNamespace()
    const nodes = new Set<number>()
    let writesToAcquire = 0
    const run = async () => {
      const leases = await Promise.all(
        Array.from({ length: 64 }, async (_, i) => {
          const lease = await acquireLease({ store, namespace, owner: `process ${i}`, acquireTimeoutMs: 60_000 })
          nodes.add(lease.node)
          writesToAcquire = writes
          return lease
        }),
      )
      await Promise.all(leases.map((lease) => lease.release()))
    }
    await time.until(run())
    expect(nodes.size).toBe(64)
    expect(writesToAcquire / 64).toBeLessThanOrEqual(4)
  },
)
