import { createGenerator } from 'graupel'
import { acquireLease, type LeaseOptions } from 'graupel/lease'
import type { Store } from 'graupel/stores'
import { expect, it } from 'vitest'
import { freshNamespace } from '../support/engines.js'
import { duplicatesAmong, isAscending } from '../support/ids.js'
import { until } from '../support/until.js'
import { sixteenNodes as layout, recordOf, steal } from './leases.js'

/**
 * Tests leases on a store. They hold for every store.
 *
 * @param namespace - One for all suites on a server: on some, the first lease of a group waits for seventeen
 * seconds.
 */
export function proveLeases(opened: () => Store, namespace = freshNamespace()): void {
  // Long time limits, because the tests do not measure the speed of a busy machine. An acquisition may
  // wait for a server of Redis that is new to its group: it is trusted after two windows and a second.
  const options = { layout, namespace, windowMs: 8000, callTimeoutMs: 10_000, acquireTimeoutMs: 60_000 }
  /** For tests that wait for a renewal. */
  const windowMs = 5000
  const acquire = (more: Partial<LeaseOptions<typeof layout.fields>> = {}) =>
    acquireLease({ ...options, store: opened(), ...more })

  it('gives each of eight leases that begin at once a node of its own', async () => {
    const leases = await Promise.all(Array.from({ length: 8 }, () => acquire()))
    try {
      expect(new Set(leases.map(({ node }) => node)).size).toBe(8)
      const made = leases.map((lease) => BigUint64Array.from(createGenerator({ lease }).take(5000)))
      expect(duplicatesAmong(made)).toBe(0)
    } finally {
      // The next tests need nodes that are free.
      await Promise.all(leases.map((lease) => lease.release()))
    }
  })

  it('gives a node that was given back to the next one, for ids above', async () => {
    const made: bigint[] = []
    for (let i = 0; i < 5; i++) {
      await using lease = await acquire({ node: { worker: 3 } })
      made.push(...createGenerator({ lease }).take(3000))
    }
    expect(isAscending(BigUint64Array.from(made))).toBe(true)
  })

  it('is renewed', async () => {
    await using lease = await acquire({ windowMs })
    const { ceilingMs } = lease.stats()
    await until(() => lease.stats().renewals >= 2)
    expect(lease.stats()).toMatchObject({ acquisitions: 1, failures: 0 })
    expect(lease.stats().ceilingMs).toBeGreaterThan(ceilingMs)
  })

  it('moves if another process has taken its node, and the ids of its generator ascend', async () => {
    // Not a node of the other tests, because this node stays stolen for a minute.
    await using lease = await acquire({ nodes: [8, 15], windowMs })
    const ids = createGenerator({ lease })
    const [first, made] = [lease.node, ids.take(3000)]
    await steal(opened(), namespace, first, 60_000)
    await until(() => lease.node !== first)
    made.push(...ids.take(3000))
    expect(isAscending(BigUint64Array.from(made))).toBe(true)
    expect(ids.decode(made.at(-1) as bigint).node).toBe(lease.node)
  })

  it('is refused if another program has written the record, which stays as it is', async () => {
    await (await acquire({ node: { worker: 5 } })).release()
    const { key, value, version } = await recordOf(opened(), namespace, 5)
    const other = await opened().write(key, 'of another program', version)
    await expect(acquire({ node: { worker: 5 } })).rejects.toMatchObject({ code: 'ERR_STATE_CORRUPT' })
    expect((await opened().read(key))?.value).toBe('of another program')
    await opened().write(key, value, other)
  })

  it('is had by one of two that want the same node, and by the other one afterwards', async () => {
    const both = [acquire({ node: { worker: 6 } }), acquire({ node: { worker: 6 } })]
    const first = await Promise.race(both)
    createGenerator({ lease: first }).take(10)
    await first.release()
    const second = (await Promise.all(both)).find((lease) => lease !== first)
    expect(second?.node).toBe(6)
    await second?.release()
  })
}
