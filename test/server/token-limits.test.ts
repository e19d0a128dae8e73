import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, test, vi } from 'vitest'
import { Client, Rate, Tokens } from '../../server/src/http/tokens.ts'
import type { IdSource } from '../../server/src/sources/id-source.ts'
import { listen } from './support/listening.ts'
import { folder } from './support/process.ts'
import { command, type Reply, RespClient } from './support/resp.ts'

const token = (letter: string) => letter.repeat(24)

test.each<[string, number, readonly (readonly [nowMs: number, count: number, waitMs: number])[]]>([
  [
    'lets the things of a second come at once',
    10,
    [
      [0, 10, 0],
      [0, 1, 100],
      [99, 1, 1],
      [100, 1, 0],
      [100, 1, 100],
    ],
  ],
  [
    'takes nothing if it refuses',
    10,
    [
      [0, 10, 0],
      [0, 5, 500],
      [0, 5, 500],
      [500, 5, 0],
    ],
  ],
  [
    'is full again after a second',
    10,
    [
      [0, 10, 0],
      [1000, 10, 0],
      [1000, 1, 100],
    ],
  ],
  [
    'keeps no more than a second',
    10,
    [
      [0, 10, 0],
      [90_000, 10, 0],
      [90_000, 1, 100],
    ],
  ],
  [
    'lets more come at once, and then makes a longer pause',
    1000,
    [
      [0, 3000, 0],
      [0, 1, 2001],
      [2001, 1, 0],
    ],
  ],
  [
    'lets more come only after all else',
    10,
    [
      [0, 1, 0],
      [0, 30, 100],
      [100, 30, 0],
      [100, 1, 2100],
    ],
  ],
])('a rate %s', (_, perSecond, steps) => {
  const rate = new Rate(perSecond)
  for (const [nowMs, count, waitMs] of steps) expect([nowMs, rate.take(count, nowMs)]).toEqual([nowMs, waitMs])
})

describe('the settings of a token', () => {
  it('are a name and limits, which two tokens of a client share', () => {
    const tokens = new Tokens(
      `${token('a')} name=shop ids=5\n${token('b')}  ids=5 name=shop\n# ${token('x')}\n${token('c')} requests=2`,
    )
    const [a, b, c] = ['a', 'b', 'c'].map((letter) => tokens.clientOf(`Bearer ${token(letter)}`))
    expect(a).toMatchObject({ name: 'shop', limits: { ids: 5 } })
    expect(b).toBe(a)
    expect(c?.limits).toEqual({ requests: 2 })
    expect(c?.name).toMatch(/^[0-9a-f]{8}$/)
  })

  it.each([
    [`${token('a')} ${token('b')}`, /^line 1 has a word behind its token that is no setting; write name=NAME, /],
    [`${token('a')} limit=5`, /^line 1 has a word behind/],
    [`\n${token('a')} ids=0`, /^line 2 has a word behind/],
    [`${token('a')} ids=1e3`, /^line 1 has a word behind/],
    [`${token('a')} requests=`, /^line 1 has a word behind/],
    [`${token('a')} name=a/b`, /^line 1 has a word behind/],
    [`${token('a')} ids=1 ids=2`, /^line 1 has ids twice; give it once$/],
    [
      `${token('a')} name=n\n# another\n${token('a')} name=m`,
      /^line 3 has the token of a line above it; give each token once$/,
    ],
    [`${token('a')} name=n ids=1\n${token('b')} name=n`, /^line 2 has the name of a token above it and other limits; /],
  ])('are refused in %j', (text, message) => {
    let error: unknown
    try {
      new Tokens(text)
    } catch (thrown) {
      error = thrown
    }
    expect((error as Error).message).toMatch(message)
    expect((error as Error).message).not.toMatch(/a{24}|b{24}/)
  })
})

it('a rate takes back what was not used', () => {
  const rate = new Rate(10)
  expect(rate.take(10, 0)).toBe(0)
  rate.give(5)
  expect([rate.take(5, 0), rate.take(1, 0)]).toEqual([0, 100])
})

