import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { GraupelError } from 'graupel'
import { beforeAll, describe, expect, test } from 'vitest'
import { refuseConnect } from '../../server/src/http/connections.ts'
import { Problem, refusalOf } from '../../server/src/http/problems.ts'
import { type Listening, listen, type ProblemBody, parsed, send } from './support/listening.ts'

let service: Listening
beforeAll(async () => {
  service = await listen()
})

/** Parses a refusal and checks the properties of all refusals. */
function problemOf(answer: string): { status: number; headers: Headers; problem: ProblemBody } {
  const { status, headers, body } = parsed(answer)
  const problem = JSON.parse(body) as ProblemBody
  expect(headers.get('content-type')).toBe('application/problem+json')
  expect(headers.get('content-length')).toBe(`${Buffer.byteLength(body)}`)
  expect(headers.get('cache-control')).toBe('no-store')
  const names = Object.keys(problem)
  expect(names.slice(0, 5)).toEqual(['type', 'title', 'status', 'detail', 'code'])
  expect(names.slice(5)).toEqual(/give a whole number/.test(problem.detail) ? ['parameter', 'minimum', 'maximum'] : [])
  expect(problem).toMatchObject({ status, type: `urn:graupel:${problem.code}` })
  expect(problem.detail).toMatch(/^\S.*; .*\S$/)
  expect(body).not.toMatch(/node_modules|\/work|\.[jt]s\b|fastify|FST_|HPE_|\\n +at /i)
  return { status, headers, problem }
}

const exchange = async (line: string, ...headers: string[]) =>
  problemOf(
    await send(service.port, `${[line, 'Host: localhost', 'Connection: close', ...headers].join('\r\n')}\r\n\r\n`),
  )

describe('a path', () => {
  test.each([
    ['/no', 404, 'ERR_ROUTE_UNKNOWN'],
    ['/v1/', 404, 'ERR_ROUTE_UNKNOWN'],
    ['/V1/IDS', 404, 'ERR_ROUTE_UNKNOWN'],
    ['/v1/ids/', 400, 'ERR_ID_INVALID'],
    ['//v1/ids', 404, 'ERR_ROUTE_UNKNOWN'],
    ['/%00', 404, 'ERR_ROUTE_UNKNOWN'],
    ['/v1/ids/%00', 400, 'ERR_ID_INVALID'],
    ['/v1/ids/..', 404, 'ERR_ROUTE_UNKNOWN'],
    ['/v1/ids/%2e%2E', 404, 'ERR_ROUTE_UNKNOWN'],
    ['/v1/../v1/ids', 404, 'ERR_ROUTE_UNKNOWN'],
    ['/../../etc/passwd', 404, 'ERR_ROUTE_UNKNOWN'],
    ['/v1/segments/..?count=1', 404, 'ERR_ROUTE_UNKNOWN'],
    ['/%zz', 400, 'ERR_REQUEST_INVALID'],
    ['/v1/ids/%', 400, 'ERR_REQUEST_INVALID'],
    ['/v1/ids/%ff', 400, 'ERR_REQUEST_INVALID'],
    [`/v1/ids/${'1'.repeat(600)}`, 414, 'ERR_URI_TOO_LONG'],
    [`/v1/ids?format=${'x'.repeat(3000)}`, 414, 'ERR_URI_TOO_LONG'],
  ])('%s is refused', async (path, status, code) => {
    const answer = await exchange(`GET ${path} HTTP/1.1`)
    expect([answer.status, answer.problem.code]).toEqual([status, code])
  })
})

