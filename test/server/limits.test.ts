import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { layouts } from 'graupel'
import { beforeAll, describe, expect, test } from 'vitest'
import { until } from '../support/until.ts'
import { type Listening, listen, type ProblemBody, parsed, send } from './support/listening.ts'

let service: Listening
beforeAll(async () => {
  service = await listen()
})

const head = (path: string, ...lines: string[]) =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`
const codeOf = (answer: string) => {
  const { status, headers, body } = parsed(answer)
  return [status, (JSON.parse(body) as ProblemBody).code, headers.get('connection')]
}

describe('a body is refused, and the connection closed', () => {
  test.each([
    ['of a length', 'GET', ['Content-Length: 3'], 'abc'],
    ['that is announced and never sent', 'GET', ['Content-Length: 1000000'], ''],
    ['in chunks', 'GET', ['Transfer-Encoding: chunked'], '3\r\nabc\r\n0\r\n\r\n'],
    ['of HEAD', 'GET', ['Content-Length: 1', 'Content-Type: text/plain'], 'a'],
    ['that is JSON', 'GET', ['Content-Length: 2', 'Content-Type: application/json'], '{}'],
    ['of an unknown type', 'GET', ['Content-Length: 2', 'Content-Type: ;;'], '{}'],
    ['that waits to be asked for', 'GET', ['Content-Length: 3', 'Expect: 100-continue'], ''],
  ])('%s', async (_, method, lines, body) => {
    const answer = await send(service.port, `${head('/v1/ids', ...lines).replace('GET', method)}${body}`)
    expect(codeOf(answer)).toEqual([400, 'ERR_BODY_UNEXPECTED', 'close'])
    expect(answer).not.toMatch(/100 Continue/)
  })

  test('of a forbidden method, because of the method', async () => {
    const answer = await send(
      service.port,
      'POST /v1/ids HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9999999\r\n\r\n{',
    )
    expect(codeOf(answer)).toEqual([405, 'ERR_METHOD_NOT_ALLOWED', 'close'])
  })
})

test('a body of length 0 counts as no body', async () => {
  const answer = await send(service.port, head('/v1/ids', 'Content-Length: 0', 'Connection: close'))
  expect(parsed(answer).status).toBe(200)
})

test('headers of more than 8 KiB are refused', async () => {
  const fits = await send(service.port, head('/v1/ids', `X-A: ${'a'.repeat(7000)}`, 'Connection: close'))
  expect(parsed(fits).status).toBe(200)
  const answer = await send(service.port, head('/v1/ids', `X-A: ${'a'.repeat(20_000)}`))
  expect(codeOf(answer)).toEqual([431, 'ERR_HEADERS_TOO_LARGE', 'close'])
})

test('headers behind a thousand others are read', async () => {
  const many = 'a:b\r\n'.repeat(1100)
  const request = (...lines: string[]) => `GET /v1/ids?count=2 HTTP/1.1\r\n${many}${lines.join('\r\n')}\r\n\r\n`
  const asked = request('Host: localhost', 'Accept: application/octet-stream', 'Connection: close')
  expect(parsed(await send(service.port, asked)).headers.get('content-type')).toBe('application/octet-stream')
  expect(codeOf(await send(service.port, `${request('Host: localhost', 'Content-Length: 2')}{}`))).toEqual([
    ...[400, 'ERR_BODY_UNEXPECTED', 'close'],
  ])
})

test('a request that does not arrive in time is refused', async () => {
  const { port } = await listen({ requestTimeoutMs: 300 })
  const answer = await send(port, 'GET /v1/ids HTTP/1.1\r\nHost: loc')
  expect(codeOf(answer)).toEqual([408, 'ERR_REQUEST_TIMEOUT', 'close'])
})

test('an idle connection is closed after a while, and the answer announces it', async () => {
  const { port } = await listen({ keepAliveMs: 1000 })
  const answer = await send(port, head('/v1/ids'))
  expect(parsed(answer).headers.get('keep-alive')).toBe('timeout=1')
})

test('a client that does not read its answer is closed within a minute', async () => {
  const { port, app } = await listen({ maxCount: 2 ** 20 })
  // Node looks a second time, because the system has taken some bytes of the answer when it looks first.
  expect(2 * app.server.timeout).toBe(60_000)
  app.server.timeout = 100
  const accepted = once(app.server, 'connection')
  const socket = connect(port, '127.0.0.1').pause()
  socket.write(head(`/v1/ids?count=${2 ** 20}`))
  const [own] = (await accepted) as [Socket]
  await once(own, 'close')
  socket.destroy()
})

test('connections beyond the limit are closed', async () => {
  const { port, app } = await listen({ maxConnections: 2 })
  const held = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')]
  for (const socket of held) await once(socket, 'connect')
  const count = () => new Promise<number>((resolve) => app.server.getConnections((_, n) => resolve(n)))
  await until(async () => (await count()) === 2)
  expect(await send(port, head('/v1/ids'))).toBe('')
  for (const socket of held) socket.destroy()
  await until(async () => (await count()) === 0)
  expect(parsed(await send(port, head('/v1/ids', 'Connection: close'))).status).toBe(200)
})

/**
 * Starts a service of which one connection waits for as many counts as requests may wait for.
 *
 * @param behind - Bytes behind these requests.
 */
async function fullOfCounts(behind = '') {
  const { app, port, service } = await listen()
  let waiting = 0
  service.counters.get = () => {
    waiting++
    return new Promise(() => {})
  }
  const room = 2 ** 22 / 4096
  const accepted = once(app.server, 'connection')
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  const [own] = (await accepted) as [Socket]
  const connected = behind.startsWith('CONNECT') ? once(app.server, 'connect') : undefined
  socket.write(head('/v1/counters/bills?count=4096').repeat(room) + behind)
  await Promise.all([until(() => waiting === room), connected])
  /** Lets the connection end by its timeout, and waits until other requests get counts. */
  const untilFree = async () => {
    own.setTimeout(1)
    service.counters.get = async () => ({ take: async () => ['1'] }) as never
    await until(async () => (await app.inject('/v1/counters/bills')).statusCode === 200)
  }
  return { app, socket, untilFree }
}

test('counts that requests wait for are bounded, until the requests have ended', async () => {
  const { app, socket, untilFree } = await fullOfCounts()
  const refused = await app.inject('/v1/counters/bills')
  expect([refused.statusCode, refused.headers['retry-after']]).toEqual([503, '1'])
  expect(refused.json()).toMatchObject({
    code: 'ERR_OVERLOADED',
    detail: 'other requests wait for 4194304 numbers, and the limit is 4194304; try again later',
  })
  expect((await app.inject('/v1/ids')).statusCode).toBe(200)
  socket.destroy()
  // The service reads no more of a connection with so many requests, so it learns of the end by its timeout.
  await untilFree()
})

test('counts that requests wait for count no longer once their connection has ended, although CONNECT came behind them', async () => {
  const { app, untilFree } = await fullOfCounts(head('a:1').replace('GET', 'CONNECT'))
  expect((await app.inject('/v1/counters/bills')).statusCode).toBe(503)
  await untilFree()
})

test.each(['/v1/segments/orders', '/v1/counters/bills', '/api/segment/get/orders', '/api/snowflake/get/x'])(
  'no more requests than connections wait for %s, which one connection may have sent',
  async (path) => {
    const { app, port, service } = await listen({ maxConnections: 100, layouts: [layouts.twitter, layouts.leaf] })
    let waiting = 0
    const wait = () => {
      waiting++
      return new Promise<never>(() => {})
    }
    service.segments.get = service.counters.get = wait
    for (const source of service.ids.values()) source.next = wait
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    socket.write(head(path).repeat(200))
    await until(() => waiting === 100)
    const refused = await app.inject(path)
    if (path.startsWith('/v1')) expect(refused.json()).toMatchObject({ status: 503, code: 'ERR_OVERLOADED' })
    else expect([refused.statusCode, refused.body]).toEqual([500, expect.stringContaining('status=EXCEPTION')])
    expect(waiting).toBe(100)
    socket.destroy()
  },
)

test('numbers of segments count until they are made, although their connection has ended', async () => {
  const { app, port, service } = await listen({ maxCount: 65_536 })
  const waiting: (() => void)[] = []
  const fillAsync = async (array: BigUint64Array) => {
    await new Promise<void>((resolve) => waiting.push(resolve))
    return array
  }
  service.segments.get = async () => ({ fillAsync }) as never
  const count = 16_384
  const room = 2 ** 22 / count
  const accepted = once(app.server, 'connection')
  const socket = connect(port, '127.0.0.1')
  const [own] = (await accepted) as [Socket]
  const path = `/v1/segments/orders?count=${count}&format=bytes`
  socket.write(head(path).repeat(room))
  await until(() => waiting.length === room)
  socket.destroy()
  own.setTimeout(1)
  await once(own, 'close')
  await new Promise(setImmediate)
  expect((await app.inject(path)).statusCode).toBe(503)
  for (const resolve of waiting.splice(0)) resolve()
  const after = app.inject(path)
  await until(() => waiting.length === 1)
  for (const resolve of waiting.splice(0)) resolve()
  expect((await after).statusCode).toBe(200)
})

describe('ids that requests wait for', () => {
  const maxCount = 65_536
  /** Starts a service whose ids wait until the test releases them. */
  const held = async () => {
    const started = await listen({ maxCount, maxConnections: 100 })
    const source = started.service.ids.get('twitter')
    if (source === undefined) throw new Error('there is no twitter')
    const waiting: (() => void)[] = []
    const wait = () => new Promise<void>((resolve) => waiting.push(resolve))
    source.fill = async () => {
      await wait()
      return new BigUint64Array(2)
    }
    source.next = async () => {
      await wait()
      return 1n
    }
    return { ...started, waiting, letGo: () => waiting.splice(0).forEach((resolve) => void resolve()) }
  }
  // The ids of twitter in ten seconds are more than memory may hold.
  const room = 2 ** 22 / maxCount

  test('are bounded: further requests are refused until earlier answers are sent', async () => {
    const { url, waiting, letGo } = await held()
    const ask = () => fetch(`${url}/v1/ids?count=${maxCount}&format=bytes`)
    const before = Array.from({ length: room }, ask)
    await until(() => waiting.length === room)
    const refused = await ask()
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
    expect(await refused.json()).toMatchObject({
      code: 'ERR_OVERLOADED',
      detail: 'other requests wait for 4194304 numbers, and the limit is 4194304; try again later',
    })
    letGo()
    for (const answer of await Promise.all(before)) expect(answer.status).toBe(200)
    const after = ask()
    await until(() => waiting.length === 1)
    letGo()
    expect((await after).status).toBe(200)
  })

  test('count no longer once they are made and their connection has ended, even behind another request', async () => {
    const { app, port, waiting, letGo } = await held()
    const socket = connect(port, '127.0.0.1')
    socket.write(head(`/v1/ids?count=${maxCount}`).repeat(room))
    await until(() => waiting.length === room)
    expect((await app.inject(`/v1/ids?count=${maxCount}`)).statusCode).toBe(503)
    socket.destroy()
    await until(async () => {
      const answer = app.inject(`/v1/ids?count=${maxCount}`)
      letGo()
      setImmediate(letGo)
      return (await answer).statusCode === 200
    })
  })

  test('count until they are made, although their connection has ended', async () => {
    const { app, port, waiting, letGo } = await held()
    const accepted = once(app.server, 'connection')
    const socket = connect(port, '127.0.0.1')
    const [own] = (await accepted) as [Socket]
    socket.write(head(`/v1/ids?count=${maxCount}`).repeat(room))
    await until(() => waiting.length === room)
    socket.destroy()
    // The service reads no more of such a connection, so it learns of the end by its timeout.
    own.setTimeout(1)
    await once(own, 'close')
    await new Promise(setImmediate)
    expect((await app.inject(`/v1/ids?count=${maxCount}`)).statusCode).toBe(503)
    letGo()
    const after = app.inject(`/v1/ids?count=${maxCount}`)
    await until(() => waiting.length === 1)
    letGo()
    expect((await after).statusCode).toBe(200)
  })

  test('are also bounded one by one', async () => {
    const { url, waiting, letGo, app } = await held()
    const before = Array.from({ length: 99 }, () => fetch(`${url}/v1/ids`))
    const last = app.inject('/v1/ids?count=1')
    await until(() => waiting.length === 100)
    const refused = await fetch(`${url}/v1/ids`)
    expect(await refused.json()).toMatchObject({ status: 503, code: 'ERR_OVERLOADED' })
    letGo()
    expect((await last).statusCode).toBe(200)
    for (const answer of await Promise.all(before)) expect(answer.status).toBe(200)
  })
})
