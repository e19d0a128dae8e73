import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { inspect, promisify } from 'node:util'
import { defineLayout, layouts } from 'graupel'
import { connect } from 'graupel/client'
import { describe, expect, test } from 'vitest'
import { expectAscending } from '../support/ids.ts'
import { writeSingles } from '../support/runs.ts'
import { hangMs, until } from '../support/until.ts'
import { fakeService } from './service.ts'

test('all calls of an IdGenerator hand out ids of the service, in its order', async () => {
  const service = await fakeService()
  using ids = await connect({ url: `${service.url}/` })
  const { next, nextString, nextAsync } = ids
  const made = [next(), BigInt(nextString()), await nextAsync(), ...ids.take(3)]
  made.push(...ids.fill(new BigUint64Array(500)), ...(await ids.fillAsync(new BigInt64Array(5000))))
  for (const id of ids) {
    made.push(id)
    if (made.length === 7000) break
    if (made.length % 500 === 0) made.push(await ids.nextAsync())
  }
  expectAscending(made)
  for (const id of made) expect(service.given).toContain(id)
  expect(ids.layout.name).toBe('twitter')
  expect(ids.decode(made[0] as bigint)).toMatchObject({ node: 1, fields: { datacenter: 0, worker: 1 } })
  expect(ids.stats()).toMatchObject({ issued: 7000, dropped: 0, failures: 0, failure: '' })
  expect(inspect(ids)).toBe(`IdClient { urls: [ '${service.url}' ], layout: 'twitter' }`)
  expect(JSON.parse(JSON.stringify(ids))).toEqual({ urls: [service.url], layout: 'twitter' })
  const { nextNumber } = ids as unknown as { nextNumber(): number }
  expect(nextNumber).toThrow(expect.objectContaining({ code: 'ERR_NUMBER_UNSAFE' }))
  expect(service.asked[0]).toMatchObject({ path: '/v1/ids', layout: 'twitter', count: 1000 })
  expect(service.asked[0]?.headers).toMatchObject({
    accept: 'application/vnd.graupel.runs',
    'cache-control': 'no-store',
  })
})

test('a request begins after the call that asks for it, and not if the client is closed at once', async () => {
  const service = await fakeService()
  const ids = await connect({ url: service.url, count: 10, prefetchAt: 0.5 })
  ids.take(5)
  expect(ids.stats().requests).toBe(1)
  await until(() => ids.stats().batches === 2)
  expect(ids.stats().requests).toBe(2)
  ids.take(10)
  ids.close()
  await new Promise(setImmediate)
  expect(ids.stats().requests).toBe(2)
})

test("a path before the service's path is kept", async () => {
  const service = await fakeService()
  const error = await connect({ url: `${service.url}/below/`, retries: 0 }).catch((reason) => reason)
  expect(error).toMatchObject({ code: 'ERR_SERVICE_INVALID' })
  expect(service.asked[0]?.path).toBe('/below/v1/ids')
})

test('numbers of a segment have no layout', async () => {
  const service = await fakeService()
  const orders = await connect({ url: service.url, segment: 'or/ders' })
  expect([orders.next(), orders.nextNumber(), orders.nextString(), ...orders.take(2)]).toEqual([1n, 2, '3', 4n, 5n])
  expect(service.asked[0]).toMatchObject({ path: '/v1/segments/or%2Fders', layout: null })
  const { decode } = orders as unknown as { decode(id: bigint): unknown }
  expect(() => decode.call(orders, 1n)).toThrow(expect.objectContaining({ code: 'ERR_OPTION_INVALID' }))
  expect(inspect(orders)).toContain("segment: 'or/ders'")
  orders.close()
})

test('ids that fit a number are handed out as numbers', async () => {
  const layout = layouts.js53
  const service = await fakeService({ layout })
  const ids = await connect({ url: service.url, layout })
  const made = Array.from({ length: 300 }, () => BigInt(ids.nextNumber()))
  expectAscending(made)
  for (const id of made) expect(service.given).toContain(id)
  ids.close()
})

test('a number that does not fit is refused, and not lost', async () => {
  const service = await fakeService()
  const numbers = new BigUint64Array([2n ** 53n - 1n, 2n ** 53n, 2n ** 63n])
  service.script = (_, __, give) => give({ body: () => Buffer.from(writeSingles(numbers)) })
  const orders = await connect({ url: service.url, segment: 'orders', count: 3, maxCount: 3 })
  expect(orders.nextNumber()).toBe(2 ** 53 - 1)
  expect(() => orders.nextNumber()).toThrow(expect.objectContaining({ code: 'ERR_NUMBER_UNSAFE' }))
  expect(() => orders.fill(new BigInt64Array(2))).toThrow(
    expect.objectContaining({ code: 'ERR_ARRAY_INVALID', filled: 0 }),
  )
  expect(orders.take(2)).toEqual([2n ** 53n, 2n ** 63n])
  orders.close()
})

test('calls get their ids in the order in which they were made', async () => {
  const service = await fakeService()
  const ids = await connect({ url: service.url, count: 3, maxCount: 3 })
  const made = await Promise.all(Array.from({ length: 20 }, () => ids.nextAsync()))
  expectAscending(made)
  expect(new Set(made).size).toBe(20)
  ids.close()
})