describe('a method', () => {
  test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY'])(
    '%s is not allowed on a route, and the answer lists the allowed methods',
    async (method) => {
      const paths = ['/v1/ids', '/v1/ids/1', '/', '/livez', '/openapi.json']
      for (const path of paths) {
        const { status, headers, problem } = await exchange(`${method} ${path} HTTP/1.1`)
        expect([status, problem.code, headers.get('allow')]).toEqual([405, 'ERR_METHOD_NOT_ALLOWED', 'GET, HEAD'])
      }
    },
  )

  test.each(['POST', 'OPTIONS', 'PROPFIND'])('%s of an unknown path is refused because of the path', async (method) => {
    expect((await exchange(`${method} /no HTTP/1.1`)).problem.code).toBe('ERR_ROUTE_UNKNOWN')
    expect((await exchange(`${method} * HTTP/1.1`)).problem.code).toBe('ERR_ROUTE_UNKNOWN')
  })

  test('CONNECT by a client that has left causes no error in the service', async () => {
    const write = (_: unknown, _encoding: unknown, done: (error: Error) => void) => done(new Error('write EPIPE'))
    const socket = Object.assign(new Duplex({ write, read() {} }), { setTimeout() {} })
    // Node has removed its own listeners, so an unhandled error would end the process and fail this run.
    refuseConnect({ headers: {} } as IncomingMessage, socket as unknown as Socket)
    await new Promise((resolve) => socket.once('close', resolve))
    expect(socket.errored).toMatchObject({ message: 'write EPIPE' })
  })

  test('CONNECT is refused, and the connection closed', async () => {
    const answer = await send(service.port, 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n')
    expect(problemOf(answer)).toMatchObject({ status: 405, problem: { code: 'ERR_METHOD_NOT_ALLOWED' } })
    expect(problemOf(answer).headers.get('x-request-id')).toMatch(/-/)
  })
})

describe('bytes that are no request are refused, and the connection is closed', () => {
  test.each([
    ['no HTTP', 'hello\r\n\r\n'],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['HTTP/2 without a version', 'PRI *HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['a space in the path', 'GET /v1/ ids HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    ['a NUL in the path', 'GET /v1/ids\0 HTTP/1.1\r\nHost: localhost\r\n\r\n'],
    ['a header without a name', 'GET /v1/ids HTTP/1.1\r\n: x\r\n\r\n'],
    ['two lengths', 'GET /v1/ids HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n'],
    [
      'a length and chunks',
      'GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n',
    ],
    ['a negative length', 'GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n'],
    ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03'],
  ])('%s', async (_, bytes) => {
    const { status, headers, problem } = problemOf(await send(service.port, bytes))
    expect([status, problem.code, headers.get('connection')]).toEqual([400, 'ERR_REQUEST_INVALID', 'close'])
    expect(headers.get('x-request-id')).toMatch(/^[0-9a-f]{8}-[0-9a-z]+$/)
  })

  test('and the log has the X-Request-Id of the answer', async () => {
    const { port, log } = await listen()
    const { headers } = problemOf(await send(port, 'hello\r\n\r\n'))
    const reqId = headers.get('x-request-id')
    expect(log).toContainEqual(expect.objectContaining({ reqId, code: 'HPE_INVALID_METHOD' }))
  })

  test('after the answer to an earlier request', async () => {
    const answer = await send(service.port, 'GET /v1/ids?count=2 HTTP/1.1\r\nHost: localhost\r\n\r\nhello\r\n\r\n')
    expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400'])
    expect(problemOf(answer).problem.code).toBe('ERR_REQUEST_INVALID')
  })
})

test('a request without Host is refused in HTTP/1.1', async () => {
  const answer = problemOf(await send(service.port, 'GET /v1/ids HTTP/1.1\r\nConnection: close\r\n\r\n'))
  expect([answer.status, answer.problem.code]).toEqual([400, 'ERR_REQUEST_INVALID'])
})

test.each(['localhost', 'example.com'])('two Host headers are refused, the second one %s', async (second) => {
  const hosts = `Host: localhost\r\nHost: ${second}\r\n`
  const answer = problemOf(await send(service.port, `GET /v1/ids HTTP/1.1\r\n${hosts}Connection: close\r\n\r\n`))
  expect([answer.status, answer.problem.code]).toEqual([400, 'ERR_REQUEST_INVALID'])
  expect(answer.problem.detail).toBe('the request has two Host headers; send one')
})

test('a refused HEAD has no body', async () => {
  const answer = await fetch(`${service.url}/no`, { method: 'HEAD' })
  expect([answer.status, answer.headers.get('content-type'), await answer.text()]).toEqual([
    404,
    'application/problem+json',
    '',
  ])
})

describe('the id of a request', () => {
  test('is the id that the client sent, and comes back', async () => {
    for (const path of ['/v1/ids', '/v1/ids?count=0']) {
      const answer = await fetch(`${service.url}${path}`, { headers: { 'x-request-id': 'a.B-1_c' } })
      expect(answer.headers.get('x-request-id')).toBe('a.B-1_c')
    }
    expect(service.log).toContainEqual(expect.objectContaining({ level: 20, reqId: 'a.B-1_c', status: 200 }))
    expect(service.log).toContainEqual(
      expect.objectContaining({ level: 20, reqId: 'a.B-1_c', code: 'ERR_OPTION_INVALID', url: '/v1/ids' }),
    )
  })

  test.each(['', 'a b', 'x'.repeat(65), '{"a":1}', 'ä'])('is a new id instead of %j', async (given) => {
    const answer = await fetch(`${service.url}/no`, { headers: { 'x-request-id': given } })
    expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f]{8}-[0-9a-z]+$/)
  })
})

