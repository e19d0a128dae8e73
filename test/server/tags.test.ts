import { composeId, decode, defineLayout, encodeId, type Layout, layouts, parseId } from 'graupel'
import { defineKind } from 'graupel/kind'
import { decodeUuid } from 'graupel/uuid'
import { afterAll, describe, expect, test } from 'vitest'
import { expandRuns, readRuns } from '../support/runs.ts'
import { shardedFields } from '../support/sharded.ts'
import { seriesOf, startService } from './support/in-process.ts'
import type { ProblemBody } from './support/listening.ts'
import { command, type Reply, RespClient } from './support/resp.ts'

// Layouts with tags, which a request chooses.

const epochMs = Date.UTC(2024, 0)
const rows = defineLayout({
  name: 'rows',
  epochMs,
  tickMs: 1,
  fields: shardedFields,
})
const notes = defineLayout({
  name: 'notes',
  epochMs,
  tickMs: 1,
  fields: [
    ['kind', 4, 'tag?'],
    ['timestamp', 41],
    ['worker', 4],
    ['shard', 3, 'tag?'],
    ['sequence', 8],
  ],
})
/** The bits of Leaf's ids, with a tag in the place of some bits of the worker. */
const alike = defineLayout({
  name: 'alike',
  epochMs: layouts.leaf.epochMs,
  tickMs: 1,
  fields: [
    ['timestamp', 41],
    ['worker', 5],
    ['shard', 5, 'tag'],
    ['sequence', 12],
  ],
})
const item = defineKind({ prefix: 'item', layout: rows })
const given = {
  resp: 0,
  logIds: true,
  layouts: [rows, notes, alike, layouts.twitter] as readonly Layout[],
  kinds: { item: {}, doc: { uuid: true } },
}
const { url, respUrl, app, log } = await startService(given)
const resp = await RespClient.open(respUrl)
afterAll(() => resp.socket.destroy())
const get = (query: string, init?: RequestInit) => fetch(`${url}/v1/ids?${query}`, init)
const textsOf = async (query: string) => ((await (await get(query)).json()) as { ids: string[] }).ids
const refused = (reply: Reply | undefined) => (reply instanceof Error ? reply.message : `no refusal: ${reply}`)

