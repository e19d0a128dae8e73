import { defineLayout, type Layout } from 'graupel'
import { memoryStore, type Store } from 'graupel/stores'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { exitCodeOf } from '../../server/src/failure.ts'
import { complete } from '../../server/src/options/complete.ts'
import type { IdSource } from '../../server/src/sources/id-source.ts'
import { until } from '../support/until.ts'
import { makeService, optionsOf, seriesOf, startService } from './support/in-process.ts'
import { RespClient } from './support/resp.ts'

afterEach(() => vi.restoreAllMocks())

const flags = ['--strict', '--advertise', 'http://127.0.0.1:1']

/** A store whose calls fail while `isAway`. */
function unreliable() {
  const inner = memoryStore()
  const state = { isAway: false }
  const guarded =
    <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
    async (...args: A) => {
      if (state.isAway) throw new Error('away')
      return call(...args)
    }
  const store: Store = {
    ...inner,
    ...{ read: guarded(inner.read), list: guarded(inner.list), write: guarded(inner.write) },
    nowMs: guarded(async () => Date.now()),
  }
  return { inner, state, store }
}

test('the holder is ready, and a standby refuses ids with the address of the holder', async () => {
  const store = memoryStore()
  const holder = await makeService(flags, store)
  await holder.service.open()
  expect((await holder.app.inject('/readyz')).statusCode).toBe(200)
  expect((await holder.app.inject('/v1/ids')).statusCode).toBe(200)
  expect(holder.service.nodes()).toEqual({ twitter: 0 })

  const standby = await makeService(['--strict', '--advertise', 'http://127.0.0.1:2'], store)
  const opening = standby.service.open()
  const reason = 'another server of the group gives the ids: http://127.0.0.1:1; ask that server'
  await until(async () => (await standby.app.inject('/readyz')).body === `${reason}\n`)
  for (const url of ['/v1/ids', '/v1/ids?count=3', '/v1/ids?format=uuid']) {
    const { statusCode, headers, body } = await standby.app.inject(url)
    expect([url, statusCode, headers['graupel-holder']]).toEqual([url, 503, 'http://127.0.0.1:1'])
    expect(JSON.parse(body)).toMatchObject({ code: 'ERR_STANDBY', detail: reason })
  }
  expect((await standby.app.inject({ method: 'HEAD', url: '/v1/ids' })).headers['graupel-holder']).toBe(
    'http://127.0.0.1:1',
  )
  expect((await standby.app.inject('/v1/segments/orders')).statusCode).toBe(200)
  expect(await seriesOf(standby.app, 'graupel_holder{layout="twitter"}')).toBe(0)
  expect(await seriesOf(holder.app, 'graupel_holder{layout="twitter"}')).toBe(1)
  expect(await seriesOf(holder.app, 'graupel_lease_remaining_seconds{layout="twitter",node="0"}')).toBeLessThan(1.981)
  expect(await seriesOf(standby.app, 'graupel_lease_remaining_seconds{layout="twitter",node="0"}')).toBeUndefined()

  await holder.service.close()
  await opening
  expect((await standby.app.inject('/readyz')).statusCode).toBe(200)
  expect((await standby.app.inject('/v1/ids')).statusCode).toBe(200)
  const { body } = await holder.app.inject('/v1/ids')
  expect(JSON.parse(body).status).toBe(503)
})

test('a holder without an address is not named', async () => {
  const store = memoryStore()
  const holder = await makeService(['--strict'], store)
  await holder.service.open()
  const standby = await makeService(['--strict'], store)
  const opening = standby.service.open()
  await until(async () => (await standby.app.inject('/v1/ids')).body.includes('ERR_STANDBY'))
  const { headers, body } = await standby.app.inject('/v1/ids')
  expect([headers['graupel-holder'], JSON.parse(body).detail]).toEqual([
    undefined,
    'another server of the group gives the ids; ask that server',
  ])
  await holder.service.close()
  await opening
})

test('a standby says so to clients of Redis', async () => {
  const store = memoryStore()
  const holder = await makeService(flags, store)
  await holder.service.open()
  const standby = await startService(optionsOf(['--strict', '--resp', '0']), { store, isOpen: false })
  const opening = standby.service.open()
  await until(async () => (await standby.app.inject('/v1/ids')).body.includes('ERR_STANDBY'))
  const client = await RespClient.open(standby.respUrl)
  await expect(client.ask('GET', 'id:twitter')).rejects.toThrow(/^ERR_STANDBY another server .*http:\/\/127\.0\.0\.1:1/)
  client.socket.destroy()
  await holder.service.close()
  await opening
})

test('a holder whose store is away answers no longer when its term is over, though its clock allows ids', async () => {
  const { state, store } = unreliable()
  const { app, service } = await makeService(flags, store)
  await service.open()
  const source = service.ids.get('twitter')
  expect((await app.inject('/v1/ids?count=3')).statusCode).toBe(200)
  state.isAway = true
  await until(() => source?.termMs === 0)
  const { statusCode, body } = await app.inject('/v1/ids')
  expect([statusCode, JSON.parse(body).code]).toEqual([503, 'ERR_LEASE_EXPIRED'])
  // The lease has lapsed, and acquires its node anew.
  await until(() => Date.now() > (source?.stats()?.lease.ceilingMs ?? 0) + 10)
  const issued = source?.totals().issued ?? 0
  state.isAway = false
  await until(() => source?.stats()?.lease.acquisitions === 2)
  expect((await app.inject('/v1/ids')).statusCode).toBe(200)
  // Another generator counts from 0, and the service goes on counting.
  expect([source?.stats()?.ids.issued, source?.totals().issued]).toEqual([1, issued + 1])
})

