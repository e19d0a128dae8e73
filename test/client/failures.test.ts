import { once } from 'node:events'
import { connect } from 'graupel/client'
import { describe, expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { type FakeService, fakeService, refuse } from './service.ts'

// Servers that fail or refuse, and the client's reactions.

/**
 * A longer deadline, because on a busy machine a working server may also miss the short deadline of a test.
 */
const patient = { retries: 100, maxWaitMs: 60_000 }

test('a reply that is cut off costs its ids, and no id is handed out twice', async () => {
  const service = await fakeService()
  service.script = (_, __, give) => give(service.asked.length % 2 === 0 ? {} : { cutAt: 400 })
  const ids = await connect({ url: service.url, count: 100, maxCount: 100 })
  const made = await ids.fillAsync(new BigUint64Array(1000))
  expect(new Set(made).size).toBe(1000)
  for (const id of made) expect(service.given).toContain(id)
  expect(service.given.size).toBeGreaterThanOrEqual(2000)
  ids.close()
})

test('an answer that comes after its deadline is dropped', async () => {
  const service = await fakeService()
  const late: (() => void)[] = []
  service.script = (_, __, give) => (service.asked.length === 1 ? late.push(give) : give())
  const ids = await connect({ url: service.url, count: 10, callTimeoutMs: 200, ...patient })
  for (const give of late) give()
  const made = ids.take(10)
  expect(new Set(made).size).toBe(10)
  expect(service.asked.length).toBeGreaterThan(1)
  expect(ids.stats().servers[0]?.failures).toBeGreaterThan(0)
  ids.close()
})

test('a client leaves a server that hangs for the next server', async () => {
  const hanging = await fakeService({ script: () => {} })
  const working = await fakeService({ node: 2 })
  // Each client begins with a random server.
  for (let clients = 0; clients < 4 || hanging.asked.length === 0; clients++) {
    const ids = await connect({ urls: [hanging.url, working.url], count: 10, callTimeoutMs: 200, ...patient })
    expect(ids.decode(ids.next()).node).toBe(2)
    ids.close()
  }
})

test('Retry-After is honoured, unless another server may be asked', async () => {
  const busy = await fakeService({ script: (_, response) => refuse(response, 503, 'no lease', { 'retry-after': '1' }) })
  const beganMs = performance.now()
  const error = await connect({ url: busy.url, retries: 1 }).catch((reason) => reason)
  // Timers may fire a millisecond early.
  expect(performance.now() - beganMs).toBeGreaterThan(990)
  expect(error).toMatchObject({ code: 'ERR_SERVICE_UNAVAILABLE', retryAfterMs: 1000 })
  expect(error.message).toContain('503: no lease')
  expect(busy.asked).toHaveLength(2)
})

describe('a refusal', () => {
  test.each([400, 401, 403, 404, 409])('with %s is reported, and the request is not repeated', async (status) => {
    const service = await fakeService({ script: (_, response) => refuse(response, status, 'not\r\nfor you') })
    const error = await connect({ url: service.url }).catch((reason) => reason)
    expect(error).toMatchObject({ code: 'ERR_SERVICE_REFUSED', status })
    expect(error.message).toMatch(new RegExp(`^http://127.0.0.1:\\d+ answered ${status}: not for you$`))
    expect(service.asked).toHaveLength(1)
  })

  test('never shows the token, even if the service repeats it', async () => {
    const service = await fakeService({ script: (_, response) => refuse(response, 403, 'not with secret-token') })
    const error = await connect({ url: service.url, token: 'secret-token' }).catch((reason) => reason)
    expect(error.message).toContain('not with ***')
    expect(service.asked[0]?.headers.authorization).toBe('Bearer secret-token')
  })

  test('of a token makes the client call the function once more', async () => {
    const service = await fakeService()
    service.script = ({ headers }, response, give) =>
      headers.authorization === 'Bearer new' ? give() : refuse(response, 401, 'expired')
    let tokens = ['old', 'new']
    const ids = await connect({ url: service.url, token: async () => tokens.shift() as string })
    expect(service.asked).toHaveLength(2)
    ids.close()
    tokens = ['old', 'older', 'new']
    const error = await connect({ url: service.url, token: () => tokens.shift() as string }).catch((reason) => reason)
    expect(error).toMatchObject({ code: 'ERR_SERVICE_REFUSED', status: 401 })
    expect(tokens).toEqual(['new'])
  })

  test('of the count leads to requests for fewer ids', async () => {
    const service = await fakeService()
    const bounds = { parameter: 'count', minimum: 1, maximum: 300 }
    service.script = ({ count }, response, give) =>
      count > 300 ? refuse(response, 400, 'count is too much', {}, bounds) : give()
    const ids = await connect({ url: service.url })
    expect(service.asked.map(({ count }) => count)).toEqual([1000, 300])
    await ids.fillAsync(new BigUint64Array(2000))
    expect(service.asked.slice(2).every(({ count }) => count <= 300)).toBe(true)
    ids.close()
  })

  test('of each count, with a maximum that falls, is final after the retries', async () => {
    const service = await fakeService()
    service.script = ({ count }, response) =>
      refuse(response, 400, 'count is never right', {}, { parameter: 'count', maximum: Math.floor(count / 2) })
    const connecting = connect({ url: service.url, retries: 2 })
    await expect(connecting).rejects.toMatchObject({ code: 'ERR_SERVICE_REFUSED', status: 400 })
    expect(service.asked.map(({ count }) => count)).toEqual([1000, 500, 250, 125])
  })
})

describe('after a failure', () => {
  test('the ids that are left are handed out, and the next call rejects', async () => {
    const service = await fakeService()
    const ids = await connect({ url: service.url, count: 10, retries: 0 })
    service.script = (_, response) => refuse(response, 500, 'broken')
    ids.take(8)
    await until(() => ids.stats().failure !== '')
    expect(ids.take(2)).toHaveLength(2)
    const asked = service.asked.length
    for (const call of [ids.next, ids.nextString, () => ids.take(1)]) {
      expect(call).toThrow(expect.objectContaining({ code: 'ERR_SERVICE_UNAVAILABLE' }))
    }
    await until(() => service.asked.length > asked)
    service.script = (_, __, give) => give()
    // A request in progress may fail once more.
    await until(() => ids.nextAsync().then(Boolean, () => false))
    expect(ids.stats()).toMatchObject({ failure: '', issued: 11 })
    ids.close()
  })

  test('all waiting calls reject, each with its own error', async () => {
    const service = await fakeService()
    const ids = await connect({ url: service.url, count: 10, retries: 0 })
    service.script = (_, response) => refuse(response, 500, 'broken')
    ids.take(10)
    const calls = [ids.nextAsync(), ids.fillAsync(new BigUint64Array(3)), ids.nextAsync()]
    const errors = (await Promise.allSettled(calls)).map((one) => (one as PromiseRejectedResult).reason)
    expect(new Set(errors).size).toBe(3)
    for (const error of errors) expect(error.code).toBe('ERR_SERVICE_UNAVAILABLE')
    expect(errors.map(({ filled }) => filled)).toEqual([undefined, 0, undefined])
    expect(service.asked.length).toBeLessThan(4)
    ids.close()
  })

  test('the server that gives the ids of a strict group is asked next, if it is one of the servers', async () => {
    const all = await Promise.all([1, 2, 3, 4].map((node) => fakeService({ node })))
    const [holder, ...standbys] = all as [FakeService, ...FakeService[]]
    const elsewhere = await fakeService({ node: 5 })
    for (const named of [holder, elsewhere]) {
      const asked = () => all.map((one) => one.asked.length)
      const before = asked()
      for (const standby of standbys) {
        standby.script = (_, response) => {
          response.setHeader('graupel-holder', named.url)
          refuse(response, 503, 'another server gives the ids')
        }
      }
      const ids = await connect({ urls: all.map(({ url }) => url), count: 10 })
      ids.next()
      ids.close()
      const requests = asked().reduce((sum, count, at) => sum + count - (before[at] as number), 0)
      expect(requests).toBeLessThanOrEqual(named === holder ? 2 : 4)
    }
    expect(elsewhere.asked).toEqual([])
  })

  test('a server is asked again later', async () => {
    const one = await fakeService({ node: 1 })
    const two = await fakeService({ node: 2 })
    const ids = await connect({ urls: [one.url, two.url], count: 10, maxCount: 10 })
    const [used, other] = ids.decode(ids.next()).node === 1 ? [one, two] : [two, one]
    used.script = (_, response) => refuse(response, 500, 'broken')
    await ids.fillAsync(new BigUint64Array(30))
    expect(other.asked.length).toBeGreaterThan(0)
    used.script = (_, __, give) => give()
    other.script = (_, response) => refuse(response, 500, 'broken')
    const asked = used.asked.length
    await ids.fillAsync(new BigUint64Array(30))
    expect(used.asked.length).toBeGreaterThan(asked)
    ids.close()
  })
})

describe('close()', () => {
  test('ends requests and waiting calls', async () => {
    const service = await fakeService()
    const ids = await connect({ url: service.url, count: 10 })
    const closed = new Promise((resolve) => {
      service.script = (_, response) => once(response, 'close').then(resolve)
    })
    ids.take(10)
    const waiting = [ids.nextAsync(), ids.fillAsync(new BigUint64Array(2))]
    await until(() => service.asked.length === 2)
    ids.close()
    ids.close()
    for (const call of waiting) await expect(call).rejects.toMatchObject({ code: 'ERR_CLOSED' })
    await closed
    for (const call of [ids.next, ids.nextString, () => ids.take(1), () => ids.fill(new BigUint64Array(1))]) {
      expect(call).toThrow(expect.objectContaining({ code: 'ERR_CLOSED' }))
    }
    await expect(ids.nextAsync()).rejects.toMatchObject({ code: 'ERR_CLOSED' })
    expect(ids.stats()).toMatchObject({ issued: 10, left: 0 })
  })

  test('is not needed after a signal has ended connect()', async () => {
    const service = await fakeService({ script: () => {} })
    const controller = new AbortController()
    const reason = new Error('mine')
    const connecting = connect({ url: service.url, signal: controller.signal })
    await until(() => service.asked.length === 1)
    controller.abort(reason)
    await expect(connecting).rejects.toBe(reason)
    await expect(connect({ url: service.url, signal: controller.signal })).rejects.toBe(reason)
    expect(service.asked).toHaveLength(1)
  })
})

test('a call waits for maxWaitMs at most, and its error has the reason', async () => {
  const service = await fakeService({ script: () => {} })
  const connecting = connect({ url: service.url, maxWaitMs: 250, callTimeoutMs: 100, retries: 100 })
  await expect(connecting).rejects.toMatchObject({
    code: 'ERR_SERVICE_UNAVAILABLE',
    message: expect.stringMatching(/^no ids came within 250 ms: http.* did not answer within 100 ms$/),
  })
})
