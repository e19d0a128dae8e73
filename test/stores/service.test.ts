import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { checkStore } from '../../src/cli/store-check.js'
import { rangeError } from '../../src/core/errors.js'
import { createGenerator } from '../../src/index.js'
import { acquireLease } from '../../src/lease/index.js'
import { createCounter } from '../../src/segments/index.js'
import { memoryStore } from '../../src/stores/memory.js'
import { type Fetch, type ServiceStoreOptions, serviceStore } from '../../src/stores/service.js'
import type { Store } from '../../src/stores/store.js'
import { storeContract } from '../../src/stores/testing.js'
import { openStore } from '../../src/stores/url/index.js'
import { type Started, startService } from '../server/support/in-process.ts'
import { parsed, send } from '../server/support/listening.ts'
import { folder } from '../server/support/process.ts'
import { read } from '../support/documents.ts'
import { freshNamespace } from '../support/engines.js'
import { until } from '../support/until.ts'
import { callsOf } from './real-time.ts'

// The store that a service lends, without a server of a database.

const unavailable = (message: RegExp) => ({ code: 'ERR_STORE_UNAVAILABLE', message: expect.stringMatching(message) })

/** A store that may forget, although it does not. */
const forgetful: Store = { ...memoryStore({ assumeOneProcess: true }), durable: false, incarnation: async () => 'one' }

