import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { Tokens } from '../../server/src/http/tokens.ts'
import { until } from '../support/until.ts'
import { type Listening, listen, type ProblemBody } from './support/listening.ts'
import { folder } from './support/process.ts'
import { replace } from './support/replace.ts'

const token = (letter: string) => letter.repeat(24)
let files = 0

/** Writes a file of tokens that only its owner may read. */
function fileOf(content: string): string {
  const path = join(folder, `tokens-${files++}`)
  writeFileSync(path, content, { mode: 0o600 })
  return path
}

const asking = (url: string, authorization?: string, path = '/v1/ids') =>
  fetch(`${url}${path}`, authorization === undefined ? {} : { headers: { authorization } })

describe('with tokens', () => {
  let service: Listening
  beforeAll(async () => {
    service = await listen({ tokenFile: fileOf(`# for rotation\n\n${token('a')}\r\n  ${token('b')}  \n`) })
  })

  test.each([`Bearer ${token('a')}`, `Bearer ${token('b')}`, `bearer ${token('a')}`])(
    '%s is accepted',
    async (header) => {
      expect((await asking(service.url, header)).status).toBe(200)
    },
  )

  test.each([
    `Bearer ${token('c')}`,
    `Bearer ${token('a')}x`,
    `Bearer ${token('a').slice(1)}`,
    'Bearer # for rotation',
    'Bearer ',
    'Bearer',
    token('a'),
    `Basic ${token('a')}`,
  ])('%s is refused', async (header) => {
    const answer = await asking(service.url, header)
    expect(answer.status).toBe(401)
    expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="graupel", error="invalid_token"')
    expect(await answer.json()).toMatchObject({ code: 'ERR_UNAUTHORIZED' })
  })

  test.each(['/v1/ids', '/v1/ids?count=2', '/v1/ids/1', '/v1/segments/a', '/openapi.json', '/metrics', '/no'])(
    'a request of %s without a token is refused, and the answer says how to send one',
    async (path) => {
      const answer = await asking(service.url, undefined, path)
      expect([answer.status, answer.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="graupel"'])
      const problem = (await answer.json()) as ProblemBody
      expect(problem.detail).toBe('the request has no token; send the header Authorization: Bearer TOKEN')
    },
  )

  test.each(['/', '/livez', '/readyz'])('%s needs no token', async (path) => {
    expect((await asking(service.url, undefined, path)).status).toBe(200)
  })

  test('neither the host nor the site of a request matters', async () => {
    const headers = { authorization: `Bearer ${token('a')}`, host: 'ids.example.com', 'sec-fetch-site': 'cross-site' }
    expect((await service.app.inject({ url: '/v1/ids', headers })).statusCode).toBe(200)
  })
})

describe('a file of tokens', () => {
  test.each([
    ['', /it has no token; write one a line$/],
    ['# none\n\n', /it has no token/],
    ['short', /line 1 is no token; write at least 16 characters/],
    [`${token('a')}\nwith a space in it`, /line 2 is no token/],
  ])('%j is refused at the start', async (content, message) => {
    const path = fileOf(content)
    await expect(listen({ tokenFile: path })).rejects.toThrow(message)
    await expect(listen({ tokenFile: path })).rejects.toThrow(`--token-file is ${path}: `)
  })

  test('that does not exist is refused at the start', async () => {
    await expect(listen({ tokenFile: join(folder, 'none') })).rejects.toThrow(
      /^--token-file is .*ENOENT.*; give a file that this user may read$/,
    )
  })

  test('that other users may read causes a warning', async () => {
    const path = fileOf(token('a'))
    chmodSync(path, 0o644)
    const { log } = await listen({ tokenFile: path })
    expect(log).toContainEqual(
      expect.objectContaining({ level: 40, file: path, msg: 'others may read this file; run chmod o= on it' }),
    )
    expect((await listen({ tokenFile: fileOf(token('a')) })).log).toEqual(
      expect.not.arrayContaining([expect.objectContaining({ level: 40 })]),
    )
  })

  test('is read again when it changes, and a broken file changes nothing', async () => {
    const path = fileOf(token('a'))
    const { url, log } = await listen({ tokenFile: path }, { pollMs: 20 })
    const may = async (letter: string) => (await asking(url, `Bearer ${token(letter)}`)).status === 200
    const failures = () => log.filter(({ level }) => level === 50).length
    replace(path, token('b'))
    await until(() => may('b'))
    expect(await may('a')).toBe(false)
    replace(path, '')
    await until(() => failures() === 1)
    expect(await may('b')).toBe(true)
    rmSync(path)
    await until(() => failures() === 2)
    expect(await may('b')).toBe(true)
    replace(path, `${token('c')}\n${token('d')}`)
    await until(() => may('d'))
    expect([await may('c'), await may('b')]).toEqual([true, false])
    expect(JSON.stringify(log)).not.toMatch(/a{24}|b{24}|c{24}|d{24}/)
  })

  test('is read again when a link to its folder is replaced, as Kubernetes does', async () => {
    const place = join(folder, 'mounted')
    mkdirSync(place)
    for (const [name, letter] of [
      ['one', 'a'],
      ['two', 'b'],
    ] as const) {
      mkdirSync(join(place, name))
      writeFileSync(join(place, name, 'tokens'), token(letter))
    }
    symlinkSync('one', join(place, '..data'))
    symlinkSync('..data/tokens', join(place, 'tokens'))
    const { url } = await listen({ tokenFile: join(place, 'tokens') }, { pollMs: 20 })
    expect((await asking(url, `Bearer ${token('a')}`)).status).toBe(200)
    symlinkSync('two', join(place, '..next'))
    renameSync(join(place, '..next'), join(place, '..data'))
    await until(async () => (await asking(url, `Bearer ${token('b')}`)).status === 200)
    expect((await asking(url, `Bearer ${token('a')}`)).status).toBe(401)
  })
})

test('tokens are compared as a whole', () => {
  const tokens = new Tokens(`${token('a')}\n${token('b')}`)
  expect(tokens.clientOf(`Bearer ${token('b')}`)?.name).toMatch(/^[0-9a-f]{8}$/)
  for (const wrong of [undefined, '', 'Bearer', `Bearer ${token('a')}${token('b')}`])
    expect(tokens.clientOf(wrong)).toBe(undefined)
})

describe('without a token, on loopback', () => {
  let service: Listening
  beforeAll(async () => {
    service = await listen()
  })
  const inject = (headers: Record<string, string>, url = '/v1/ids') => service.app.inject({ url, headers })

  test.each(['localhost', 'LOCALHOST:4728', '127.0.0.1:80', '127.1.2.3', '[::1]:4728', '[::1]'])(
    'Host: %s is accepted',
    async (host) => {
      expect((await inject({ host })).statusCode).toBe(200)
    },
  )

  test.each([
    'example.com',
    'localhost.example.com',
    '127.0.0.1.example.com',
    '10.0.0.1',
    'localhost:80:80',
    'evil#localhost',
    '127.0.0.1@evil',
  ])('Host: %s is refused, because a page could use such a name for this address', async (host) => {
    const answer = await inject({ host })
    expect([answer.statusCode, answer.json().code]).toEqual([403, 'ERR_FORBIDDEN'])
  })

  test.each(['cross-site', 'same-site'])('a page of another site is refused: %s', async (site) => {
    for (const url of ['/v1/ids', '/v1/counters/a', '/openapi.json']) {
      const answer = await inject({ host: 'localhost', 'sec-fetch-site': site }, url)
      expect([answer.statusCode, answer.json().code]).toEqual([403, 'ERR_FORBIDDEN'])
    }
  })

  test.each(['none', 'same-origin'])('a person and a page of the service are accepted: %s', async (site) => {
    expect((await inject({ host: 'localhost', 'sec-fetch-site': site })).statusCode).toBe(200)
  })

  test('a page of another origin is refused by Origin, if its browser sends no Sec-Fetch-Site', async () => {
    for (const origin of ['http://example.com', 'https://localhost:81', 'null']) {
      const answer = await inject({ host: 'localhost:80', origin }, '/v1/counters/a')
      expect([origin, answer.statusCode]).toEqual([origin, 403])
    }
    const own = { host: 'localhost:80', origin: 'http://localhost:80' }
    expect((await inject(own)).statusCode).toBe(200)
    const told = { host: 'localhost:80', origin: 'http://example.com', 'sec-fetch-site': 'none' }
    expect((await inject(told)).statusCode).toBe(200)
  })

  test('no answer allows another origin to read it', async () => {
    const answer = await fetch(`${service.url}/v1/ids`, { headers: { origin: 'http://example.com' } })
    expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
  })

  test('the platform and people may use any host name', async () => {
    for (const url of ['/', '/livez', '/readyz']) expect((await inject({ host: '10.0.0.1' }, url)).statusCode).toBe(200)
  })
})

test('--allow-anonymous on loopback accepts no other host name', async () => {
  const { app } = await listen({ allowAnonymous: true })
  const answer = await app.inject({ url: '/v1/ids', headers: { host: 'ids.example.com' } })
  expect([answer.statusCode, answer.json().code]).toEqual([403, 'ERR_FORBIDDEN'])
})

test('--allow-anonymous beyond loopback accepts any host name, and still refuses pages of other sites', async () => {
  const { app } = await listen({ allowAnonymous: true, host: '0.0.0.0' })
  const host = 'ids.example.com'
  expect((await app.inject({ url: '/v1/ids', headers: { host } })).statusCode).toBe(200)
  expect((await app.inject({ url: '/v1/ids', headers: { host, 'sec-fetch-site': 'cross-site' } })).statusCode).toBe(403)
})