describe('a service', () => {
  const tokenFile = join(folder, 'tokens')
  const lines = [
    `${token('s')} name=slow requests=1`,
    `${token('f')} name=few ids=1`,
    `${token('g')} name=few ids=1`,
    `${token('l')} name=leaf ids=1`,
    `${token('r')} name=redis ids=1`,
    `${token('t')} name=twice requests=1`,
    token('u'),
  ]
  writeFileSync(tokenFile, lines.join('\n'), { mode: 0o600 })
  // With a line for each request, no request is answered directly.
  const started = listen({ logLevel: 'info', tokenFile, resp: 0, respCounters: 'c:', maxCount: 100_000 })
  const get = async (letter: string, url: string) => {
    const { app } = await started
    return app.inject({ url, headers: { authorization: `Bearer ${token(letter)}` } })
  }

  it('refuses requests above the limit of a token, and answers other clients', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => get('s', '/v1/ids/1')))
    expect(answers[0]?.statusCode).toBe(200)
    const refused = answers.filter(({ statusCode }) => statusCode === 429)
    expect(refused.length).toBeGreaterThan(10)
    expect(refused[0]?.json()).toMatchObject({
      code: 'ERR_LIMIT_EXCEEDED',
      detail: 'the token of slow may take 1 requests a second; try again in 1 s',
    })
    expect(refused[0]?.headers['retry-after']).toBe('1')
    expect((await get('u', '/v1/ids/1')).statusCode).toBe(200)
    expect((await get('s', '/livez')).statusCode).toBe(200)
  })

  it.each(['/v1/ids', '/v1/ids?count=2&format=uuid', '/v1/segments/orders', '/v1/counters/bills', '/v1/ids?count=2'])(
    'refuses %s above the limit of ids, for each token of the client',
    async (url) => {
      await get('f', '/v1/ids?count=100000')
      for (const letter of ['f', 'g']) {
        const { statusCode, headers } = await get(letter, url)
        expect([statusCode, Number(headers['retry-after']) > 10]).toEqual([429, true])
      }
      expect((await get('f', '/v1/ids/1')).statusCode).toBe(200)
      expect((await get('u', url)).statusCode).toBe(200)
    },
  )

  it('counts an id once that could not be made directly', async () => {
    const { url, service } = await started
    const [taken, given] = [vi.spyOn(Client.prototype, 'takeIds'), vi.spyOn(Client.prototype, 'giveIds')]
    const next = vi.spyOn(service.ids.get('twitter') as IdSource, 'next').mockRejectedValue(new Error('no id'))
    const headers = { authorization: `Bearer ${token('u')}` }
    expect((await fetch(`${url}/v1/ids`, { headers })).status).toBe(500)
    expect([next, taken, given].map(({ mock }) => mock.calls.length)).toEqual([2, 2, 1])
    vi.restoreAllMocks()
  })

  it('refuses a single id over a connection, which is answered directly', async () => {
    const { url } = await started
    const headers = { authorization: `Bearer ${token('f')}` }
    await fetch(`${url}/v1/ids?count=100000`, { headers })
    expect((await fetch(`${url}/v1/ids`, { headers })).status).toBe(429)
  })

  it("refuses on Leaf's routes as Leaf does", async () => {
    await get('l', '/v1/ids?count=100000')
    const { statusCode, body } = await get('l', '/api/segment/get/orders')
    expect([statusCode, body]).toEqual([500, expect.stringContaining('Result{id=-3, status=EXCEPTION}')])
  })

  it('refuses commands of Redis above the limits', async () => {
    const own = await RespClient.open((await started).respUrl)
    const ask = async (...words: string[]) => textOf((await own.send(command(...words)))[0])
    expect(await ask('AUTH', token('r'))).toBe('OK')
    expect((await own.send(command('ID.NEXT', 100_000)))[0]).toHaveLength(100_000)
    for (const words of [
      ['INCR', 'orders'],
      ['INCR', 'c:bills'],
      ['GET', 'id:twitter'],
      ['INCRBY', 'orders', '5'],
    ]) {
      expect(await ask(...words)).toMatch(
        /^ERR_LIMIT_EXCEEDED the token of redis may take 1 ids a second; try again in \d+ s$/,
      )
    }
    expect(await ask('PING')).toBe('PONG')
    // The token counts that the client had when it sent the command, whatever it sends in the same read.
    for (const last of [['AUTH', token('u')], ['RESET']]) {
      const all = [['AUTH', token('r')], ['ID.NEXT', '5'], last]
      const [, taken] = await own.send(all.map((words) => command(...words)).join(''), 3)
      expect(textOf(taken)).toMatch(/^ERR_LIMIT_EXCEEDED the token of redis /)
    }
    expect(await ask('AUTH', token('u'))).toBe('OK')
    expect(await ask('INCR', 'limited')).toBe('1')
    expect(await ask('AUTH', token('t'))).toBe('OK')
    const replies = (await own.send(command('INCR', 'limited').repeat(50), 50)).map(textOf)
    const refused = replies.filter((reply) => reply.startsWith('ERR_LIMIT_EXCEEDED'))
    expect(refused.length).toBeGreaterThan(10)
    expect(replies.filter((reply) => !reply.startsWith('ERR'))).toEqual(
      Array.from({ length: 50 - refused.length }, (_, index) => `${index + 2}`),
    )
    expect(await ask('AUTH', token('u'))).toBe('OK')
    own.socket.destroy()
  })
})

function textOf(reply: Reply | undefined): string {
  return reply instanceof Error ? reply.message : `${reply}`
}