describe('a service that lends its store', () => {
  let service: Started
  beforeAll(async () => {
    service = await startService({ leases: true })
  })
  const open = (options: Partial<ServiceStoreOptions> = {}) => serviceStore({ url: service.url, ...options })

  describe('keeps the contract', () => {
    for (const { name, run } of storeContract(async () => open())) it(name, run)
  })

  it('leases nodes, and counts', async () => {
    const store = open()
    await using lease = await acquireLease({ store, namespace: freshNamespace() })
    expect(createGenerator({ lease }).next()).toBeGreaterThan(0n)
    const counter = await createCounter({ store, name: 'of-a-client' })
    expect(await counter.next()).toBe('1')
  })

  it('passes the check of a store', async () => {
    const { checks } = await checkStore(
      { store: open(), calls: callsOf(open()), shown: '', hide: String, damage: async () => [] },
      new AbortController().signal,
      async () => {},
    )
    expect(checks.filter(({ state }) => state !== 'ok')).toEqual([])
  })

  it.each<[string, () => Promise<unknown>]>([
    ['reading', () => open().read('service/store')],
    ['listing', () => open().list('service/')],
    ['writing', () => open().write('settings/one', 'x', undefined)],
    ['time', async () => open().nowMs?.(undefined, 'settings/one')],
  ])('refuses keys outside of the folders of the library: %s', async (_, call) => {
    await expect(call()).rejects.toMatchObject(
      unavailable(
        / answered 403: the key is "[a-z/]+", which is in none of the folders groups\/, leases\/, numbers\/; /,
      ),
    )
  })

  it('removes no record but scratch records', async () => {
    const store = open()
    const version = (await store.write('leases/g/0/1', 'x', undefined)) as string
    await expect(store.remove?.('leases/g/0/1', version)).rejects.toMatchObject(
      unavailable(/ answered 403: the key is "leases\/g\/0\/1", and only scratch records of a check may be removed/),
    )
    expect((await store.read('leases/g/0/1'))?.version).toBe(version)
  })

  it.each<[string, number, string, RequestInit]>([
    ['a key with a line break', 400, '/record?key=groups%2F%0A', {}],
    ['a key that is too long', 400, `/record?key=groups/${'x'.repeat(249)}`, {}],
    ['no key', 400, '/record?folder=groups/', {}],
    ['a folder without a slash', 400, '/records?folder=groups', {}],
    ['a GET of a path for POST', 405, '/write', {}],
    ['a POST of a path for GET', 405, '/record', { method: 'POST' }],
    ['a path that does not exist', 404, '/none', {}],
    ['no body', 400, '/write', { method: 'POST' }],
    ['a body that is no JSON', 400, '/write', { method: 'POST', body: '{' }],
    ['a body that is no object', 400, '/write', { method: 'POST', body: '[]' }],
    ['no expected version', 400, '/write', { method: 'POST', body: '{"key":"groups/1","value":"x"}' }],
    [
      'another property',
      400,
      '/write',
      { method: 'POST', body: '{"key":"groups/1","value":"x","expected":null,"ttl":1}' },
    ],
    [
      'a value that is too long',
      400,
      '/write',
      { method: 'POST', body: JSON.stringify({ key: 'groups/1', value: 'x'.repeat(4097), expected: null }) },
    ],
    [
      'a value that is half of a character',
      400,
      '/write',
      { method: 'POST', body: '{"key":"groups/1","value":"\\ud800","expected":null}' },
    ],
    [
      'a body that is too long',
      413,
      '/write',
      { method: 'POST', body: JSON.stringify({ key: 'groups/1', value: 'x'.repeat(40_000), expected: null }) },
    ],
    [
      'a page of another site',
      403,
      '/write',
      {
        method: 'POST',
        body: '{"key":"groups/1","value":"x","expected":null}',
        headers: { origin: 'http://evil.test' },
      },
    ],
  ])('refuses %s', async (_, status, path, init) => {
    const answer = await fetch(`${service.url}/v1/store${path}`, init)
    expect({ status: answer.status, body: await answer.json() }).toMatchObject({ status, body: { status } })
    expect(await open().read('groups/1')).toBeUndefined()
  })

  it.each<[string, string, RequestInit]>([
    ['key is missing; give it', '/record', {}],
    ['folder is missing; give it', '/records', {}],
    ['the body has no key; send it', '/write', { method: 'POST', body: '{"value":"x","expected":null}' }],
    ['the body has no value; send it', '/write', { method: 'POST', body: '{"key":"groups/1","expected":null}' }],
    ['the body has no expected; send it', '/write', { method: 'POST', body: '{"key":"groups/1","value":"x"}' }],
    ['the body has no key; send it', '/remove', { method: 'POST', body: '{"expected":"x"}' }],
    ['the body has no expected; send it', '/remove', { method: 'POST', body: '{"key":"groups/1"}' }],
  ])('says what is missing: %s, %s', async (detail, path, init) => {
    const answer = await fetch(`${service.url}/v1/store${path}`, init)
    expect(await answer.json()).toMatchObject({ status: 400, code: 'ERR_OPTION_INVALID', detail })
  })

  it.each(['GET', 'POST'])('does not say on another path of the store that it lends no leases: %s', async (method) => {
    const answer = await fetch(`${service.url}/v1/store/none`, { method })
    expect(await answer.json()).toMatchObject({
      code: 'ERR_ROUTE_UNKNOWN',
      detail: expect.stringMatching(/ has no such path; see /),
    })
  })

  it.each([
    ['/write', { key: 'groups/1', value: 'x', expected: null }],
    ['/remove', { key: 'contract-0a0a0a0a-0a0a-0a0a-0a0a-0a0a0a0a0a0a/1', expected: 'x' }],
  ])('writes nothing for a client that does not accept the answer: %s', async (path, body) => {
    const headers = { accept: 'text/plain' }
    const init = { method: 'POST', body: JSON.stringify(body), headers }
    expect((await fetch(`${service.url}/v1/store${path}`, init)).status).toBe(406)
    expect(await open().read('groups/1')).toBeUndefined()
  })

  it('passes the refusal of a key on, and logs no failure of the store', async () => {
    const refusing = (inner: Store): Store => ({
      ...inner,
      read: async () => {
        throw rangeError('ERR_OPTION_INVALID', 'the key has an empty part; leave it out')
      },
    })
    const { app, log } = await startService({ leases: true }, { around: refusing, isOpen: false, listens: false })
    const answer = await app.inject('/v1/store/record?key=groups//1')
    expect([answer.statusCode, answer.json().code]).toEqual([400, 'ERR_OPTION_INVALID'])
    expect(log.filter(({ level }) => level === 'error' || level === 50)).toEqual([])
  })

  it('has the calls in its metrics', async () => {
    await open().read('groups/1')
    const { body } = await service.app.inject('/metrics')
    expect(body).toMatch(/graupel_http_request_duration_seconds_count\{route="\/v1\/store\/record",status="2xx"\} \d/)
    expect(body).toMatch(/graupel_store_call_duration_seconds_count\{call="read",outcome="ok"\} \d/)
  })

  it('describes its routes, with their bodies', async () => {
    const { paths } = (await service.app.inject('/openapi.json')).json()
    const routes = Object.keys(paths).filter((path) => path.startsWith('/v1/store'))
    const ofStore = ['', '/incarnation', '/place', '/record', '/records', '/remove', '/time', '/write']
    expect(routes.toSorted()).toEqual(ofStore.map((path) => `/v1/store${path}`))
    const { required } = paths['/v1/store/write'].post.requestBody.content['application/json'].schema
    expect(required).toEqual(['key', 'value', 'expected'])
    expect(Object.keys(paths['/v1/store/write'].post.responses)).toEqual(
      expect.arrayContaining(['200', '403', '413', '503']),
    )
  })

  it('is opened by a URL', async () => {
    const { store, close, shown } = await openStore(service.url.replace('http:', 'graupel+http:'))
    expect([store.name, store.durable, shown]).toEqual(['service', true, service.url.replace('http:', 'graupel+http:')])
    await close()
    await expect(openStore(service.url.replace('http:', 'graupel+http:'), { prefix: 'x' })).rejects.toMatchObject({
      code: 'ERR_OPTION_INVALID',
    })
  })
})