describe('tag.NAME', () => {
  test.each([1, 40, 3000])('is in each of %i ids, in each form', async (count) => {
    const query = `tag.shard=5&count=${count}`
    const all: bigint[][] = [(await textsOf(query)).map(BigInt)]
    all.push((await textsOf(`${query}&format=base58`)).map((text) => parseId(text, 'base58')))
    for (const form of ['runs', 'runs-json'] as const) {
      const body = Buffer.from(await (await get(`${query}&format=${form}`)).arrayBuffer())
      all.push(expandRuns(readRuns(form, body)))
    }
    const bytes = Buffer.from(await (await get(`${query}&format=bytes`)).arrayBuffer())
    all.push(Array.from({ length: count }, (_, i) => bytes.readBigUInt64LE(8 * i)))
    all.push((await textsOf(`${query}&format=uuid`)).map((text) => decodeUuid(text, rows).id))
    all.push((await textsOf(`${query}&kind=item`)).map((text) => item.id(text as never)))
    for (const ids of all) {
      expect(ids).toHaveLength(count)
      expect(ids).toEqual([...ids].sort((a, b) => (a < b ? -1 : 1)))
      for (const id of ids) expect(decode(id, rows).tags).toEqual({ shard: 5 })
    }
    expect(new Set(all.flat()).size).toBe(all.length * count)
  })

  test('of several requests at once never share a slot', async () => {
    const answers = await Promise.all(Array.from({ length: 64 }, (_, shard) => textsOf(`tag.shard=${shard}&count=200`)))
    const slots = answers.flat().map((id) => {
      const { timestampMs, node, sequence } = decode(id, rows)
      return composeId({ timestampMs, node, sequence, tags: { shard: 0 } }, rows)
    })
    expect(new Set(slots).size).toBe(64 * 200)
    for (const [shard, ids] of answers.entries()) {
      for (const id of ids) expect(decode(id, rows).tags.shard).toBe(shard)
    }
  })

  test('is 0 if it has a default, wherever it stands', async () => {
    const tagsOf = async (query: string) => decode((await textsOf(query))[0] as string, notes).tags
    expect(await tagsOf('layout=notes')).toEqual({ kind: 0, shard: 0 })
    expect(await tagsOf('layout=notes&tag.shard=7')).toEqual({ kind: 0, shard: 7 })
    expect(await tagsOf('layout=notes&count=9&tag.shard=1&tag.kind=15')).toEqual({ kind: 15, shard: 1 })
  })

  test('and after are in one request', async () => {
    const after = composeId({ timestampMs: Date.now() + 500, node: 200, tags: { shard: 63 } }, rows)
    for (const count of [1, 20]) {
      const answer = await get(`tag.shard=0&count=${count}&after=${after}`)
      const { ids } = (await answer.json()) as { ids: string[] }
      for (const id of ids) expect(BigInt(id)).toBeGreaterThan(after)
      expect(answer.headers.get('graupel-last-id')).toBe(ids.at(-1))
    }
  })

  test.each([
    [
      '',
      'ERR_OPTION_INVALID',
      'tag.shard is missing, and layout "rows" has no default for it; give a whole number from 0 to 63',
    ],
    ['count=3', 'ERR_OPTION_INVALID', 'tag.shard is missing'],
    ['kind=item', 'ERR_OPTION_INVALID', 'tag.shard is missing'],
    ['tag.shard=64', 'ERR_OPTION_INVALID', 'tag.shard is "64"; give a whole number from 0 to 63'],
    ['tag.shard=-1', 'ERR_OPTION_INVALID', 'tag.shard is "-1"; give a whole number from 0 to 63'],
    ['tag.shard=1.5', 'ERR_OPTION_INVALID', 'tag.shard is "1.5"'],
    ['tag.shard=', 'ERR_OPTION_INVALID', 'tag.shard is ""'],
    ['tag.shard=8&layout=notes', 'ERR_OPTION_INVALID', 'tag.shard is "8"; give a whole number from 0 to 7'],
    ['tag.shard=1&tag.shard=1', 'ERR_OPTION_INVALID', 'tag.shard is given 2 times; give it once'],
    [
      'tag.kind=1&tag.shard=1',
      'ERR_OPTION_INVALID',
      'tag.kind is given, and layout "rows" has tag.shard; leave tag.kind out',
    ],
    [
      'tag.shard=1&layout=twitter',
      'ERR_OPTION_INVALID',
      'tag.shard is given, and layout "twitter" has no tags; leave tag.shard out',
    ],
    ['tag.sahrd=1', 'ERR_OPTION_UNKNOWN', 'there is no parameter "tag.sahrd" (did you mean "tag.shard"?)'],
    ['shard=1', 'ERR_OPTION_UNKNOWN', 'there is no parameter "shard"'],
    ['tag.=1', 'ERR_OPTION_UNKNOWN', 'there is no parameter "tag."'],
    ['tag.__proto__=1', 'ERR_OPTION_UNKNOWN', 'there is no parameter'],
  ])('is refused by its name in ?%s, by GET and by HEAD', async (query, code, detail) => {
    const answer = await get(query)
    const problem = (await answer.json()) as ProblemBody
    expect([answer.status, problem.code]).toEqual([400, code])
    expect(problem.detail).toContain(detail)
    expect((await get(query, { method: 'HEAD' })).status).toBe(400)
  })

  test('is no parameter of a service whose layouts have no tags', async () => {
    const other = await startService()
    const answer = await fetch(`${other.url}/v1/ids?tag.shard=1`)
    expect(((await answer.json()) as ProblemBody).detail).toBe(
      'there is no parameter "tag.shard"; this path takes count, format, layout, after',
    )
  })

  test('is missing in the request that is answered before all others', async () => {
    const other = await startService({ layouts: [rows as Layout], logLevel: 'info' })
    const answer = await fetch(`${other.url}/v1/ids`)
    expect(await answer.json()).toMatchObject({ status: 400, code: 'ERR_OPTION_INVALID', parameter: 'tag.shard' })
  })

  test('is described in the OpenAPI document', async () => {
    const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as {
      paths: Record<string, { get: { parameters: { name: string; description: string; schema: object }[] } }>
    }
    expect(paths['/v1/ids']?.get.parameters.find(({ name }) => name === 'tag.shard')).toMatchObject({
      description: 'the tag shard of each id, of layout rows; layout notes, by default 0; layout alike',
      schema: { type: 'integer', minimum: 0, maximum: 63 },
    })
  })

  test("does not let Leaf's routes give ids of its layout", async () => {
    const other = await startService({ layouts: [alike as Layout] })
    expect((await fetch(`${other.url}/api/snowflake/get/orders`)).status).toBe(500)
  })

  test('counts in the metrics, and is in the ids of the log', async () => {
    const issued = () => seriesOf(app, 'graupel_ids_total{kind="id",name="rows"}') as Promise<number>
    const before = await issued()
    const ids = [...(await textsOf('tag.shard=9&count=5')), ...(await textsOf('tag.shard=10'))]
    expect((await issued()) - before).toBe(6)
    const logged = log.filter(({ event }) => event === 'taken').flatMap(({ ranges }) => (ranges as string[][]).flat())
    for (const id of [ids[0], ids[4], ids[5]]) expect(logged).toContain(id)
  })
})

