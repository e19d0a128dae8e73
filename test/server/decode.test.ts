import { composeId, defineLayout, encodeId, layouts } from 'graupel'
import { beforeAll, expect, test } from 'vitest'
import { type Listening, listen, type ProblemBody } from './support/listening.ts'

let service: Listening
beforeAll(async () => {
  service = await listen({ layouts: [layouts.twitter, defineLayout({ ...layouts.wide, name: 'own' })] })
})

const read = async (path: string) => {
  const answer = await fetch(`${service.url}/v1/ids/${path}`)
  return { status: answer.status, headers: answer.headers, body: await answer.json() }
}

test('an id is decoded by the default layout of the service', async () => {
  const { status, headers, body } = await read('2045881362063413248')
  expect(status).toBe(200)
  expect(headers.get('cache-control')).toBe('no-store')
  expect(body).toEqual({
    id: '2045881362063413248',
    layout: 'twitter',
    timestamp: '2026-04-19T15:05:02.010Z',
    timestampMs: 1776611102010,
    node: 541,
    fields: { datacenter: 16, worker: 29 },
    sequence: 0,
  })
})

test('an id of the service is decoded', async () => {
  const answer = await fetch(`${service.url}/v1/ids`)
  const { ids } = (await answer.json()) as { ids: string[] }
  const { body } = await read(`${ids[0]}`)
  expect(body).toMatchObject({ id: ids[0], node: service.service.ids.get('twitter')?.node })
})

test('a preset is chosen by its name, even if the service makes no ids of it', async () => {
  const { body } = await read('175928847299117063?layout=discord')
  expect(body).toMatchObject({ layout: 'discord', timestamp: '2016-04-30T11:18:25.796Z' })
})

const id = composeId({ timestampMs: 1776611102010, node: 5, sequence: 9 }, layouts.wide)

test('a layout of the service is chosen by its name', async () => {
  const { body } = await read(`${id}?layout=own`)
  expect(body).toMatchObject({ layout: 'own', timestampMs: 1776611102010, node: 5, sequence: 9 })
})

test.each(['decimal', 'hex', 'base32', 'base58', 'base62'] as const)('an id in %s is read', async (format) => {
  const { body } = await read(`${encodeId(id, format)}?format=${format}&layout=wide`)
  expect(body).toMatchObject({ id: `${id}`, node: 5, sequence: 9 })
})

test.each([
  ['abc', 'ERR_ID_INVALID', /^the id is 'abc'; in decimal an id is 1 to 20 digits/],
  ['-1', 'ERR_ID_INVALID', /^the id is '-1'/],
  ['18446744073709551616', 'ERR_ID_INVALID', /between 0 and 2\^64 - 1/],
  ['18446744073709551615', 'ERR_ID_INVALID', /has 64 bits; ids of layout 'twitter' have at most 63/],
  ['12?format=hex', 'ERR_ID_INVALID', /has 2 characters; an id has exactly 16/],
  ['%00', 'ERR_ID_INVALID', /in decimal an id is/],
  ['1?format=bytes', 'ERR_OPTION_INVALID', /^format is "bytes"; give one of decimal, hex/],
  ['1?layout=no', 'ERR_OPTION_INVALID', /^layout is "no"; give one of twitter, leaf/],
  ['1?count=1', 'ERR_OPTION_UNKNOWN', /^there is no parameter "count"; this path takes format, layout/],
])('/v1/ids/%s is refused', async (path, code, detail) => {
  const { status, body } = await read(path)
  const problem = body as ProblemBody
  expect([status, problem.code]).toEqual([400, code])
  expect(problem.detail).toMatch(detail)
})
