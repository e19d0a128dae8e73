import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { LeaseEvent } from 'graupel'
import { acquireLease } from 'graupel/lease'
import { memoryStore } from 'graupel/stores'
import { expect, it } from 'vitest'
import { freshNamespace } from '../support/engines.js'
import { until } from '../support/until.js'

// Facts about the store of a lease that its program and its operators are told.

/** A store whose server may forget, so that each first lease of a group waits. */
const forgetful = () => ({
  ...memoryStore(),
  durable: false,
  incarnation: async () => 'the only life',
  nowMs: async () => Date.now(),
})

/** Begins to acquire a lease, until a condition holds. */
async function waitFor(holds: () => boolean, store = forgetful()): Promise<void> {
  const cancel = new AbortController()
  const acquired = acquireLease({ store, namespace: freshNamespace(), signal: cancel.signal })
  await until(holds)
  cancel.abort(new Error('enough'))
  await expect(acquired).rejects.toThrow('enough')
}

it('each wait for a server that has started is warned of, with its group, its reason and its end', async () => {
  const warnings: (Error & { code?: string })[] = []
  const listen = (warning: Error) => void warnings.push(warning)
  process.on('warning', listen)
  const startMs = Date.now()
  await waitFor(() => warnings.length > 0)
  const [warning] = warnings
  expect(warning?.code).toBe('GRAUPEL_LEASE_WAIT')
  const [, time = '', reason] =
    /^the lease of namespace '.+' waits until (\S+), because (.*)$/.exec(warning?.message ?? '') ?? []
  expect(Date.parse(time)).toBeGreaterThanOrEqual(startMs + 11_000)
  expect(Date.parse(time)).toBeLessThan(Date.now() + 11_100)
  expect(reason).toMatch(
    /^the server of the store 'memory' .* may have forgotten leases; .*assumeDurable: true to the store, or --assume-durable to a graupel-server;/,
  )

  // A program that leases nodes of several groups one after the other waits for each of them.
  await waitFor(() => warnings.length > 1)
  expect(warnings[1]?.message).not.toBe(warning?.message)

  // A program that listens to events is told by the event alone.
  const events: LeaseEvent[] = []
  const hear = (event: unknown) => void events.push(event as LeaseEvent)
  subscribe('graupel:lease', hear)
  await waitFor(() => events.length > 0)
  unsubscribe('graupel:lease', hear)
  expect(events[0]).toMatchObject({ type: 'waiting', untilMs: expect.any(Number) })
  process.off('warning', listen)
  expect(warnings).toHaveLength(2)
})

it('the event of each acquisition has the place of the records, even if only some stores can tell it', async () => {
  const events: LeaseEvent[] = []
  const hear = (event: unknown) => void events.push(event as LeaseEvent)
  subscribe('graupel:lease', hear)
  const place = async () => 'server a:1, database orders'
  const broken = async () => Promise.reject(new Error('no right to ask'))
  for (const more of [{ place }, { place: broken }, {}]) {
    const lease = await acquireLease({ store: { ...memoryStore(), ...more }, namespace: freshNamespace() })
    await lease.resume()
    await lease.release()
  }
  unsubscribe('graupel:lease', hear)
  for (const kind of ['acquired', 'moved']) {
    const places = events.filter(({ type }) => type === kind).map((event) => event.place)
    expect(places).toEqual(['server a:1, database orders', undefined, undefined])
  }
})
