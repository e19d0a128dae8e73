import { memoryStore, type Store } from 'graupel/stores'
import { expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { makeService } from './support/in-process.ts'

test('before the first lease the service is alive and not ready, and afterwards alive and ready', async () => {
  const { app, service } = await makeService()
  expect((await app.inject('/livez')).statusCode).toBe(200)
  const before = await app.inject('/readyz')
  expect(before.statusCode).toBe(503)
  expect(before.body).toBe("no node of layout 'twitter' is leased\n")
  await service.open()
  const after = await app.inject('/readyz')
  expect(after.statusCode).toBe(200)
  expect(after.body).toBe('ok\n')
  expect(after.headers['cache-control']).toBe('no-store')
})

test('readiness is JSON for a client that accepts JSON', async () => {
  const { app, service } = await makeService(['--layouts', 'twitter,discord'])
  const headers = { accept: 'application/json' }
  expect((await app.inject({ url: '/readyz', headers })).json()).toEqual({
    ready: false,
    reasons: ["no node of layout 'twitter' is leased", "no node of layout 'discord' is leased"],
  })
  await service.open()
  expect((await app.inject({ url: '/readyz', headers })).json()).toEqual({ ready: true, reasons: [] })
})

test('a service that waits for a store which has started says so, and until when', async () => {
  const store: Store = { ...memoryStore(), durable: false, nowMs: async () => Date.now(), incarnation: async () => 'b' }
  const { app, service } = await makeService([], store)
  const opening = service.open().catch(() => {})
  const reason =
    /^no node of layout 'twitter' is leased; until (\S+Z) it waits, because the store has started and may have/
  await until(async () => reason.test((await app.inject('/readyz')).body))
  const [, untilTime = ''] = reason.exec((await app.inject('/readyz')).body) ?? []
  // 10 s and the skew of the clocks.
  expect(Date.parse(untilTime)).toBeGreaterThan(Date.now() - 1000)
  expect(Date.parse(untilTime)).toBeLessThan(Date.now() + 12_000)
  await service.close()
  await opening
})

test('a service that finds no free node says so', async () => {
  const store = memoryStore()
  const first = await makeService(['--nodes', '3-3'], store)
  await first.service.open()
  const second = await makeService(['--nodes', '3-3'], store)
  const opening = second.service.open()
  const waiting = "no node of layout 'twitter' is leased; it waits for the store, or for a free node\n"
  expect((await second.app.inject('/readyz')).body).toBe(waiting)
  await first.service.close()
  await opening
  expect((await second.app.inject('/readyz')).body).toBe('ok\n')
})

test('a service that is stopping is alive and not ready', async () => {
  const { app, service } = await makeService()
  await service.open()
  service.isStopping = true
  expect((await app.inject('/readyz')).body).toBe('the service is being shut down\n')
  expect((await app.inject('/livez')).body).toBe('ok\n')
})

test('a lease that is not renewed makes the service unready while it can still make ids, and the reason has no address of the store', async () => {
  const store = memoryStore()
  let isAway = false
  const { app, service } = await makeService(['--window-ms', '3000', '--node', '7'], {
    ...store,
    write: async (...call) => {
      if (isAway) throw new Error('connect ECONNREFUSED 10.1.2.3:6379')
      return store.write(...call)
    },
  })
  await service.open()
  isAway = true
  await until(async () => (await app.inject('/readyz')).statusCode === 503)
  expect((await app.inject('/v1/ids')).statusCode).toBe(200)
  const { body } = await app.inject('/readyz')
  expect(body).toBe("the store has not renewed the lease of node 7 of layout 'twitter' in time\n")
  isAway = false
  await until(async () => (await app.inject('/readyz')).statusCode === 200)
})

test('if no node can be leased again, the reason has only the code of the error', async () => {
  const store = memoryStore()
  let isSpoilt = false
  const { app, service } = await makeService(['--window-ms', '1000', '--acquire-timeout-ms', '0'], {
    ...store,
    async write(key, value, expected, signal) {
      if (isSpoilt) await store.write(key, 'spoilt', expected)
      return store.write(key, value, expected, signal)
    },
    async list(folder, signal) {
      if (isSpoilt) throw new Error('connect ECONNREFUSED 10.1.2.3:6379')
      return store.list(folder, signal)
    },
  })
  await service.open()
  isSpoilt = true
  await until(async () => (await app.inject('/readyz')).body.includes('no node'))
  const { body } = await app.inject('/readyz')
  expect(body).toMatch(/^no node of layout 'twitter' is leased \(ERR_\w+\)\n$/)
})

test('probes and scrapes are answered alike with and without parameters', async () => {
  const { app, service } = await makeService()
  await service.open()
  for (const url of ['/livez', '/readyz', '/metrics']) {
    for (const query of ['x=1&x=2', 'x=/../', '/./', '/%2e%2e']) {
      expect([url, query, (await app.inject(`${url}?${query}`)).statusCode]).toEqual([url, query, 200])
    }
  }
})

test('liveness and readiness are not cached, and take HEAD', async () => {
  const { app, service } = await makeService()
  await service.open()
  for (const url of ['/livez', '/readyz']) {
    const { statusCode, body, headers } = await app.inject({ method: 'HEAD', url })
    expect([statusCode, body, headers['cache-control']]).toEqual([200, '', 'no-store'])
  }
})
