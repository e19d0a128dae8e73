import { decode, encodeId, layouts, parseId, type TextEncoding } from 'graupel'
import { beforeAll, describe, expect, test } from 'vitest'
import { expandRuns, readRuns } from '../support/runs.ts'
import { type Listening, listen, type ProblemBody } from './support/listening.ts'
import { serve } from './support/process.ts'

let service: Listening
beforeAll(async () => {
  service = await listen({ layouts: [layouts.twitter, layouts.wide, layouts.tsid] })
})

const get = (path: string, headers: Record<string, string> = {}) => fetch(`${service.url}${path}`, { headers })
const idsOf = async (answer: Response) => ((await answer.json()) as { ids: string[] }).ids

test('one id is answered without any configuration', async () => {
  const { url } = await serve()
  const answer = await fetch(`${url}/v1/ids`)
  const { ids } = (await answer.json()) as { ids: string[] }
  expect(ids).toEqual([expect.stringMatching(/^[0-9]{19}$/)])
})

test('an answer has as many ids as requested, ascending, and no other answer has them', async () => {
  const counts = [1, 2, 100, 65_536]
  const answers = await Promise.all(counts.map(async (count) => idsOf(await get(`/v1/ids?count=${count}`))))
  expect(answers.map((ids) => ids.length)).toEqual(counts)
  for (const ids of answers)
    expect(ids).toEqual(
      [...ids]
        .map(BigInt)
        .sort((a, b) => (a < b ? -1 : 1))
        .map(String),
    )
  expect(new Set(answers.flat()).size).toBe(65_639)
})

test.each(['decimal', 'hex', 'base32', 'base58', 'base62'] as const)('ids are written in %s', async (format) => {
  const ids = await idsOf(await get(`/v1/ids?count=3&format=${format}`))
  const [one] = await idsOf(await get(`/v1/ids?format=${format}`))
  for (const id of [...ids, one as string]) {
    expect(encodeId(parseId(id, format satisfies TextEncoding), format)).toBe(id)
    expect(decode(parseId(id, format), layouts.twitter).timestampMs).toBeGreaterThan(Date.now() - 60_000)
  }
})

describe.each([1, 3, 20_000])('%i ids', (count) => {
  const kinds = [
    ['json', 'application/json', 'application/json; charset=utf-8'],
    ['text', 'text/plain', 'text/plain; charset=utf-8'],
    ['bytes', 'application/octet-stream', 'application/octet-stream'],
    ['runs', 'application/vnd.graupel.runs', 'application/vnd.graupel.runs'],
    ['runs-json', 'application/vnd.graupel.runs+json', 'application/vnd.graupel.runs+json'],
  ] as const
  test.each(kinds)('are sent as %s by Accept and by format, with their length', async (format, accept, type) => {
    const answers = await Promise.all([
      get(`/v1/ids?count=${count}`, { accept }),
      get(`/v1/ids?count=${count}&format=${format}`, { accept: 'image/png' }),
    ])
    for (const answer of answers) {
      expect(answer.status).toBe(200)
      expect(answer.headers.get('content-type')).toBe(type)
      expect(answer.headers.get('cache-control')).toBe('no-store')
      expect(answer.headers.get('graupel-layout')).toBe('twitter')
      expect(answer.headers.get('graupel-byte-order')).toBe(/^(bytes|runs)$/.test(format) ? 'little-endian' : null)
      expect(answer.headers.get('transfer-encoding')).toBeNull()
      const body = Buffer.from(await answer.arrayBuffer())
      expect(answer.headers.get('content-length')).toBe(`${body.length}`)
      const ids = readIds(format, body)
      expect(ids).toHaveLength(count)
      expect(ids.filter((id) => decode(id, layouts.twitter).timestampMs < Date.now() - 60_000)).toEqual([])
    }
  })
})

