import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decode, defineLayout, type Layout, layouts } from 'graupel'
import { connect } from 'graupel/client'
import { defineKind } from 'graupel/kind'
import { createUuidGenerator, decodeUuid } from 'graupel/uuid'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { exitCodeOf, lineOf } from '../../server/src/failure.ts'
import { kindsOf } from '../../server/src/options/kinds.ts'
import { readCommand } from '../../server/src/options/read.ts'
import { type Listening, listen, type ProblemBody } from './support/listening.ts'

// Ids of the service as UUIDs, and as texts of kinds.

const folder = mkdtempSync(join(tmpdir(), 'graupel-texts-'))
afterAll(() => rmSync(folder, { recursive: true }))
const keyFile = join(folder, 'inv.keys')
const hex = '00112233445566778899aabbccddeeff'
writeFileSync(keyFile, `# the key of invoices\na = ${hex}\n`)

/** More bits of node and sequence than a UUID has room for. */
const big = {
  name: 'big',
  epochMs: Date.UTC(2026, 0),
  tickMs: 1000,
  fields: [
    ['timestamp', 28],
    ['node', 16],
    ['sequence', 19],
  ],
} as const
const kinds = { ord: {}, usr: { layout: 'sonyflake' }, doc: { uuid: true }, inv: { keyFile } }
const order = defineKind({ prefix: 'ord', layout: layouts.twitter })
const user = defineKind({ prefix: 'usr', layout: layouts.sonyflake })
const doc = defineKind({ prefix: 'doc', uuid: true })
const invoice = defineKind({ prefix: 'inv', layout: layouts.twitter, keys: { a: Buffer.from(hex, 'hex') } })

let service: Listening
beforeAll(async () => {
  service = await listen({ layouts: [layouts.twitter, layouts.sonyflake, defineLayout(big)], kinds })
})

const get = (path: string, init?: RequestInit) => fetch(`${service.url}/v1/ids${path}`, init)
const textsOf = async (path: string) => ((await (await get(path)).json()) as { ids: string[] }).ids

describe.each([
  ['format=uuid', layouts.twitter as Layout, (text: string) => decodeUuid(text, layouts.twitter).id],
  ['format=uuid&layout=sonyflake', layouts.sonyflake, (text: string) => decodeUuid(text, layouts.sonyflake).id],
  ['kind=ord', layouts.twitter, order.id],
  ['kind=usr', layouts.sonyflake, user.id],
  ['kind=doc', layouts.twitter, (text: string) => decodeUuid(doc.id(text), layouts.twitter).id],
  ['kind=inv', layouts.twitter, invoice.id],
] as const)('%s', (query, layout, idOf) => {
  test.each([1, 3, 20_000])('gives %i texts, whose ids ascend, as JSON and as lines', async (count) => {
    // More ids than a slice of the answer has, but few for Sonyflake, which makes 25 600 a second.
    const few = layout === layouts.sonyflake ? Math.min(count, 2000) : count
    const json = await textsOf(`?${query}&count=${few}`)
    const answer = await get(`?${query}&count=${few}`, { headers: { accept: 'text/plain' } })
    expect(answer.headers.get('graupel-layout')).toBe(layout.name)
    const lines = (await answer.text()).trimEnd().split('\n')
    for (const texts of [json, lines]) {
      const ids = texts.map((text) => idOf(text as never))
      expect(ids).toHaveLength(few)
      expect(ids).toEqual([...ids].sort((a, b) => (a < b ? -1 : 1)))
      expect(decode(ids[0] as bigint, layout).timestampMs).toBeGreaterThan(Date.now() - 60_000)
    }
    expect(new Set([...json, ...lines].map((text) => idOf(text as never))).size).toBe(2 * few)
  })

  test('is read back', async () => {
    const [text = ''] = await textsOf(`?${query}`)
    const id = idOf(text as never)
    const { timestamp, ...parts } = decode(id, layout)
    const body = await (await get(`/${text}?${query}`)).json()
    expect(body).toEqual({ id: `${id}`, layout: layout.name, timestamp: timestamp.toISOString(), ...parts })
  })
})

test('ids, UUIDs and texts of requests at the same time have different slots', async () => {
  const queries = ['', '&format=uuid', '&kind=ord', '&kind=doc', '&kind=inv']
  const all = await Promise.all(queries.map((query) => textsOf(`?count=5000${query}`)))
  const read = [
    BigInt,
    (text: string) => decodeUuid(text, layouts.twitter).id,
    order.id,
    (text: string) => decodeUuid(doc.id(text), layouts.twitter).id,
    invoice.id,
  ]
  const ids = all.flatMap((texts, i) => texts.map((text) => read[i]?.(text)))
  expect(new Set(ids).size).toBe(25_000)
})

test('a client of the service is a source of UUIDs', async () => {
  const uuids = createUuidGenerator({ ids: await connect({ url: service.url }) })
  const bytes = await uuids.fillAsync(new Uint8Array(16 * 5000))
  const ids = Array.from(
    { length: 5000 },
    (_, i) => decodeUuid(bytes.subarray(16 * i, 16 * i + 16), layouts.twitter).id,
  )
  expect(ids).toEqual([...new Set(ids)].sort((a, b) => (a < b ? -1 : 1)))
  uuids.close()
})