describe('a client', () => {
  test('requests the next batch when half of a batch is used, and requests nothing while no id is used', async () => {
    const service = await fakeService()
    const ids = await connect({ url: service.url, count: 100 })
    ids.take(49)
    expect(service.asked).toHaveLength(1)
    ids.take(1)
    await until(() => ids.stats().left > 50)
    await new Promise(setImmediate)
    expect(service.asked).toHaveLength(2)
    ids.close()
  })

  test('requests larger batches the faster ids are used, up to maxCount', async () => {
    const service = await fakeService()
    const ids = await connect({ url: service.url, count: 10, maxCount: 500 })
    for (let i = 0; i < 2000; i++) await ids.nextAsync()
    const counts = service.asked.map(({ count }) => count)
    expect(counts.slice(0, 2)).toEqual([10, 20])
    expect(Math.max(...counts)).toBe(500)
    ids.close()
  })

  test('does not keep a process alive', async () => {
    const service = await fakeService()
    const program = `import { connect } from 'graupel/client'
      const ids = await connect({ url: ${JSON.stringify(service.url)}, count: 10 })
      console.log(ids.take(10).length)`
    const cwd = fileURLToPath(new URL('../..', import.meta.url))
    const args = ['--input-type=module', '-e', program]
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd, timeout: hangMs })
    expect(stdout).toBe('10\n')
  })
})

describe('an option', () => {
  const url = 'http://127.0.0.1:4728'
  test.each<[object, string, string]>([
    [{}, 'ERR_OPTION_INVALID', 'no url is given'],
    [{ url, urls: [url] }, 'ERR_OPTION_INVALID', 'url and urls are both given'],
    [{ url: [url] }, 'ERR_OPTION_INVALID', 'url is one text'],
    [{ urls: url }, 'ERR_OPTION_INVALID', 'urls is an array'],
    [{ urls: [] }, 'ERR_OPTION_INVALID', 'urls is an empty array'],
    [{ urls: [url, `${url}/`] }, 'ERR_OPTION_INVALID', 'twice'],
    [{ url: 'ftp://a' }, 'ERR_OPTION_INVALID', 'begins with http:// or https://'],
    [{ url: 'http://me:secret@a' }, 'ERR_OPTION_INVALID', 'the credentials as token'],
    [{ url: `${url}?a=1` }, 'ERR_OPTION_INVALID', 'a query'],
    [{ url, token: '' }, 'ERR_OPTION_INVALID', 'token is empty'],
    [{ url, token: 'a\nb' }, 'ERR_OPTION_INVALID', 'line breaks'],
    [{ url, token: 7 }, 'ERR_OPTION_INVALID', 'token is 7'],
    [{ url, layout: {} }, 'ERR_LAYOUT_INVALID', 'layout'],
    [{ url, layout: layouts.mastodon }, 'ERR_LAYOUT_DECODE_ONLY', "layout 'mastodon' is for reading ids"],
    [{ url, layout: defineLayout({ ...layouts.js53, name: '\ud800' }) }, 'ERR_LAYOUT_INVALID', 'pass well-formed text'],
    [{ url, segment: '' }, 'ERR_OPTION_INVALID', "segment is ''"],
    [{ url, segment: '..' }, 'ERR_OPTION_INVALID', "segment is '..', which a URL takes for a folder"],
    [{ url, segment: 'a', layout: layouts.twitter }, 'ERR_OPTION_INVALID', 'layout and segment'],
    [{ url, count: 0 }, 'ERR_OPTION_INVALID', 'count is 0'],
    [{ url, count: 11, maxCount: 10 }, 'ERR_OPTION_INVALID', 'from 1 to 10'],
    [{ url, maxCount: 2 ** 25 }, 'ERR_OPTION_INVALID', 'maxCount is 33554432'],
    [{ url, prefetchAt: 2 }, 'ERR_OPTION_INVALID', 'prefetchAt is 2'],
    [{ url, prefetchAt: Number.NaN }, 'ERR_OPTION_INVALID', 'prefetchAt is NaN'],
    [{ url, maxAgeMs: Number.NaN }, 'ERR_OPTION_INVALID', 'maxAgeMs is NaN'],
    [{ url, prefetchAt: '1' }, 'ERR_OPTION_INVALID', 'prefetchAt is'],
    [{ url, batchMs: 0 }, 'ERR_OPTION_INVALID', 'batchMs is 0'],
    [{ url, maxAgeMs: 0 }, 'ERR_OPTION_INVALID', 'maxAgeMs is 0'],
    [{ url, callTimeoutMs: Infinity }, 'ERR_OPTION_INVALID', 'callTimeoutMs is Infinity'],
    [{ url, retries: -1 }, 'ERR_OPTION_INVALID', 'retries is -1'],
    [{ url, maxWaitMs: 0 }, 'ERR_OPTION_INVALID', 'maxWaitMs is 0'],
    [{ url, fetch: 'fetch' }, 'ERR_OPTION_INVALID', 'fetch is a text'],
    [{ url, signal: {} }, 'ERR_OPTION_INVALID', 'signal is'],
    [{ url, nonsense: 1 }, 'ERR_OPTION_UNKNOWN', 'nonsense'],
  ])('such as %j is refused before anything is asked', async (options, code, message) => {
    const error = await connect(options as { url: string }).catch((reason) => reason)
    expect(error).toMatchObject({ code, message: expect.stringContaining(message) })
    expect(error.message).not.toContain('secret')
  })
})