describe('a service with tokens', () => {
  const token = (letter: string) => letter.repeat(24)
  let service: Started
  beforeAll(async () => {
    const tokenFile = join(folder, 'tokens')
    writeFileSync(
      tokenFile,
      `${token('i')} name=ids\n${token('l')} name=leases allow=leases\n${token('a')} allow=numbers,ids,leases\n`,
      { mode: 0o600 },
    )
    service = await startService({ leases: true, tokenFile })
  })
  const open = (letter: string) => serviceStore({ url: service.url, token: token(letter) })
  /** Asks by bytes, because `fetch` sends the path of a URL alone. */
  const statusOf = async (target: string, letter: string) => {
    const lines = ['Host: localhost', `Authorization: Bearer ${token(letter)}`, 'Connection: close']
    return parsed(await send(service.port, `GET ${target} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)).status
  }

  it('lends the records of leases to a token that allows leases', async () => {
    await using lease = await acquireLease({ store: open('l'), namespace: freshNamespace() })
    expect(lease.node).toBeGreaterThanOrEqual(0)
    await expect(open('l').write('numbers/1', 'x', undefined)).rejects.toMatchObject(
      unavailable(
        / answered 403: the token of leases has allow=leases; write allow=leases,numbers in the file of --token-file/,
      ),
    )
    expect(await open('a').write('numbers/1', 'x', undefined)).toBeDefined()
  })

  it('does not lend to a token that was made for ids', async () => {
    await expect(open('i').read('leases/g/0/1')).rejects.toMatchObject(
      unavailable(/ answered 403: the token of ids has allow=ids; write allow=ids,leases in the file of --token-file/),
    )
  })

  it.each([
    ['/v1/store/place', 403],
    ['/v1/%73tore/place', 403],
    ['/v1/%73tore', 403],
    ['/v1/stor%65/time', 403],
    ['/v1/store%2Fplace', 404],
    ['http://localhost/v1/store/place', 403],
    ['HTTP://a@localhost/v1/%73tore/time', 403],
    ['/v1/store#x', 403],
  ])('refuses %s to a token that was made for ids', async (path, status) => {
    expect(await statusOf(path, 'i')).toBe(status)
  })

  it.each(['/v1/ids', 'http://localhost/v1/ids', 'http://%ZZ@localhost/v1/ids', 'http://localhost/v1/%69ds?count=2'])(
    'refuses %s to a token that was made for leases',
    async (path) => {
      expect(await statusOf(path, 'l')).toBe(403)
      expect(await statusOf(path, 'i')).toBe(200)
    },
  )

  it('gives no ids to a token that was made for leases', async () => {
    const ask = async (letter: string) =>
      (await fetch(`${service.url}/v1/ids`, { headers: { authorization: `Bearer ${token(letter)}` } })).status
    expect([await ask('i'), await ask('l'), await ask('a')]).toEqual([200, 403, 200])
    const answer = await fetch(`${service.url}/v1/ids`, { headers: { authorization: `Bearer ${token('l')}` } })
    const detail = 'the token of leases has allow=leases; write allow=ids,leases in the file of --token-file'
    expect(await answer.json()).toMatchObject({ detail })
  })

  it('refuses a wrong token and no token, and does not show the token', async () => {
    for (const options of [{ token: token('x') }, {}]) {
      const error = await serviceStore({ url: service.url, ...options })
        .read('groups/1')
        .catch((error) => error)
      expect(error).toMatchObject(unavailable(/ answered 401: the .* token; send the header Authorization/))
      expect(error.message).not.toContain(token('x'))
    }
  })
})

describe('a store over a service', () => {
  it('refuses a store that may forget, unless it was told so', async () => {
    const { url } = await startService({ leases: true, acquireTimeoutMs: 60_000 }, { store: forgetful, isOpen: false })
    await expect(serviceStore({ url }).read('groups/1')).rejects.toMatchObject({
      code: 'ERR_STORE_UNSAFE',
      message: expect.stringMatching(/durable is true, and the store of the service may forget .*pass durable: false/),
    })
    const store = serviceStore({ url, durable: false })
    expect(await store.incarnation?.()).toBe('one')
    expect((await openStore(url.replace('http', 'graupel+http'))).store.durable).toBe(false)
    for (const { run } of storeContract(async () => store)) await run()
  })

  it('refuses durable: false for a store that never forgets', async () => {
    const { url } = await startService({ leases: true })
    await expect(serviceStore({ url, durable: false }).read('groups/1')).rejects.toMatchObject({
      code: 'ERR_STORE_UNSAFE',
      message: expect.stringMatching(/the store of the service never forgets; pass durable: true/),
    })
  })

  it('refuses a second server that has another store', async () => {
    const [first, second] = [await startService({ leases: true }), await startService({ leases: true })]
    let isFirst = true
    const alternately: Fetch = (url, init) => fetch(url.replace(first.url, isFirst ? first.url : second.url), init)
    const store = serviceStore({ url: first.url, fetch: alternately })
    expect(await store.read('groups/1')).toBeUndefined()
    isFirst = false
    await expect(store.read('groups/1')).rejects.toMatchObject({
      code: 'ERR_STORE_UNSAFE',
      message: expect.stringMatching(/has the store '[\da-f-]{36}', and had '[\da-f-]{36}' before, .* one --store/),
    })
  })

  it.each<[string, (headers: Headers) => void, RegExp]>([
    [
      'a proxy that drops the name of the store',
      (headers) => headers.delete('graupel-store'),
      /does not name the store/,
    ],
    ['a cache', (headers) => headers.set('age', '0'), /comes from a cache/],
  ])('refuses the answers of %s', async (_, change, message) => {
    const { url } = await startService({ leases: true })
    const send = fetch
    const through: Fetch = async (target, init) => {
      const answer = await send(target, init)
      const headers = new Headers(answer.headers)
      change(headers)
      return new Response(await answer.text(), { status: answer.status, headers })
    }
    const refusal = { code: 'ERR_STORE_UNSAFE', message: expect.stringMatching(message) }
    await expect(serviceStore({ url, fetch: through }).read('groups/1')).rejects.toMatchObject(refusal)
    vi.stubGlobal('fetch', through)
    onTestFinished(() => void vi.unstubAllGlobals())
    await expect(openStore(url.replace('http', 'graupel+http'))).rejects.toMatchObject(refusal)
  })

  it('gives both servers of one store one name', async () => {
    const shared = memoryStore({ assumeOneProcess: true })
    const services = await Promise.all([0, 1].map(() => startService({ leases: true }, { store: shared })))
    const names = await Promise.all(
      services.map(async ({ url }) => (await fetch(`${url}/v1/store`)).headers.get('graupel-store')),
    )
    expect(names[0]).toMatch(/^[\da-f-]{36}$/)
    expect(names[1]).toBe(names[0])
  })

  it('finds out on the second server what became of a write on the first, which answered nothing', async () => {
    const shared = memoryStore({ assumeOneProcess: true })
    let isLost = false
    // The first server writes, and its store never answers.
    const hanging = (inner: Store): Store => ({
      ...inner,
      async write(...words) {
        const version = await inner.write(...words)
        if (isLost) await new Promise(() => {})
        return version
      },
    })
    const first = await startService({ leases: true }, { store: shared, around: hanging })
    const second = await startService({ leases: true }, { store: shared })
    const asked: string[] = []
    const noting: Fetch = (url, init) => {
      asked.push(`${new URL(url).origin === first.url ? 'first' : 'second'} ${new URL(url).pathname.slice(10)}`)
      return fetch(url, init)
    }
    const store = serviceStore({ url: [first.url, second.url], fetch: noting })
    const version = await store.write('leases/g/0/1', 'one', undefined)
    isLost = true
    asked.length = 0
    const written = await callsOf(store).write('leases/g/0/1', 'two', version, 30_000)
    expect(asked).toEqual(['first write', 'second record', 'second write'])
    expect(written).toEqual({ landed: true, version: (await shared.read('leases/g/0/1'))?.version })
    expect((await shared.read('leases/g/0/1'))?.value).toBe('two')
  })

  it.each<[string, (call: string) => Promise<unknown>]>([
    ['an error', () => Promise.reject(new Error('the pool has no connection'))],
    ['silence', () => new Promise(() => {})],
  ])('tells %s of the store from a refusal', async (_, fail) => {
    let isFailing = false
    const failing = (inner: Store): Store => ({
      ...inner,
      read: (...words) => (isFailing ? (fail('read') as never) : inner.read(...words)),
    })
    const { url } = await startService({ leases: true }, { around: failing })
    const store = serviceStore({ url })
    await store.read('groups/1')
    isFailing = true
    const error = await store.read('groups/1').catch((error) => error)
    expect(error.code).toBeUndefined()
    expect(error.message).toMatch(/ answered 503: the store does not answer; try again later; it asks to wait for 1 s$/)
  })

  it('has as many calls of the store under way as connections are allowed', async () => {
    let held: Promise<void> | undefined
    let waiting = 0
    const slow = (inner: Store): Store => ({
      ...inner,
      async read(...words) {
        if (held !== undefined) waiting++
        await held
        return inner.read(...words)
      },
    })
    const { app } = await startService({ leases: true, maxConnections: 2 }, { around: slow })
    // inject() sends the request when its promise is awaited.
    const ask = async () => app.inject('/v1/store/record?key=groups/1')
    expect((await ask()).statusCode).toBe(200)
    let release = () => {}
    held = new Promise((resolve) => {
      release = resolve
    })
    const first = [ask(), ask()]
    await until(() => waiting === 2)
    const third = await ask()
    expect([third.statusCode, third.json().code]).toEqual([503, 'ERR_OVERLOADED'])
    release()
    for (const answer of [...(await Promise.all(first)), await ask()]) expect(answer.statusCode).toBe(200)
  })

  it('says that a service lends no leases, and that an endpoint is no service', async () => {
    const { url } = await startService()
    await expect(serviceStore({ url }).read('groups/1')).rejects.toMatchObject(
      unavailable(/ answered 404: the service lends no leases; start graupel-server with --leases$/),
    )
    for (const [text, status] of [
      ['<h1>Welcome</h1>', 200],
      ['not found', 404],
      ['{"record":null}', 200],
      ['null', 200],
    ] as const) {
      const other = createServer((_, response) => response.writeHead(status).end(text))
      await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
      const at = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
      await expect(serviceStore({ url: at }).read('groups/1')).rejects.toMatchObject(
        unavailable(/; is this graupel-server with --leases\? The URL ends where \/v1 begins$/),
      )
      other.close()
    }
  })

  it('lends during the shutdown, until the last connection has ended', async () => {
    const service = await startService({ leases: true })
    const store = serviceStore({ url: service.url })
    const version = await store.write('leases/g/0/1', 'one', undefined)
    service.service.isStopping = true
    expect(await store.write('leases/g/0/1', 'two', version)).toBeDefined()
  })
})

it('a renewal on a durable store is two requests', async () => {
  const { url } = await startService({ leases: true })
  const asked: string[] = []
  const noting: Fetch = (to, init) => {
    asked.push(new URL(to).pathname.slice(10))
    return fetch(to, init)
  }
  const store = serviceStore({ url, fetch: noting })
  await using lease = await acquireLease({ store, namespace: freshNamespace(), windowMs: 900, maxClockSkewMs: 10_000 })
  const { renewals: before } = lease.stats()
  asked.length = 0
  await until(() => lease.stats().renewals >= before + 20)
  const [, ...betweenWrites] = asked.join(' ').split('write')
  betweenWrites.pop()
  expect(betweenWrites.length).toBeGreaterThanOrEqual(18)
  // A renewal that is late on a busy machine is tried again, which takes more requests.
  expect(betweenWrites.filter((others) => others === ' time ').length).toBeGreaterThan(betweenWrites.length / 2)
})

it('docs/stores/service.md counts requests as docs/leases.md counts calls', () => {
  const page = read('docs/stores/service.md')
  const calls = /^\| calls to acquire, to renew, to release \| (.*) \| (.*) \|$/m.exec(read('docs/leases.md')) ?? []
  const told = (kind: string) => new RegExp(`^\\| ${kind} \\| (\\d+) \\| (\\d+) \\| (\\d+) \\|$`, 'm').exec(page) ?? []
  const [durable, other] = [told('durable'), told('PostgreSQL.*`durable: false`')].map(([, ...all]) => all)
  expect([durable?.join(', '), other?.join(', ')]).toEqual(calls.slice(1))
  const rows = [...page.matchAll(/^\| (\d+) (s|h)\b(.*) \| ([\d ]+) \|$/gm)]
  expect(rows).toHaveLength(4)
  for (const [, count, unit, words = '', requests = ''] of rows) {
    const renewalMs = (Number(count) * (unit === 'h' ? 3_600_000 : 1000)) / 3
    const [, ofRenewal] = (words.includes('durable: false') ? other : durable) ?? []
    expect(Number(requests.replaceAll(' ', ''))).toBe((86_400_000 / renewalMs) * Number(ofRenewal) * 100)
  }
})

describe('the options of --leases', () => {
  it.each([
    [{ leases: true, allowAnonymous: true, host: '0.0.0.0' }, /--leases and --allow-anonymous are given/],
    [{ leases: true, store: 'graupel+http://127.0.0.1:1' }, /--store is a service itself/],
  ])('refuse %j', async (given, message) => {
    await expect(startService(given)).rejects.toMatchObject({ message: expect.stringMatching(message) })
  })

  it.each(['allow=', 'allow=all', 'allow=ids,', 'allow=ids allow=leases', 'name=a,b'])(
    'refuse the setting %s of a token',
    async (setting) => {
      const tokenFile = join(folder, `tokens-${Math.random()}`)
      writeFileSync(tokenFile, `${'t'.repeat(24)} ${setting}\n`, { mode: 0o600 })
      await expect(startService({ tokenFile })).rejects.toMatchObject({ code: 'ERR_OPTION_INVALID' })
    },
  )
})
