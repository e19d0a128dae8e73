import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { composeId, defineLayout, encodeId, type Layout, layouts, parseId } from 'graupel'
import { connect } from 'graupel/client'
import { defineKind } from 'graupel/kind'
import { createUuidGenerator } from 'graupel/uuid'
import { afterAll, describe, expect, test } from 'vitest'
import { describeWith } from '../support/needs.ts'
import { testClock } from '../support/processes.ts'
import { expandRuns, readRuns } from '../support/runs.ts'
import { seriesOf, startService } from './support/in-process.ts'
import type { ProblemBody } from './support/listening.ts'
import { folder, serve } from './support/process.ts'
import { command, type Reply, RespClient } from './support/resp.ts'

// Ids of the service that are larger than an id that its client has seen.

const keys = mkdtempSync(join(tmpdir(), 'graupel-after-'))
afterAll(() => rmSync(keys, { recursive: true }))
const keyFile = join(keys, 'inv.keys')
const hex = '00112233445566778899aabbccddeeff'
writeFileSync(keyFile, `a = ${hex}\n`)
const order = defineKind({ prefix: 'ord', layout: layouts.twitter })
const document_ = defineKind({ prefix: 'doc', uuid: true })
const invoice = defineKind({ prefix: 'inv', layout: layouts.twitter, keys: { a: Buffer.from(hex, 'hex') } })
const first = defineLayout({
  name: 'first',
  epochMs: layouts.twitter.epochMs,
  tickMs: 1,
  fields: [
    ['node', 4],
    ['timestamp', 41],
    ['sequence', 8],
  ],
})

const service = await startService({
  resp: 0,
  layouts: [layouts.twitter, layouts.js53, layouts.sonyflake, first as Layout],
  kinds: { ord: {}, doc: { uuid: true }, inv: { keyFile } },
})
const resp = await RespClient.open(service.respUrl)
afterAll(() => resp.socket.destroy())
const get = (query: string, init?: RequestInit) => fetch(`${service.url}/v1/ids?${query}`, init)

/** An id of another host, whose clock is ahead. */
const ahead = (ms: number, layout: Layout = layouts.twitter, node = 9) =>
  composeId({ timestampMs: Date.now() + ms, node, sequence: 3 }, layout)
const uuidAhead = (ms: number, version: 7 | 8 = 7) =>
  createUuidGenerator({ node: 1023, clock: () => Date.now() + ms, namespace: `after ${Math.random()}`, version }).next()
const refused = (reply: Reply | undefined) => (reply instanceof Error ? reply.message : `no refusal: ${reply}`)

const number = (text: string) => BigInt(text)
type Case = readonly [query: string, seen: (ms: number) => string, value: (text: string) => bigint | string]
const texts: readonly Case[] = [
  ['', (ms) => `${ahead(ms)}`, number],
  ['layout=js53', (ms) => `${ahead(ms, layouts.js53)}`, number],
  ['layout=sonyflake', (ms) => `${ahead(ms, layouts.sonyflake)}`, number],
  ...(['hex', 'base32', 'base58', 'base62'] as const).map(
    (format): Case => [
      `format=${format}`,
      (ms) => encodeId(ahead(ms), format),
      (text) => parseId(text, format, layouts.twitter),
    ],
  ),
  ['format=uuid', (ms) => uuidAhead(ms), (text) => text],
  ['kind=ord', (ms) => order.text(ahead(ms)), order.id],
  ['kind=inv', (ms) => invoice.text(ahead(ms)), invoice.id],
  ['kind=doc', (ms) => document_.text(uuidAhead(ms) as never), (text) => document_.id(text as never)],
]

