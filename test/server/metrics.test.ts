import { promises, rmSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { memoryStore } from 'graupel/stores'
import { expect, test, vi } from 'vitest'
import { Durations, joined, textOf } from '../../server/src/metrics/family.ts'
import { observedStore, StoreTimes } from '../../server/src/metrics/observed-store.ts'
import { until } from '../support/until.ts'
import { Faulty } from './support/faulty.ts'
import { makeService, seriesOf, startService } from './support/in-process.ts'
import { folder } from './support/process.ts'
import { replace } from './support/replace.ts'

const twitterIds = 'graupel_ids_total{kind="id",name="twitter"}'

test('ids and numbers are counted by their kind and their layout or name', async () => {
  const { app, service } = await makeService()
  await service.open()
  await app.inject('/v1/ids')
  await app.inject('/v1/ids?count=41')
  const segment = await service.segments.get('orders')
  await segment.nextAsync()
  const counted = await service.counters.get('invoices "2026"')
  await counted.take(7)
  expect(await seriesOf(app, twitterIds)).toBe(42)
  expect(await seriesOf(app, 'graupel_ids_total{kind="segment",name="orders"}')).toBe(1)
  expect(await seriesOf(app, 'graupel_ids_total{kind="counter",name="invoices \\"2026\\""}')).toBe(7)
  expect(await seriesOf(app, 'graupel_count_writes_total{name="invoices \\"2026\\""}')).toBe(1)
  expect(await seriesOf(app, 'graupel_segment_fetches_total{name="orders"}')).toBeGreaterThan(0)
  expect(await seriesOf(app, 'graupel_segment_numbers_left{name="orders"}')).toBe(segment.stats().left)
})

test('the oldest request of a counter has its time as a metric while it waits', async () => {
  const faulty = new Faulty()
  const { app, service } = await startService({}, { around: faulty.around, listens: false })
  const counted = await service.counters.get('invoices')
  const oldest = async () => (await seriesOf(app, 'graupel_count_oldest_wait_seconds{name="invoices"}')) as number
  expect(await oldest()).toBe(0)
  faulty.hold()
  const first = counted.take(1)
  await until(async () => (await oldest()) > 0)
  const second = counted.take(1)
  const before = await oldest()
  // The second call has not become the oldest.
  expect(await oldest()).toBeGreaterThan(before)
  faulty.release()
  expect([...(await first), ...(await second)]).toEqual(['1', '2'])
  expect(await oldest()).toBe(0)
})

test('requests are counted by the pattern of their route, so paths of clients make no series', async () => {
  const { app, service } = await makeService()
  await service.open()
  const count = (route: string, status: string) =>
    seriesOf(app, `graupel_http_request_duration_seconds_count{route="${route}",status="${status}"}`)
  await app.inject('/v1/ids')
  await app.inject('/v1/ids?count=2')
  await app.inject('/v1/ids?count=0')
  await app.inject('/nothing/a')
  await app.inject('/nothing/b')
  await app.inject('/%00')
  expect(await count('/v1/ids', '2xx')).toBe(2)
  expect(await count('/v1/ids', '4xx')).toBe(1)
  expect(await count('none', '4xx')).toBe(3)
  const { body } = await app.inject('/metrics')
  expect(body).not.toMatch(/nothing|%00/)
})

test('a duration is counted in the bucket of its bound, in the sum and in the count', () => {
  const durations = new Durations([1, 5])
  for (const ms of [0, 1, 1.001, 5, 6000]) durations.add(ms)
  const values = durations.seriesOf('a_seconds', { b: 'c' })
  expect(values.map(({ metricName, labels, value }) => [metricName, labels['le'], value])).toEqual([
    ['a_seconds_bucket', 0.001, 2],
    ['a_seconds_bucket', 0.005, 4],
    ['a_seconds_bucket', '+Inf', 5],
    ['a_seconds_sum', undefined, 6.007001],
    ['a_seconds_count', undefined, 5],
  ])
})

test('the time left of a lease has the label of its node, and falls while the store is away', async () => {
  const store = memoryStore()
  let isAway = false
  const away = async () => {
    throw new Error('away')
  }
  const { app, service } = await makeService(['--window-ms', '1000', '--node', '7'], {
    ...store,
    write: (...call) => (isAway ? away() : store.write(...call)),
  })
  expect(await seriesOf(app, 'graupel_ready')).toBe(0)
  await service.open()
  const remaining = () => seriesOf(app, 'graupel_lease_remaining_seconds{layout="twitter",node="7"}')
  expect(await remaining()).toBeGreaterThan(0)
  expect(await remaining()).toBeLessThanOrEqual(1)
  expect(await seriesOf(app, 'graupel_lease_window_seconds')).toBe(1)
  expect(await seriesOf(app, 'graupel_ready')).toBe(1)
  expect((await app.inject({ method: 'HEAD', url: '/v1/ids' })).statusCode).toBe(200)
  isAway = true
  await until(async () => (await remaining()) === 0)
  expect((await app.inject({ method: 'HEAD', url: '/v1/ids' })).statusCode).toBe(503)
  expect(await seriesOf(app, 'graupel_ready')).toBe(0)
  const failed = 'graupel_store_call_duration_seconds_count{call="write",outcome="error"}'
  expect(await seriesOf(app, failed)).toBeGreaterThan(0)
  isAway = false
})

test('counts keep growing when a lease is lost and another is acquired', async () => {
  const store = memoryStore()
  const good = new Map<string, string>()
  let isSpoilt = false
  const { app, service } = await makeService(['--window-ms', '1000'], {
    ...store,
    async write(key, value, expected, signal) {
      if (!isSpoilt) return store.write(key, value, expected, signal)
      const entry = await store.read(key)
      if (entry === undefined || entry.value === 'spoilt') return undefined
      good.set(key, entry.value)
      await store.write(key, 'spoilt', entry.version)
      return undefined
    },
  })
  await service.open()
  await app.inject('/v1/ids?count=1000')
  isSpoilt = true
  await until(() => service.reasons().some((reason) => reason.includes('ERR_STATE_CORRUPT')))
  expect(await seriesOf(app, twitterIds)).toBe(1000)
  for (const [key, value] of good) await store.write(key, value, (await store.read(key))?.version)
  isSpoilt = false
  await until(() => service.reasons().length === 0)
  await app.inject('/v1/ids?count=10')
  expect(await seriesOf(app, twitterIds)).toBe(1010)
  expect(await seriesOf(app, 'graupel_lease_acquisitions_total{layout="twitter"}')).toBe(2)
  expect(await seriesOf(app, 'graupel_lease_failures_total{layout="twitter"}')).toBeGreaterThan(0)
})

test('calls of the store are counted by outcome, and a call that never answers when it is given up', async () => {
  const times = new StoreTimes()
  const inner = memoryStore()
  const store = observedStore(
    {
      ...inner,
      list: () => new Promise(() => {}),
      read: async (key) => {
        if (key === 'a/broken') throw new Error('broken')
        return inner.read(key)
      },
    },
    times,
  )
  await store.write('a/b', '1', undefined)
  await store.write('a/b', '2', undefined)
  await store.read('a/b')
  await expect(store.read('a/broken')).rejects.toThrow('broken')
  const end = new AbortController()
  void store.list('a/', end.signal)
  end.abort()
  const text = await textOf(times.families())
  const counts = text.matchAll(/_count\{call="(\w+)",outcome="(\w+)"\} (\d+)/g)
  expect(Array.from(counts, ([, ...found]) => found.join(' ')).sort()).toEqual([
    'list timeout 1',
    'read error 1',
    'read ok 1',
    'write conflict 1',
    'write ok 1',
  ])
})

test('changed files that cannot be read are stale until they are right', async () => {
  const tokenFile = join(folder, 'tokens')
  replace(tokenFile, 'a'.repeat(16))
  const { app, log } = await startService({ tokenFile }, { listens: false, pollMs: 5 })
  const headers = { authorization: `Bearer ${'a'.repeat(16)}` }
  const isStale = async () => {
    const { body } = await app.inject({ url: '/metrics', headers })
    return / (\d)$/.exec(/^graupel_files_stale\{option="--token-file"\} \d$/m.exec(body)?.[0] ?? '')?.[1]
  }
  expect(await isStale()).toBe('0')
  replace(tokenFile, '')
  await until(async () => (await isStale()) === '1')
  replace(tokenFile, `${'a'.repeat(16)}\n`)
  await until(async () => (await isStale()) === '0')
  rmSync(tokenFile)
  await until(async () => (await isStale()) === '1')
  replace(tokenFile, `${'a'.repeat(16)}\n`)
  await until(async () => (await isStale()) === '0')
  expect(log.filter(({ msg }) => `${msg}`.startsWith('the files cannot be read'))).toHaveLength(2)
})

test('files that could not be read once are read again, although they have not changed since', async () => {
  const tokenFile = join(folder, 'refused')
  replace(tokenFile, 'a'.repeat(16))
  const { app, log } = await startService({ tokenFile }, { listens: false, pollMs: 5 })
  const refusal = Object.assign(new Error('EACCES: permission denied'), { code: 'EACCES', syscall: 'open' })
  const reading = vi.spyOn(promises, 'open').mockRejectedValueOnce(refusal)
  syncBuiltinESMExports()
  replace(tokenFile, 'b'.repeat(16))
  const statusOf = async (letter: string) =>
    (await app.inject({ url: '/v1/ids', headers: { authorization: `Bearer ${letter.repeat(16)}` } })).statusCode
  await until(async () => (await statusOf('b')) === 200)
  expect(await statusOf('a')).toBe(401)
  reading.mockRestore()
  syncBuiltinESMExports()
  expect(log.filter(({ msg }) => `${msg}`.startsWith('the files cannot be read'))).toHaveLength(1)
})

test('the nodes that may be leased are counted, unless the node is given', async () => {
  const nodesWith = async (...flags: string[]) => {
    const { app } = await makeService(flags)
    return [await seriesOf(app, 'graupel_nodes{layout="js53"}'), await seriesOf(app, 'graupel_nodes{layout="wide"}')]
  }
  expect(await nodesWith('--layouts', 'js53,wide')).toEqual([32, 64])
  expect(await nodesWith('--layouts', 'js53', '--nodes', '4-9')).toEqual([6, undefined])
  expect(await nodesWith('--layouts', 'js53', '--node', '4')).toEqual([undefined, undefined])
})

test('an observed store has only the functions of the store', () => {
  const { name, durable, read, list, write } = memoryStore()
  expect(Object.keys(observedStore({ name, durable, read, list, write }, new StoreTimes())).sort()).toEqual(
    ['durable', 'list', 'name', 'read', 'write'].sort(),
  )
  expect(Object.keys(observedStore(memoryStore(), new StoreTimes())).sort()).toEqual(Object.keys(memoryStore()).sort())
})

test('a label separates the series of workers under one name', async () => {
  const of = (value: number) =>
    [{ name: 'a_total', help: 'A.', type: 'counter', values: [{ labels: {}, value }] }] as const
  const text = await textOf(
    joined(
      new Map([
        [0, of(3)],
        [1, of(5)],
      ]) as never,
    ),
  )
  expect(text).toBe('# HELP a_total A.\n# TYPE a_total counter\na_total{worker="0"} 3\na_total{worker="1"} 5\n')
})

test('a store without records is a metric of the process that finds it, and not of the next one', async () => {
  const store = `sqlite:${folder}/new.db`
  for (const value of [1, 0]) {
    const { app } = await startService({ store })
    expect(await seriesOf(app, 'graupel_store_new')).toBe(value)
  }
})
