import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { layouts } from 'graupel'
import { decodeUuid, parseUuid } from 'graupel/uuid'
import { expect, it } from 'vitest'
import { listen } from './support/listening.ts'
import { folder } from './support/process.ts'
import { command, RespClient } from './support/resp.ts'

const token = 't'.repeat(24)
const tokenFile = join(folder, 'tokens')
writeFileSync(tokenFile, `${token} name=shop`, { mode: 0o600 })
const service = await listen({
  tokenFile,
  resp: 0,
  respCounters: 'c:',
  logIds: true,
  logLevel: 'info',
  layouts: [layouts.twitter, layouts.leaf],
  kinds: { ord: {}, doc: { uuid: true } },
  segments: { orders: {}, odd: { stride: 10, offset: 3 } },
})
const headers = { authorization: `Bearer ${token}` }

interface Line {
  readonly kind: string
  readonly name: string
  readonly client?: string
  readonly remote?: string
  readonly reqId?: string
  readonly count: number
  readonly stride?: number
  readonly ranges: readonly (readonly [string, string])[]
}

/** Returns the lines that were added since the last call. */
let seen = 0
function newLines(): Line[] {
  const lines = service.log.slice(seen).filter(({ event }) => event === 'taken')
  seen = service.log.length
  return lines as unknown as Line[]
}

/** Returns the numbers of a line. */
function numbersOf({ ranges, stride = 1 }: Line): string[] {
  return ranges.flatMap(([first, last]) => {
    const count = Number((BigInt(last) - BigInt(first)) / BigInt(stride)) + 1
    return Array.from({ length: count }, (_, index) => `${BigInt(first) + BigInt(index * stride)}`)
  })
}

it.each([
  ['/v1/ids?format=text', 'id', 'twitter'],
  ['/v1/ids?count=9000&format=text', 'id', 'twitter'],
  ['/v1/ids?layout=leaf&count=3&format=text', 'id', 'leaf'],
  ['/v1/segments/orders?format=text', 'segment', 'orders'],
  ['/v1/segments/orders?count=40000&format=text', 'segment', 'orders'],
  ['/v1/segments/odd?count=30&format=text', 'segment', 'odd'],
  ['/v1/counters/bills?count=30&format=text', 'counter', 'bills'],
  ['/api/segment/get/orders', 'segment', 'orders'],
  ['/api/snowflake/get/any', 'id', 'twitter'],
])('the log has who took the numbers of %s', async (url, kind, name) => {
  newLines()
  const { body, statusCode } = await service.app.inject({ url, headers: { ...headers, 'x-request-id': 'a-1' } })
  expect(statusCode).toBe(200)
  const [line, ...more] = newLines()
  expect(more).toEqual([])
  const numbers = body.trim().split('\n')
  expect(line).toMatchObject({ kind, name, client: 'shop', remote: '127.0.0.1', reqId: 'a-1', count: numbers.length })
  expect(numbersOf(line as Line)).toEqual(numbers)
})

it('the log has the numbers of runs', async () => {
  newLines()
  const { body } = await service.app.inject({ url: '/v1/segments/orders?count=40000&format=runs-json', headers })
  const [line] = newLines() as [Line]
  const { runs } = JSON.parse(body) as { runs: { first: string; count: number }[] }
  expect(line.count).toBe(40_000)
  expect(line.ranges.map(([first]) => first)).toEqual(runs.map(({ first }) => first))
})

it('the log has the ids of texts', async () => {
  for (const [query, idOf] of [
    ['format=uuid', (text: string) => decodeUuid(text, layouts.twitter).id],
    ['kind=doc', (text: string) => decodeUuid(parseTypeId(text), layouts.twitter).id],
  ] as const) {
    newLines()
    const { ids } = (await service.app.inject({ url: `/v1/ids?count=3&${query}`, headers })).json() as { ids: string[] }
    const [line] = newLines() as [Line]
    expect(numbersOf(line)).toEqual(ids.map((text) => `${idOf(text)}`))
  }
  newLines()
  const { ids } = (await service.app.inject({ url: '/v1/ids?count=3&kind=ord', headers })).json() as { ids: string[] }
  const read = ids.map(
    async (text) => (await service.app.inject({ url: `/v1/ids/${text}?kind=ord`, headers })).json().id,
  )
  expect(numbersOf(newLines()[0] as Line)).toEqual(await Promise.all(read))
})

it('the log has who took numbers by commands of Redis', async () => {
  const own = await RespClient.open(service.respUrl)
  await own.ask('AUTH', token)
  newLines()
  const first = (await own.ask('INCR', 'orders')) as number
  await own.send(command('INCR', 'orders').repeat(5), 5)
  const last = (await own.ask('INCRBY', 'orders', 7)) as number
  await own.ask('INCRBY', 'c:bills', 3)
  const id = await own.ask('GET', 'id:twitter')
  own.socket.destroy()
  const lines = newLines()
  expect(lines).toMatchObject([
    { kind: 'segment', name: 'orders', client: 'shop', count: 1, ranges: [[`${first}`, `${first}`]] },
    { kind: 'segment', name: 'orders', count: 5, ranges: [[`${first + 1}`, `${first + 5}`]] },
    { kind: 'segment', name: 'orders', count: 7, ranges: [[`${last - 6}`, `${last}`]] },
    { kind: 'counter', name: 'c:bills', count: 3, ranges: [['1', '3']] },
    { kind: 'id', name: 'twitter', count: 1, ranges: [[id, id]] },
  ])
  for (const { remote } of lines) expect(remote).toMatch(/127\.0\.0\.1$/)
})

it('the log has no line for HEAD, for a refused request and for reading an id, and a line for one over a connection', async () => {
  newLines()
  await service.app.inject({ method: 'HEAD', url: '/v1/ids', headers })
  await service.app.inject({ url: '/v1/ids?count=0', headers })
  await service.app.inject({ url: '/v1/ids' })
  await service.app.inject({ url: '/v1/ids/1', headers })
  expect(newLines()).toEqual([])
  // Without the option, such a request is answered directly.
  await fetch(`${service.url}/v1/ids`, { headers })
  expect(newLines()).toHaveLength(1)
})

it('a service without tokens logs the address, and without the option nothing', async () => {
  const { app, log } = await listen({ logIds: true })
  await app.inject('/v1/ids')
  expect(log).toContainEqual(expect.objectContaining({ event: 'taken', remote: '127.0.0.1', kind: 'id', count: 1 }))
  const other = await listen()
  await other.app.inject('/v1/ids')
  expect(other.log.filter(({ event }) => event === 'taken')).toEqual([])
})

/** Returns the UUID of a TypeID. */
function parseTypeId(text: string): string {
  const digits = '0123456789abcdefghjkmnpqrstvwxyz'
  const number = [...text.slice(text.indexOf('_') + 1)].reduce(
    (sum, one) => sum * 32n + BigInt(digits.indexOf(one)),
    0n,
  )
  const hex = number.toString(16).padStart(32, '0')
  return parseUuid(Uint8Array.from(Buffer.from(hex, 'hex')))
}