describe('after', () => {
  test.each(texts)(
    'makes all ids of ?%s larger, and the answer says which is the largest',
    async (query, seen, value) => {
      for (const count of [1, 50]) {
        const after = seen(300)
        const answer = await get(`${query}&count=${count}&after=${after}`)
        expect(answer.status).toBe(200)
        const { ids } = (await answer.json()) as { ids: string[] }
        expect(ids).toHaveLength(count)
        for (const id of ids) expect(value(id) > value(after)).toBe(true)
        expect(answer.headers.get('graupel-last-id')).toBe(ids.at(-1))
        const next = await get(`${query}&after=${answer.headers.get('graupel-last-id')}`)
        expect(value(((await next.json()) as { ids: [string] }).ids[0]) > value(ids.at(-1) as string)).toBe(true)
      }
    },
  )

  test.each(['text', 'bytes', 'runs', 'runs-json'] as const)('is decimal if ids are sent as %s', async (form) => {
    for (const count of [1, 300]) {
      const after = ahead(400)
      const answer = await get(`format=${form}&count=${count}&after=${after}`)
      const body = Buffer.from(await answer.arrayBuffer())
      const ids =
        form === 'text'
          ? `${body}`.trimEnd().split('\n').map(BigInt)
          : form === 'bytes'
            ? Array.from({ length: body.length / 8 }, (_, i) => body.readBigUInt64LE(i * 8))
            : expandRuns(readRuns(form, body))
      expect(ids).toHaveLength(count)
      for (const id of ids) expect(id).toBeGreaterThan(after)
      expect(answer.headers.get('graupel-last-id')).toBe(`${ids.at(-1)}`)
    }
  })

  test('of the past changes nothing, and without it an answer has no such header', async () => {
    const answer = await get('after=0')
    expect(answer.headers.get('graupel-last-id')).toBe(((await answer.json()) as { ids: [string] }).ids[0])
    for (const query of ['', 'count=2']) expect((await get(query)).headers.get('graupel-last-id')).toBeNull()
  })

  test.each([
    ['after=', 'ERR_ID_INVALID', /^after: the id is ''; in decimal an id is 1 to 20 digits/],
    ['after=x', 'ERR_ID_INVALID', /^after: the id is 'x'/],
    ['after=-1', 'ERR_ID_INVALID', /^after: /],
    ['after=18446744073709551616', 'ERR_ID_INVALID', /^after: the id is 18446744073709551616; an id lies between/],
    ['after=1&after=1', 'ERR_OPTION_INVALID', /^after is given 2 times; give it once$/],
    [
      'after=9007199254740992&layout=js53',
      'ERR_ID_INVALID',
      /^after: .* has 54 bits; ids of layout 'js53' have at most/,
    ],
    ['after=1&format=hex', 'ERR_ID_INVALID', /^after: /],
    [`after=${'f'.repeat(16)}&format=hex`, 'ERR_ID_INVALID', /^after: .* has 64 bits; ids of layout 'twitter' have/],
    ['after=1&format=uuid', 'ERR_ID_INVALID', /^after: the UUID is '1'/],
    ['after=f81d4fae-7dec-41d0-a765-00a0c91e6bf6&format=uuid', 'ERR_ID_INVALID', /^after: /],
    ['after=usr_1asd13xh1f800&kind=ord', 'ERR_ID_INVALID', /^after: /],
    ['after=1&kind=inv', 'ERR_ID_INVALID', /^after: /],
  ])('is refused by its name in ?%s, also by HEAD', async (query, code, detail) => {
    const before = service.service.ids.get('twitter')?.stats()?.ids.issued
    const answer = await get(query)
    const problem = (await answer.json()) as ProblemBody
    expect([answer.status, problem.code]).toEqual([400, code])
    expect(problem.detail).toMatch(detail)
    expect((await get(query, { method: 'HEAD' })).status).toBe(400)
    expect(service.service.ids.get('twitter')?.stats()?.ids.issued).toBe(before)
  })

  test('is refused if it is a UUID of version 8, which has other bits', async () => {
    const answer = await get(`format=uuid&after=${uuidAhead(0, 8)}`)
    const { status, code, detail } = (await answer.json()) as ProblemBody
    expect([status, code]).toEqual([400, 'ERR_ID_INVALID'])
    expect(detail).toMatch(/^after: .* has version 8, and not 7/)
  })

  test('is refused if ids of the layout do not sort by time', async () => {
    const answer = await get('layout=first&after=1')
    expect(await answer.json()).toMatchObject({ status: 400, code: 'ERR_LAYOUT_INVALID' })
    expect((await get('layout=first')).status).toBe(200)
  })

  test('of the far future is refused until the clock is near, with its time, and changes nothing', async () => {
    for (const [query, seen] of texts) {
      const far = seen(3500)
      const answer = await get(`${query}&after=${far}`)
      const problem = (await answer.json()) as ProblemBody
      expect([query, answer.status, problem.code]).toEqual([query, 503, 'ERR_CLOCK_SKEW'])
      expect(answer.headers.get('retry-after')).toBe('3')
      expect(problem.detail).toMatch(/^after: .* allows no more; compare the clocks of the hosts/)
    }
    const { ids } = (await (await get('')).json()) as { ids: [string] }
    expect(BigInt(ids[0])).toBeLessThan(ahead(2000))
  })

  test('by HEAD observes nothing', async () => {
    const observed = () => service.service.ids.get('twitter')?.totals().observed
    const before = observed()
    expect((await get(`after=${ahead(500)}`, { method: 'HEAD' })).status).toBe(200)
    expect(observed()).toBe(before)
  })

  test.each(['segments', 'counters'])('is no parameter of %s', async (kind) => {
    const answer = await fetch(`${service.url}/v1/${kind}/orders?after=1`)
    expect(await answer.json()).toMatchObject({
      status: 400,
      code: 'ERR_OPTION_UNKNOWN',
      detail: 'there is no parameter "after"; this path takes count, format',
    })
  })

  test('at the bound leaves the service ready, because requests wait for a tick', async () => {
    const { service: own, url } = await startService()
    const source = own.ids.get('twitter')
    source?.observe(composeId({ timestampMs: Date.now() + 1000, node: 1023, sequence: 4095 }, layouts.twitter))
    expect(source?.readiness().isReady).toBe(true)
    expect((await fetch(`${url}/v1/ids`)).status).toBe(200)
  })

  test('is counted as observed, raised or refused in the metrics', async () => {
    const { app, url } = await startService({ layouts: [layouts.twitter, layouts.js53] })
    const read = () =>
      Promise.all(
        ['observed', 'raised', 'refused'].map((name) => seriesOf(app, `graupel_ids_${name}_total{layout="twitter"}`)),
      )
    expect(await read()).toEqual([0, 0, 0])
    for (const after of [1n, ahead(500), ahead(5000)]) await fetch(`${url}/v1/ids?after=${after}`)
    expect(await read()).toEqual([2, 1, 1])
    expect(await seriesOf(app, 'graupel_ids_observed_total{layout="js53"}')).toBe(0)
  })
})

