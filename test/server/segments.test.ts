import { describe, expect, it } from 'vitest'
import { readRuns } from '../support/runs.ts'
import { until } from '../support/until.ts'
import { Faulty } from './support/faulty.ts'
import { startService } from './support/in-process.ts'

/** Options for segments of this many numbers, without fetching ahead. */
const steady = (step: number) => ({ step, maxStep: step, callTimeoutMs: 200, prefetchAt: 1 })

async function numbersOf(url: string): Promise<bigint[]> {
  const answer = await fetch(url)
  expect(answer.status).toBe(200)
  const { numbers } = (await answer.json()) as { numbers: string[] }
  return numbers.map(BigInt)
}

async function problemOf(url: string, init: RequestInit = {}) {
  const answer = await fetch(url, init)
  const { code, detail } = (await answer.json()) as { code: string; detail: string }
  return { status: answer.status, code, detail, retryAfter: answer.headers.get('retry-after') }
}

describe('numbers of a segment', () => {
  it('are JSON, text or bytes, and ascend', async () => {
    const { url } = await startService()
    const json = await fetch(`${url}/v1/segments/orders`)
    expect(json.headers.get('content-type')).toMatch(/^application\/json/)
    expect(json.headers.get('cache-control')).toBe('no-store')
    expect(await json.text()).toBe('{"numbers":["1"]}')
    const text = await fetch(`${url}/v1/segments/orders?count=2`, { headers: { accept: 'text/plain' } })
    expect(text.headers.get('content-type')).toMatch(/^text\/plain/)
    expect(await text.text()).toBe('2\n3\n')
    const bytes = await fetch(`${url}/v1/segments/orders?count=2`, { headers: { accept: 'application/octet-stream' } })
    expect(bytes.headers.get('graupel-byte-order')).toBe('little-endian')
    expect(bytes.headers.get('content-length')).toBe('16')
    expect(await (await fetch(`${url}/v1/segments/orders?format=hex&count=2`)).json()).toEqual({
      numbers: ['0000000000000006', '0000000000000007'],
    })
    const view = new DataView(await bytes.arrayBuffer())
    expect([0, 8].map((at) => view.getBigUint64(at, true))).toEqual([4n, 5n])
  })

  it('are all different if many requests come at once, across segments', async () => {
    const { url } = await startService({ segments: { orders: { step: 100 } } })
    const all = await Promise.all(Array.from({ length: 60 }, () => numbersOf(`${url}/v1/segments/orders?count=7`)))
    for (const numbers of all) expect(numbers).toEqual(numbers.toSorted((a, b) => Number(a - b)))
    expect(new Set(all.flat()).size).toBe(420)
  })

  it('are not used up by HEAD, which opens no name', async () => {
    const { url, service } = await startService()
    const head = await fetch(`${url}/v1/segments/orders?count=9`, { method: 'HEAD' })
    expect(head.status).toBe(200)
    // The length would be the length of numbers, and HEAD makes none.
    expect(head.headers.get('content-length')).toBeNull()
    expect(head.headers.get('content-type')).toMatch(/^application\/json/)
    expect(service.segments.entries()).toEqual([])
    expect(await numbersOf(`${url}/v1/segments/orders`)).toEqual([1n])
    await service.segments.close()
    for (const method of ['GET', 'HEAD']) {
      expect((await fetch(`${url}/v1/segments/orders`, { method })).status).toBe(503)
    }
  })

  it.each([
    ['count=0', 'ERR_OPTION_INVALID'],
    ['count=-1', 'ERR_OPTION_INVALID'],
    ['count=11', 'ERR_OPTION_INVALID'],
    ['count=1e1', 'ERR_OPTION_INVALID'],
    ['count=1&count=2', 'ERR_OPTION_INVALID'],
    ['number=1', 'ERR_OPTION_UNKNOWN'],
  ])('are refused for ?%s', async (query, code) => {
    const { url, service } = await startService({ maxCount: 10 })
    expect(await problemOf(`${url}/v1/segments/orders?${query}`)).toMatchObject({ status: 400, code })
    expect(service.segments.entries()).toEqual([])
  })

  it('are up to --max-count as runs, and up to 1 048 576 in each other form', async () => {
    const { url } = await startService({ maxCount: 2 ** 24 })
    const most = `${url}/v1/segments/orders?count=${2 ** 24}`
    const [run] = readRuns('runs', new Uint8Array(await (await fetch(`${most}&format=runs`)).arrayBuffer()))
    expect(run).toEqual({ first: 1n, count: 2 ** 24, stride: 1 })
    const detail = expect.stringContaining('give a whole number from 1 to 1048576')
    for (const format of ['json', 'text', 'bytes']) {
      expect(await problemOf(`${most}&format=${format}`)).toMatchObject({ code: 'ERR_OPTION_INVALID', detail })
    }
    expect(await problemOf(`${url}/v1/ids?count=${2 ** 24}&format=runs`)).toMatchObject({ status: 400, detail })
  })

  it('are no longer taken for a client that has left', async () => {
    const { url, service } = await startService({ maxCount: 2 ** 24, segments: { orders: steady(1000) } })
    const leaving = new AbortController()
    const answer = fetch(`${url}/v1/segments/orders?count=${2 ** 24}&format=runs`, leaving)
    const issued = () => service.segments.entries()[0]?.[1].stats().issued ?? 0
    await until(() => issued() > 1000)
    leaving.abort()
    await expect(answer).rejects.toThrow('aborted')
    let before: number
    do {
      before = issued()
      for (let turns = 0; turns < 20; turns++) await (await fetch(`${url}/livez`)).text()
    } while (issued() !== before)
    expect(before).toBeLessThan(2 ** 24)
  })
})