function readIds(format: 'json' | 'text' | 'bytes' | 'runs' | 'runs-json', body: Buffer): bigint[] {
  if (format === 'runs' || format === 'runs-json') return expandRuns(readRuns(format, body))
  if (format === 'json') return (JSON.parse(`${body}`) as { ids: string[] }).ids.map(BigInt)
  if (format === 'bytes') return Array.from({ length: body.length / 8 }, (_, i) => body.readBigUInt64LE(i * 8))
  expect(`${body}`).toMatch(/\n$/)
  return `${body}`.trimEnd().split('\n').map(BigInt)
}

test('65 536 ids take at most 1 kB as runs, and no run crosses a tick', async () => {
  const answer = await get('/v1/ids?count=65536&format=runs')
  const body = Buffer.from(await answer.arrayBuffer())
  expect(body.length).toBeLessThanOrEqual(1000)
  const runs = readRuns('runs', body)
  expect(expandRuns(runs)).toHaveLength(65_536)
  for (const { first, count } of runs) {
    const ends = [first, first + BigInt(count) - 1n].map((id) => decode(id, layouts.twitter))
    expect(ends[1]?.timestampMs).toBe(ends[0]?.timestampMs)
  }
})

test.each([
  ['text/plain;q=0.5, application/octet-stream;q=0.9', 'application/octet-stream'],
  ['text/*', 'text/plain; charset=utf-8'],
  ['application/*;q=0.1, text/plain', 'text/plain; charset=utf-8'],
  ['application/json;q=0, */*', 'text/plain; charset=utf-8'],
  ['text/html, */*;q=0.8', 'application/json; charset=utf-8'],
  ['*/*', 'application/json; charset=utf-8'],
])('Accept: %s gets %s', async (accept, type) => {
  const answer = await get('/v1/ids', { accept })
  expect(answer.headers.get('content-type')).toBe(type)
})

test('a layout is chosen by its name, and the answer names it', async () => {
  const answer = await get('/v1/ids?count=2&layout=wide')
  expect(answer.headers.get('graupel-layout')).toBe('wide')
  const [first, second] = (await idsOf(answer)).map((id) => decode(id, layouts.wide))
  expect(first?.timestampMs).toBeGreaterThan(Date.now() - 60_000)
  expect(second?.node).toBe(first?.node)
})

test('HEAD answers with the headers of GET, and uses up no id', async () => {
  const issued = () => service.service.ids.get('twitter')?.stats()?.ids.issued
  const before = issued()
  expect(before).toBeTypeOf('number')
  const head = await fetch(`${service.url}/v1/ids?count=3&format=bytes`, { method: 'HEAD' })
  const names = ['content-type', 'graupel-layout', 'graupel-byte-order', 'cache-control']
  const said = names.map((name) => head.headers.get(name))
  expect([head.status, ...said]).toEqual([200, 'application/octet-stream', 'twitter', 'little-endian', 'no-store'])
  expect((await fetch(`${service.url}/v1/ids?count=0`, { method: 'HEAD' })).status).toBe(400)
  expect(issued()).toBe(before)
})

test('HEAD is refused as GET is while there is no node', async () => {
  const { url } = await listen({}, { isOpen: false })
  for (const method of ['GET', 'HEAD']) {
    const { status, headers } = await fetch(`${url}/v1/ids`, { method })
    expect([method, status, headers.get('retry-after')]).toEqual([method, 503, '1'])
  }
})