test('a holder whose clock is ahead is ready as long as its lease is renewed in time, whatever is left of its ceiling', async () => {
  const inner = memoryStore()
  const store: Store = { ...inner, nowMs: async () => Date.now() - 900 }
  const { app, service } = await makeService(flags, store)
  await service.open()
  const source = service.ids.get('twitter') as IdSource
  const { renewals } = source.totals()
  // The time at which half of a window is over. The term reads a clock that no test replaces.
  const halfMs = Date.now() + 500
  vi.spyOn(Date, 'now').mockReturnValue(halfMs)
  const term = vi.spyOn(source, 'termMs', 'get').mockReturnValue(1480)
  expect(source.readiness()).toMatchObject({ isReady: true, remainingMs: expect.closeTo(600, -3) })
  term.mockReturnValue(660)
  const reason = "the store has not renewed the lease of node 0 of layout 'twitter' in time"
  expect(source.readiness()).toMatchObject({ isReady: false, reason })
  expect(source.readiness()).not.toHaveProperty('refusal')
  term.mockReturnValue(0)
  expect(source.readiness()).toMatchObject({ isReady: false, remainingMs: 0, refusal: { code: 'ERR_LEASE_EXPIRED' } })
  vi.restoreAllMocks()
  await until(() => source.totals().renewals > renewals + 1)
  expect((await app.inject('/readyz')).statusCode).toBe(200)
})

test('a holder whose clock differs by more than maxClockSkewMs is not renewed, so it stops being ready', async () => {
  const inner = memoryStore()
  let aheadMs = 900
  const store: Store = { ...inner, nowMs: async () => Date.now() - aheadMs }
  const { app, service } = await makeService(flags, store)
  await service.open()
  const source = service.ids.get('twitter') as IdSource
  aheadMs = 1300
  await until(() => source.termMs === 0)
  const { statusCode, body } = await app.inject('/readyz')
  expect(statusCode).toBe(503)
  expect(body).toContain('the store has not renewed the lease of node 0')
})

test('a standby whose store is away for a while goes on waiting', async () => {
  const { inner, state, store } = unreliable()
  const holder = await makeService(flags, inner)
  await holder.service.open()
  const standby = await makeService(['--strict'], store)
  const opening = standby.service.open()
  await until(async () => (await standby.app.inject('/v1/ids')).body.includes('ERR_STANDBY'))
  state.isAway = true
  const { failures } = standby.service.ids.get('twitter')?.totals() ?? { failures: 0 }
  expect(failures).toBe(0)
  await new Promise((resolve) => setTimeout(resolve, 500))
  state.isAway = false
  await holder.service.close()
  await opening
  expect((await standby.app.inject('/v1/ids')).statusCode).toBe(200)
})

describe('options of a strict group', () => {
  const refusal = (given: readonly string[]) => {
    try {
      optionsOf(given)
      return undefined
    } catch (error) {
      return error as { code: string; message: string }
    }
  }

  test('it has one node, a window of two seconds, and no drain', () => {
    expect(complete({ strict: true })).toMatchObject({ node: 0, windowMs: 2000, drainMs: 0, workers: 1 })
    expect(optionsOf(['--strict', '--node', '7', '--window-ms', '4000', '--drain-ms', '5'])).toMatchObject({
      ...{ node: 7, windowMs: 4000, drainMs: 5 },
    })
    expect(complete({})).toMatchObject({ strict: false, windowMs: 6000, drainMs: 1000 })
    expect(complete({}).node).toBeUndefined()
  })

  test('the lease refuses a store that may forget, and a layout out of order, as the first error of the start', async () => {
    const forgetful: Store = { ...memoryStore(), durable: false, incarnation: async () => 'a', nowMs: async () => 0 }
    const fields = [
      ['sequence', 22],
      ['timestamp', 41],
    ] as const
    const own = defineLayout({ name: 'own', epochMs: 0, tickMs: 1, fields })
    const refused = [
      { given: {}, store: forgetful, message: /may forget what it has acknowledged.*--assume-durable/ },
      { given: { layouts: [own] as unknown as Layout[] }, store: memoryStore(), message: /begin with the sequence/ },
    ]
    for (const { given, store, message } of refused) {
      const { service } = await startService({ strict: true, ...given }, { store, isOpen: false })
      const error = await service.open().catch((reason) => reason)
      expect(error).toMatchObject({ code: 'ERR_OPTION_INVALID', message: expect.stringMatching(message) })
      expect(exitCodeOf(error)).toBe(2)
    }
  })

  test.each([
    [['--strict', '--workers', '2'], /--workers is 2; one process/],
    [['--strict', '--node', 'datacenter=1'], /--node has fields/],
    [['--strict', '--nodes', '0-3'], /--nodes or --stateful-set/],
    [['--strict', '--stateful-set', 'ids'], /--nodes or --stateful-set/],
    [['--strict', '--layouts', 'twitter,discord'], /--layouts has 2 layouts/],
    [['--strict', '--acquire-timeout-ms', '5'], /--acquire-timeout-ms are given/],
    [['--advertise', 'http://a:1'], /--advertise needs --strict/],
    [['--strict', '--advertise', 'a:1'], /--advertise is "a:1"; give a URL/],
    [['--strict', '--advertise', 'http://a/b'], /without a path/],
    [['--strict', '--advertise', 'http://u:p@a'], /without a path/],
    [['--strict', '--advertise', 'ftp://a'], /http or https/],
  ])('%j is refused', (given, message) => {
    expect(refusal(given)).toMatchObject({ code: 'ERR_OPTION_INVALID', message: expect.stringMatching(message) })
  })
})