test.each([
  ['?format=uuid&layout=big', 'ERR_LAYOUT_INVALID', /^layout 'big' has \d+ bits of sequence/],
  ['/019eb1ad-6b48-7000-9785-2c9c2a3f2c41?format=uuid&layout=big', 'ERR_LAYOUT_INVALID', /^layout 'big'/],
  ['/019eb1ad?format=uuid', 'ERR_ID_INVALID', /^the UUID is '019eb1ad'/],
  ['?kind=odr', 'ERR_OPTION_INVALID', /^kind is "odr" \(did you mean "ord"\?\); give one of ord, usr, doc, inv$/],
  ['?kind=ord&layout=sonyflake', 'ERR_OPTION_INVALID', /^layout is "sonyflake", and ids of the kind "ord" have/],
  ['?kind=ord&format=hex', 'ERR_OPTION_INVALID', /^format is "hex", and the kind "ord" has a format of its own/],
  ['?kind=ord&format=uuid', 'ERR_OPTION_INVALID', /^format is "uuid", and the kind "ord"/],
  ['?kind=ord&format=runs', 'ERR_OPTION_INVALID', /^format is "runs", and the kind "ord"/],
  ['/usr_1asd13xh1f800?kind=ord', 'ERR_ID_INVALID', /'usr_1asd13xh1f800'/],
  ['/inv_00000000000000000000000000?kind=inv', 'ERR_ID_INVALID', /no key/],
])('%s is refused with %s', async (path, code, message) => {
  const answer = await get(path)
  const body = (await answer.json()) as ProblemBody
  expect([answer.status, body.code]).toEqual([400, code])
  expect(body.detail).toMatch(message)
  if (path.startsWith('?')) expect((await get(path, { method: 'HEAD' })).status).toBe(400)
})

test.each(['?kind=ord', '?format=uuid'])('%s is refused if Accept asks for numbers', async (query) => {
  const answer = await get(query, { headers: { accept: 'application/octet-stream' } })
  expect([answer.status, ((await answer.json()) as ProblemBody).code]).toEqual([400, 'ERR_OPTION_INVALID'])
})

test('a segment has no UUIDs, and a service without kinds has no such parameter', async () => {
  const segment = await fetch(`${service.url}/v1/segments/orders?format=uuid`)
  expect(((await segment.json()) as ProblemBody).detail).toMatch(/^format is "uuid"; give one of decimal, /)
  const { url } = await listen()
  const kind = await fetch(`${url}/v1/ids?kind=ord`)
  expect(((await kind.json()) as ProblemBody).detail).toMatch(/^there is no parameter "kind"; this path takes count/)
})

describe('a wrong kind ends the start', () => {
  const optionsOf = (given: object) => {
    const file = join(folder, 'config.json')
    writeFileSync(file, JSON.stringify(given))
    const command = readCommand(['--config', file], {})
    if (command.kind !== 'run') throw new Error('no options')
    return command.options
  }
  const empty = join(folder, 'empty.keys')
  writeFileSync(empty, '\n')

  test.each([
    [{ ORD: {} }, /^kinds\.ORD: prefix is 'ORD'.*ERR_OPTION_INVALID/],
    [
      { ord: { layout: 'leaf' } },
      /^kinds\.ord\.layout is "leaf", which the service does not have; give one of twitter/,
    ],
    [{ ord: { leyout: 'twitter' } }, /^kinds\.ord: .*leyout.*ERR_OPTION_UNKNOWN/],
    [{ ord: { uuid: 'yes' } }, /^kinds\.ord: uuid is 'yes'; pass true/],
    [{ ord: { uuid: true, keyFile } }, /^kinds\.ord: uuid is true, and keys is given/],
    [{ ord: { keys: { a: hex } } }, /^kinds\.ord has keys, which is no option; give keyFile/],
    [{ ord: { prefix: 'o' } }, /^kinds\.ord has prefix, which is no option/],
    [{ ord: { keyFile: 5 } }, /^kinds\.ord\.keyFile is 5; give the path/],
    [{ ord: { keyFile: join(folder, 'none') } }, /^kinds\.ord\.keyFile cannot be read \(ENOENT\)/],
    [{ ord: { keyFile: empty } }, /^kinds\.ord\.keyFile is '.*', which has no key.*ERR_KEY_INVALID/],
  ])('%j', (given, line) => {
    let error: unknown
    try {
      kindsOf(optionsOf({ kinds: given }))
    } catch (thrown) {
      error = thrown
    }
    expect(lineOf(error)).toMatch(line)
    expect(lineOf(error)).not.toContain(hex)
    expect(exitCodeOf(error)).toBe(2)
  })

  test('a kind of UUIDs whose layout has no room', () => {
    const options = optionsOf({ layouts: ['twitter', big], kinds: { doc: { uuid: true, layout: 'big' } } })
    expect(() => kindsOf(options)).toThrow(/^kinds\.doc: layout 'big' has/)
  })

  test('prefixes alone are kinds of the first layout', () => {
    const command = readCommand(['--kinds', 'ord,usr'], {})
    if (command.kind !== 'run') throw new Error('no options')
    expect([...kindsOf(command.options)].map(([prefix, { layout }]) => [prefix, layout.name])).toEqual([
      ['ord', 'twitter'],
      ['usr', 'twitter'],
    ])
  })
})