describe('ID.NEXT … AFTER', () => {
  test('makes all ids larger, in each format and layout', async () => {
    const seen = ahead(300)
    for (const id of (await resp.ask('ID.NEXT', 5, 'AFTER', `${seen}`)) as string[]) {
      expect(BigInt(id)).toBeGreaterThan(seen)
    }
    const later = ahead(400)
    const words = ['base58', 'after', encodeId(later, 'base58')] as const
    for (const all of [words, [words[1], words[2], words[0]]]) {
      const [id = ''] = (await resp.ask('ID.NEXT', 1, ...all)) as string[]
      expect(parseId(id, 'base58')).toBeGreaterThan(later)
    }
    const narrow = ahead(500, layouts.js53)
    const [id = ''] = (await resp.ask('ID.NEXT', 1, 'AFTER', `${narrow}`, 'LAYOUT', 'js53')) as string[]
    expect(BigInt(id)).toBeGreaterThan(narrow)
    expect(BigInt(id)).toBeLessThan(2n ** 53n)
  })

  test('tells commands of a pipeline apart that have one text in two formats', async () => {
    // In base62, this text is an id of the future.
    const text = '20000000000'
    const words = [
      ['ID.NEXT', 1, 'AFTER', text],
      ['ID.NEXT', 1, 'BASE62', 'AFTER', text],
    ]
    const [first, second] = await resp.send(words.map((all) => command(...all)).join(''), words.length)
    expect(BigInt((first as string[])[0] as string)).toBeGreaterThan(20_000_000_000n)
    const large = parseId(text, 'base62')
    if (large > ahead(0)) expect(refused(second)).toMatch(/^ERR_/)
    else expect(parseId((second as string[])[0] as string, 'base62')).toBeGreaterThan(large)
  })

  test('keeps the order of the commands of a pipeline', async () => {
    const [one, two] = [ahead(600), ahead(700)]
    const words = [
      ['ID.NEXT', 1],
      ['ID.NEXT', 2, 'AFTER', `${one}`],
      ['ID.NEXT', 2, 'AFTER', `${one}`],
      ['GET', 'id:twitter'],
      ['ID.NEXT', 1, 'AFTER', `${ahead(5000)}`],
      ['ID.NEXT', 2, 'AFTER', `${two}`],
      ['ID.NEXT', 1],
    ]
    const replies = await resp.send(words.map((all) => command(...all)).join(''), words.length)
    expect(refused(replies[4])).toMatch(/^ERR_CLOCK_SKEW AFTER: the id /)
    const ids = replies.filter((_, i) => i !== 4).map((reply) => [reply].flat().map((id) => BigInt(id as string)))
    const flat = ids.flat()
    expect(flat).toEqual([...new Set(flat)].sort((a, b) => (a < b ? -1 : 1)))
    for (const id of flat.slice(1)) expect(id).toBeGreaterThan(one)
    for (const id of flat.slice(-3)) expect(id).toBeGreaterThan(two)
  })

  test.each([
    [['1', 'AFTER'], 'ERR Syntax error: AFTER has no value; give AFTER and a word'],
    [['1', 'AFTER', ''], "ERR_ID_INVALID AFTER: the id is ''"],
    [['1', 'AFTER', 'x'], "ERR_ID_INVALID AFTER: the id is 'x'"],
    [['1', 'AFTER', '1', 'AFTER', '1'], 'ERR_OPTION_INVALID AFTER is given twice; give it once'],
    [['1', 'hex', 'AFTER', '1'], 'ERR_ID_INVALID AFTER: '],
    [['1', 'AFTER', '9007199254740992', 'LAYOUT', 'js53'], 'ERR_ID_INVALID AFTER: '],
    [['1', 'LAYOUT', 'js35'], 'ERR_OPTION_INVALID LAYOUT is "js35" (did you mean "js53"?)'],
    [['1', 'LAYOUT', 'first', 'AFTER', '1'], 'ERR_LAYOUT_INVALID AFTER: '],
    [['1', 'hex', 'hex'], 'ERR_OPTION_INVALID FORMAT is given twice; give it once'],
    [['1', 'BEFORE', '1'], 'ERR_OPTION_INVALID FORMAT is "before"'],
  ])('refuses ID.NEXT %j', async (words, message) => {
    const [reply] = await resp.send(command('ID.NEXT', ...words))
    expect(refused(reply)).toContain(message)
  })
})