test.each([
  ['count=0', 'ERR_OPTION_INVALID', 'count is "0"; give a whole number from 1 to 65536'],
  ['count=-1', 'ERR_OPTION_INVALID', 'count is "-1"; give a whole number from 1 to 65536'],
  ['count=1000000000', 'ERR_OPTION_INVALID', 'count is "1000000000"; give a whole number from 1 to 65536'],
  ['count=65537', 'ERR_OPTION_INVALID', 'count is "65537"; give a whole number from 1 to 65536'],
  ['count=1e3', 'ERR_OPTION_INVALID', 'count is "1e3"; give a whole number from 1 to 65536'],
  ['count=', 'ERR_OPTION_INVALID', 'count is ""; give a whole number from 1 to 65536'],
  ['count=%zz', 'ERR_OPTION_INVALID', 'count is "%zz"; give a whole number from 1 to 65536'],
  ['count=many', 'ERR_OPTION_INVALID', 'count is "many"; give a whole number from 1 to 65536'],
  ['count=1&count=1', 'ERR_OPTION_INVALID', 'count is given 2 times; give it once'],
  ['format=xml', 'ERR_OPTION_INVALID', /^format is "xml"; give one of decimal, hex/],
  ['layout=discord', 'ERR_OPTION_INVALID', 'layout is "discord"; give one of twitter, wide, tsid'],
  [
    'Count=1',
    'ERR_OPTION_UNKNOWN',
    'there is no parameter "Count" (did you mean "count"?); this path takes count, format, layout, after',
  ],
  [
    '__proto__=1',
    'ERR_OPTION_UNKNOWN',
    'there is no parameter "__proto__"; this path takes count, format, layout, after',
  ],
  [
    'constructor=1',
    'ERR_OPTION_UNKNOWN',
    'there is no parameter "constructor"; this path takes count, format, layout, after',
  ],
])('?%s is refused', async (query, code, detail) => {
  const answer = await get(`/v1/ids?${query}`)
  const problem = (await answer.json()) as ProblemBody
  expect(answer.status).toBe(400)
  expect(problem.code).toBe(code)
  if (typeof detail === 'string') expect(problem.detail).toBe(detail)
  else expect(problem.detail).toMatch(detail)
  // Programs read the bounds from properties, not from the text.
  if (/whole number/.test(problem.detail)) {
    expect(problem).toMatchObject({ parameter: 'count', minimum: 1, maximum: 65_536 })
  }
})

test('an encoding of text is refused in a request for bytes', async () => {
  const answer = await get('/v1/ids?format=hex', { accept: 'application/octet-stream' })
  expect(answer.status).toBe(400)
  expect(((await answer.json()) as ProblemBody).detail).toMatch(/^format is "hex", and Accept asks for bytes/)
})

test.each([
  ['application/json; charset=utf-8', 'application/json; charset=utf-8'],
  ['Application/JSON;charset="UTF-8"', 'application/json; charset=utf-8'],
  ['text/plain;charset=utf-8', 'text/plain; charset=utf-8'],
  ['application/octet-stream;x=1', 'application/octet-stream'],
  ['application/json;charset=utf-8; q=0.1, text/plain; format=flowed ; q = 0.9', 'text/plain; charset=utf-8'],
  ['application/json;charset=utf-8; q=0, */*;q=0.1', 'text/plain; charset=utf-8'],
])('parameters of a type in Accept do not matter, except its weight: %s', async (accept, type) => {
  for (const path of ['/v1/ids', '/v1/ids?count=2', '/v1/segments/orders']) {
    const answer = await get(path, { accept })
    expect([path, answer.status, answer.headers.get('content-type')]).toEqual([path, 200, type])
  }
})

test('every type that the service answers with is one that it accepts', async () => {
  for (const path of ['/v1/ids', '/v1/ids/1', '/v1/segments/orders', '/v1/counters/bills', '/openapi.json', '/']) {
    const accept = (await get(path)).headers.get('content-type') as string
    expect([path, (await get(path, { accept })).status]).toEqual([path, 200])
  }
})

test('an Accept that allows nothing is refused, and the answer lists the types', async () => {
  const answer = await get('/v1/ids', { accept: 'image/png' })
  expect(answer.status).toBe(406)
  expect(((await answer.json()) as ProblemBody).detail).toBe(
    'Accept is "image/png"; accept application/json or text/plain or application/octet-stream or application/vnd.graupel.runs or application/vnd.graupel.runs+json',
  )
})

test('ids are refused with Retry-After while there is no node', async () => {
  const { app } = await listen({}, { isOpen: false })
  const answer = await app.inject('/v1/ids')
  expect(answer.statusCode).toBe(503)
  expect(answer.headers['retry-after']).toBe('1')
  expect(answer.json()).toMatchObject({ code: 'ERR_LEASE_EXPIRED' })
})
