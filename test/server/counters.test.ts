import { once } from 'node:events'
import { Agent, request } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import type { Store } from 'graupel/stores'
import { expect, it } from 'vitest'
import { until } from '../support/until.ts'
import { Faulty } from './support/faulty.ts'
import { startService } from './support/in-process.ts'
import { folder } from './support/process.ts'

async function countsOf(url: string): Promise<string[]> {
  const answer = await fetch(url)
  expect(answer.status).toBe(200)
  return ((await answer.json()) as { counts: string[] }).counts
}

async function problemOf(url: string, init: RequestInit = {}) {
  const answer = await fetch(url, init)
  const { code, detail } = (await answer.json()) as { code: string; detail: string }
  return { status: answer.status, code, detail, retryAfter: answer.headers.get('retry-after') }
}

/** Returns the numbers from 1 on, as texts. */
const upTo = (last: number) => Array.from({ length: last }, (_, i) => `${i + 1}`)

it('counts are texts in the pattern of the options, as JSON or as text', async () => {
  const { url } = await startService({ counters: { bills: { pattern: 'IN-"{yyyy}"-{count:6}', reset: 'year' } } })
  const year = new Date().getUTCFullYear()
  const json = await fetch(`${url}/v1/counters/bills?count=2`)
  expect(json.headers.get('content-type')).toMatch(/^application\/json/)
  expect(json.headers.get('cache-control')).toBe('no-store')
  expect(await json.json()).toEqual({ counts: [`IN-"${year}"-000001`, `IN-"${year}"-000002`] })
  const text = await fetch(`${url}/v1/counters/bills?count=2`, { headers: { accept: 'text/plain' } })
  expect(text.headers.get('content-type')).toMatch(/^text\/plain/)
  expect(await text.text()).toBe(`IN-"${year}"-000003\nIN-"${year}"-000004\n`)
})

it('counts cannot be sent as bytes, and neither such a request nor HEAD uses one up', async () => {
  const { url, service } = await startService()
  const problem = await problemOf(`${url}/v1/counters/bills`, { headers: { accept: 'application/octet-stream' } })
  expect(problem).toMatchObject({ status: 406, code: 'ERR_NOT_ACCEPTABLE' })
  expect((await fetch(`${url}/v1/counters/bills`, { method: 'HEAD' })).status).toBe(200)
  expect(service.counters.entries()).toEqual([])
  expect(await countsOf(`${url}/v1/counters/bills`)).toEqual(['1'])
})

it.each(['count=0', 'count=4097', 'count=x', 'count=1&count=1'])('?%s counts nothing', async (query) => {
  const { url } = await startService()
  expect(await problemOf(`${url}/v1/counters/bills?${query}`)).toMatchObject({
    status: 400,
    code: 'ERR_OPTION_INVALID',
  })
  expect(await countsOf(`${url}/v1/counters/bills?count=4096`)).toEqual(upTo(4096))
})

it('only the names of the options work, or as many names as may be open', async () => {
  const listed = await startService({ counters: { bills: {} } })
  expect(await problemOf(`${listed.url}/v1/counters/other`)).toMatchObject({ status: 404, code: 'ERR_NAME_UNKNOWN' })
  const bounded = await startService({ maxNames: 1 })
  expect(await countsOf(`${bounded.url}/v1/counters/a%2Fb`)).toEqual(['1'])
  expect(await problemOf(`${bounded.url}/v1/counters/c`)).toMatchObject({ status: 429, code: 'ERR_NAMES_FULL' })
  expect(await problemOf(`${bounded.url}/v1/counters/${'x'.repeat(129)}`)).toMatchObject({ status: 429 })
})

it('a count that does not fit the pattern is refused, and the count stays', async () => {
  const { url } = await startService({ counters: { few: { pattern: '{count:1}' } } })
  expect(await countsOf(`${url}/v1/counters/few?count=8`)).toEqual(upTo(8))
  const problem = await problemOf(`${url}/v1/counters/few?count=2`)
  expect(problem).toMatchObject({ status: 409, code: 'ERR_COUNTER_OVERFLOW' })
  expect(await countsOf(`${url}/v1/counters/few`)).toEqual(['9'])
})