describe('a failure of the service', () => {
  const failing = async (error: unknown): Promise<Listening> => {
    const started = await listen()
    const source = started.service.ids.get('twitter')
    if (source !== undefined) source.next = () => Promise.reject(error)
    return started
  }

  test('is answered without its reason, and logged with it', async () => {
    const { url, log } = await failing(new Error('EACCES /var/lib/secret'))
    const answer = await fetch(`${url}/v1/ids`)
    expect(answer.status).toBe(500)
    expect(await answer.json()).toEqual({
      type: 'urn:graupel:ERR_INTERNAL',
      title: 'Internal Server Error',
      status: 500,
      detail: 'the service failed; see its log for the reason',
      code: 'ERR_INTERNAL',
    })
    expect(log).toContainEqual(
      expect.objectContaining({ level: 50, err: expect.objectContaining({ message: 'EACCES /var/lib/secret' }) }),
    )
  })

  test('is answered without the address of the store', async () => {
    const { url } = await failing(
      new GraupelError('ERR_LEASE_EXPIRED', "the store 'redis' answers: ECONNREFUSED 10.1.2.3:6379", {
        retryAfterMs: 2500,
      }),
    )
    const answer = await fetch(`${url}/v1/ids`)
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '3'])
    expect(((await answer.json()) as ProblemBody).detail).not.toMatch(/redis|10\.1/)
  })

  test('is logged once a second for each code, with the number of failures', async () => {
    const { url, log } = await failing(new GraupelError('ERR_LEASE_EXPIRED', 'away'))
    for (let i = 0; i < 20; i++) expect((await fetch(`${url}/v1/ids`)).status).toBe(503)
    const lines = log.filter(({ level }) => level === 50)
    expect(lines[0]).toMatchObject({ code: 'ERR_LEASE_EXPIRED', more: 0 })
    expect(lines.length + lines.reduce((sum, { more }) => sum + (more as number), 0)).toBeLessThan(20)
  })
})

test.each([undefined, null, 'text', 5, { code: 'toString' }, { code: 7 }])(
  'throwing %j is a failure of the service',
  (thrown) => {
    expect(refusalOf(thrown)).toMatchObject({ status: 500, code: 'ERR_INTERNAL' })
  },
)

test('a refusal has the headers of its problem, and Retry-After if waiting helps', () => {
  const full = refusalOf(new Problem('ERR_NAMES_FULL', 'there are 2; use these', { 'x-a': '1' }))
  expect([full.status, full.headers['retry-after'], full.headers['x-a']]).toEqual([429, undefined, '1'])
  const busy = refusalOf(new Problem('ERR_OVERLOADED', 'there are 2; wait'))
  expect([busy.status, busy.headers['retry-after']]).toEqual([503, '1'])
})