describeWith(['faketime'], 'two servers whose clocks are a second apart', () => {
  test('give larger ids to those who pass on what they have seen, and smaller ids without', async () => {
    const start = async (offset: string, name: string) => {
      const clock = testClock()
      clock.set(offset)
      return serve(['--resp', '0', '--data', join(folder, `after-${name}`), '--drain-ms', '0'], clock.env)
    }
    const [fast, slow] = await Promise.all([start('+0.5', 'fast'), start('-0.5', 'slow')])
    const clients = await Promise.all(
      [fast, slow].map(({ stdout }) => RespClient.open(/redis:\S+/.exec(stdout())?.[0] ?? '')),
    )
    const [byFast, bySlow] = await Promise.all([fast, slow].map(({ url }) => connect({ url, count: 3 })))
    if (byFast === undefined || bySlow === undefined) throw new Error('no clients')
    type Ask = (seen?: bigint) => Promise<bigint>
    const http =
      (url: string): Ask =>
      async (seen) => {
        const answer = await fetch(`${url}/v1/ids${seen === undefined ? '' : `?after=${seen}`}`)
        return BigInt(((await answer.json()) as { ids: [string] }).ids[0])
      }
    const redis =
      (client: RespClient): Ask =>
      async (seen) =>
        BigInt(((await client.ask('ID.NEXT', 1, ...(seen === undefined ? [] : ['AFTER', `${seen}`]))) as [string])[0])
    const library =
      (client: typeof byFast): Ask =>
      async (seen) => {
        if (seen !== undefined) client.observe(seen)
        return client.nextAsync()
      }
    const ways: [Ask, Ask][] = [
      [http(fast.url), http(slow.url)],
      [redis(clients[0] as RespClient), redis(clients[1] as RespClient)],
      [library(byFast), library(bySlow)],
    ]
    const inversions = async (isTold: boolean) => {
      const found = ways.map(() => 0)
      for (const [way, [ask, answer]] of ways.entries()) {
        for (let i = 0; i < 40; i++) {
          const question = await ask()
          if ((await answer(isTold ? question : undefined)) <= question) found[way] = (found[way] as number) + 1
        }
      }
      return found
    }
    // First, because an observed id leads the slow server on for a second.
    expect((await inversions(false)).every((found) => found > 0)).toBe(true)
    expect(await inversions(true)).toEqual([0, 0, 0])
    for (const client of clients) client.socket.destroy()
    byFast.close()
    bySlow.close()
  })

  test('and workers of one server, each of which is told by the request', async () => {
    const clock = testClock()
    clock.set('-0.5')
    const flags = ['--workers', '2', '--data', join(folder, 'after-workers'), '--drain-ms', '0']
    const { url } = await serve(flags, clock.env)
    const nodes = new Set<number>()
    for (let i = 0; i < 40; i++) {
      const seen = ahead(300)
      // A kept connection belongs to one worker.
      const answer = await fetch(`${url}/v1/ids?after=${seen}`, { headers: { connection: 'close' } })
      const id = BigInt(((await answer.json()) as { ids: [string] }).ids[0])
      expect(id).toBeGreaterThan(seen)
      nodes.add(Number(BigInt.asUintN(10, id >> 12n)))
    }
    expect(nodes.size).toBe(2)
  })
})