it('two services on one store leave no gap and repeat nothing', async () => {
  const store = `sqlite:${folder}/shared.db`
  const urls = [(await startService({ store })).url, (await startService({ store })).url]
  const asked = Array.from({ length: 40 }, (_, i) => countsOf(`${urls[i % 2]}/v1/counters/bills?count=${1 + (i % 5)}`))
  const counts = (await Promise.all(asked)).flat().map(Number)
  expect(counts.toSorted((a, b) => a - b)).toEqual(upTo(120).map(Number))
})

it('counts are refused while the store is away, and none is missing afterwards', async () => {
  const faulty = new Faulty()
  const { url } = await startService({ counters: { bills: { callTimeoutMs: 100 } } }, { around: faulty.around })
  expect(await countsOf(`${url}/v1/counters/bills`)).toEqual(['1'])
  faulty.isAway = true
  const problem = await problemOf(`${url}/v1/counters/bills`)
  expect(problem).toMatchObject({ status: 503, code: 'ERR_STORE_UNAVAILABLE', retryAfter: '1' })
  expect(problem.detail).not.toContain('10.1.2.3')
  faulty.isAway = false
  expect(await countsOf(`${url}/v1/counters/bills?count=3`)).toEqual(['2', '3', '4'])
})

it('the count of a damaged record is refused, and not begun anew', async () => {
  const store = `sqlite:${folder}/damaged.db`
  const { url } = await startService({ store })
  expect(await countsOf(`${url}/v1/counters/bills?count=3`)).toEqual(upTo(3))
  const damaged = (inner: Store): Store => ({
    ...inner,
    async read(key, signal) {
      const found = await inner.read(key, signal)
      return found && key.startsWith('numbers/') ? { ...found, damage: 'its checksum does not fit' } : found
    },
  })
  const { url: other } = await startService({ store }, { around: damaged })
  const problem = await problemOf(`${other}/v1/counters/bills`)
  expect(problem).toMatchObject({ status: 503, code: 'ERR_STATE_CORRUPT' })
  expect(problem.detail).not.toContain('numbers/')
  expect(await countsOf(`${url}/v1/counters/bills`)).toEqual(['4'])
})

it('the counts of a client that has left go to the next client', async () => {
  const faulty = new Faulty()
  const { url, app, service } = await startService({}, { around: faulty.around })
  const counter = await service.counters.get('bills')
  const before = faulty.calls
  const sockets: Socket[] = []
  app.server.on('connection', (socket: Socket) => sockets.push(socket))
  faulty.hold()
  const agent = new Agent({ keepAlive: false })
  const leaving = request(`${url}/v1/counters/bills?count=3`, { agent }).end()
  const left = once(leaving, 'error')
  await until(() => faulty.calls > before)
  leaving.destroy(new Error('left'))
  await left
  await until(() => sockets[0]?.readableEnded === true)
  faulty.release()
  await until(() => counter.stats().held === 3)
  expect(await countsOf(`${url}/v1/counters/bills?count=2`)).toEqual(['1', '2'])
  expect(await countsOf(`${url}/v1/counters/bills`)).toEqual(['3'])
  expect(await countsOf(`${url}/v1/counters/bills`)).toEqual(['4'])
})

it('the callers of one write are answered in turns of the event loop, which all counters share', async () => {
  const faulty = new Faulty()
  const { service } = await startService({}, { around: faulty.around })
  const counters = [await service.counters.get('bills'), await service.counters.get('orders')]
  faulty.hold()
  const asked = Array.from({ length: 40 }, (_, i) => counters[i % 2]?.take(4096))
  const issued = () => counters.reduce((sum, counter) => sum + counter.stats().issued, 0)
  let before = 0
  let most = 0
  faulty.release()
  while (before < 40 * 4096) {
    await setImmediate()
    most = Math.max(most, issued() - before)
    before = issued()
  }
  // A turn begins no further answer once it has 16 384 counts.
  expect(most).toBeLessThan(16_384 + 4096)
  const all = (await Promise.all(asked)).map((counts) => counts ?? [])
  for (const which of [0, 1]) expect(all.filter((_, i) => i % 2 === which).flat()).toEqual(upTo(20 * 4096))
})