describe('an id with tags', () => {
  test('is decoded with its tags', async () => {
    const [text = ''] = await textsOf('tag.shard=33')
    const { timestamp, ...parts } = decode(text, rows)
    const expected = { id: text, layout: 'rows', timestamp: timestamp.toISOString(), ...parts }
    expect(expected.tags).toEqual({ shard: 33 })
    const read = async (path: string) => (await fetch(`${url}/v1/ids/${path}`)).json()
    expect(await read(text)).toEqual(expected)
    expect(await read(`${encodeId(BigInt(text), 'hex')}?format=hex`)).toEqual(expected)
    expect(await read(`${item.text(BigInt(text))}?kind=item`)).toEqual(expected)
    const [note = ''] = await textsOf('layout=notes&tag.kind=3')
    expect(await read(`${note}?layout=notes`)).toMatchObject({ tags: { kind: 3, shard: 0 } })
  })

  test('is decoded by ID.DECODE with its tags, in both versions of the protocol', async () => {
    const [text = ''] = (await resp.ask('ID.NEXT', 1, 'TAG', 'shard', 12)) as string[]
    const reply = (await resp.ask('ID.DECODE', text)) as Reply[]
    expect(reply.slice(-2)).toEqual(['tags', ['shard', 12]])
    const own = await RespClient.open(respUrl)
    await own.ask('HELLO', 3)
    expect(((await own.ask('ID.DECODE', text)) as Reply[]).slice(-2)).toEqual(['tags', ['shard', 12]])
    own.socket.destroy()
  })
})

describe('ID.NEXT … TAG', () => {
  test('chooses tags, beside the other words in any order', async () => {
    const ids = (await resp.ask('ID.NEXT', 300, 'tag', 'shard', 63)) as string[]
    for (const id of ids) expect(decode(id, rows).tags).toEqual({ shard: 63 })
    const words = ['TAG', 'kind', 2, 'hex', 'LAYOUT', 'notes', 'TAG', 'shard', 1] as const
    const [hex = ''] = (await resp.ask('ID.NEXT', 1, ...words)) as string[]
    expect(decode(parseId(hex, 'hex'), notes).tags).toEqual({ kind: 2, shard: 1 })
    expect(decode((await resp.ask('GET', 'id:notes')) as string, notes).tags).toEqual({ kind: 0, shard: 0 })
  })

  test('are those of each command of a pipeline', async () => {
    const shards = [1, 2, 2, 1, 3]
    const text = shards.map((shard) => command('ID.NEXT', 2, 'TAG', 'shard', shard)).join('')
    const replies = (await resp.send(text, shards.length)) as string[][]
    expect(replies.map((ids) => ids.map((id) => decode(id, rows).tags.shard))).toEqual(shards.map((n) => [n, n]))
    expect(new Set(replies.flat()).size).toBe(10)
  })

  test.each([
    [['ID.NEXT', '1'], 'ERR_OPTION_INVALID TAG shard is missing, and layout "rows" has no default for it'],
    [['GET', 'id:rows'], 'ERR_OPTION_INVALID TAG shard is missing'],
    [['MGET', 'id:notes', 'id:rows'], 'ERR_OPTION_INVALID TAG shard is missing'],
    [['INCR', 'id:rows'], 'ERR_OPTION_INVALID TAG shard is missing'],
    [['ID.NEXT', '1', 'TAG', 'shard', '64'], 'ERR_OPTION_INVALID TAG shard is "64"; give a whole number from 0 to 63'],
    [['ID.NEXT', '1', 'TAG', 'shard'], 'ERR Syntax error: TAG has no name and value'],
    [['ID.NEXT', '1', 'TAG', 'shard', '1', 'TAG', 'shard', '2'], 'ERR_OPTION_INVALID TAG "shard" is given twice'],
    [['ID.NEXT', '1', 'TAG', 'sahrd', '1'], 'ERR_OPTION_INVALID TAG sahrd is given, and layout "rows" has TAG shard'],
    [['ID.NEXT', '1', 'LAYOUT', 'twitter', 'TAG', 'shard', '1'], 'layout "twitter" has no tags; leave TAG shard out'],
  ])('refuses %j', async (words, message) => {
    expect(refused((await resp.send(command(...words)))[0])).toContain(message)
  })
})