describe('a name', () => {
  it('is decoded once, and may be any text of 1 to 128 characters', async () => {
    const { url, service } = await startService()
    const names = ['a/b', 'a%2Fb', 'Ж'.repeat(40), '__proto__', '..x', 'x'.repeat(128)]
    for (const name of names) expect(await numbersOf(`${url}/v1/segments/${encodeURIComponent(name)}`)).toEqual([1n])
    expect(service.segments.entries().map(([name]) => name)).toEqual(names)
    for (const name of ['x'.repeat(129), 'x'.repeat(512), 'Ж'.repeat(41)]) {
      const problem = await problemOf(`${url}/v1/segments/${encodeURIComponent(name)}`)
      expect(problem).toMatchObject({ status: 400, code: 'ERR_OPTION_INVALID' })
    }
    expect(service.segments.entries()).toHaveLength(names.length)
  })

  it('that is not in the list is unknown', async () => {
    const { url } = await startService({ segments: { orders: {}, bills: {} } })
    expect(await problemOf(`${url}/v1/segments/Orders`)).toMatchObject({
      status: 404,
      code: 'ERR_NAME_UNKNOWN',
      detail: expect.stringContaining('orders, bills'),
    })
    expect((await fetch(`${url}/v1/segments/Orders`, { method: 'HEAD' })).status).toBe(404)
  })

  it('beyond the bound is refused, and open names go on', async () => {
    const { url, service } = await startService({ maxNames: 2 })
    for (const name of ['a', 'b']) await numbersOf(`${url}/v1/segments/${name}`)
    const refused = await Promise.all(Array.from({ length: 50 }, (_, i) => problemOf(`${url}/v1/segments/other-${i}`)))
    for (const problem of refused) expect(problem).toMatchObject({ status: 429, code: 'ERR_NAMES_FULL' })
    expect(await numbersOf(`${url}/v1/segments/b`)).toEqual([2n])
    expect(service.segments.entries()).toHaveLength(2)
  })

  it('that belongs to a counter is no segment, and the answer does not name the record', async () => {
    const { url } = await startService()
    await (await fetch(`${url}/v1/counters/orders`)).text()
    const problem = await problemOf(`${url}/v1/segments/orders`)
    expect(problem).toMatchObject({ status: 409, code: 'ERR_STATE_MISMATCH' })
    expect(problem.detail).not.toMatch(/record|prefix|table/)
  })
})

describe('the first request for a name', () => {
  it('opens it once for all requests that come meanwhile', async () => {
    const faulty = new Faulty()
    const { url, service } = await startService({}, { around: faulty.around })
    faulty.hold()
    const asked = Array.from({ length: 20 }, () => service.segments.get('orders'))
    faulty.release()
    expect(new Set(await Promise.all(asked)).size).toBe(1)
    expect(await numbersOf(`${url}/v1/segments/orders?count=20`)).toContain(1n)
  })

  it('that fails leaves nothing behind, and its answer does not describe the store', async () => {
    const faulty = new Faulty()
    const { url, service } = await startService(
      { maxNames: 1, segments: { orders: steady(10) } },
      { around: faulty.around },
    )
    faulty.isAway = true
    const failed = await Promise.all([1, 2, 3].map(() => problemOf(`${url}/v1/segments/orders`)))
    for (const problem of failed) {
      expect(problem).toMatchObject({ status: 503, code: 'ERR_STORE_UNAVAILABLE', retryAfter: '1' })
      expect(problem.detail).not.toContain('10.1.2.3')
    }
    expect(service.segments.entries()).toEqual([])
    faulty.isAway = false
    expect(await numbersOf(`${url}/v1/segments/orders`)).toEqual([1n])
  })

  it('ends at once if the service is closed', async () => {
    const faulty = new Faulty()
    const { service } = await startService(
      { segments: { orders: { callTimeoutMs: 600_000 } } },
      { around: faulty.around },
    )
    faulty.hold()
    const asked = service.segments.get('orders')
    asked.catch(() => {})
    await service.segments.close()
    await expect(asked).rejects.toMatchObject({ code: 'ERR_CLOSED' })
    await expect(service.segments.get('orders')).rejects.toMatchObject({ code: 'ERR_CLOSED' })
    faulty.release()
  })
})

it('numbers go on while the store is away until they are used up, and come back with it', async () => {
  const faulty = new Faulty()
  const { url } = await startService({ segments: { orders: steady(10) } }, { around: faulty.around })
  const given = await numbersOf(`${url}/v1/segments/orders?count=4`)
  faulty.isAway = true
  for (let i = 0; i < 6; i++) given.push(...(await numbersOf(`${url}/v1/segments/orders`)))
  const problem = await problemOf(`${url}/v1/segments/orders`)
  expect(problem).toMatchObject({ status: 503, code: 'ERR_EMPTY', retryAfter: '1' })
  expect(problem.detail).not.toContain('10.1.2.3')
  faulty.isAway = false
  await until(async () => (await fetch(`${url}/v1/segments/orders`)).status === 200)
  given.push(...(await numbersOf(`${url}/v1/segments/orders`)))
  expect(given.slice(0, 10)).toEqual(Array.from({ length: 10 }, (_, i) => BigInt(i + 1)))
  expect(new Set(given).size).toBe(11)
})
