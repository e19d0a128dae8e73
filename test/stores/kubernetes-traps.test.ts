import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { nameOf } from '../../src/stores/kubernetes/api.js'
import { type Fetch, kubernetesStore } from '../../src/stores/kubernetes.js'
import type { Store, StoreEntry } from '../../src/stores/store.js'
import type { KubernetesApi } from './kinds/kubernetes-api.ts'
import { answered, apiWith } from './kubernetes-here.ts'
import { callsOf } from './real-time.ts'
import { freePort } from './servers.ts'

// Behaviour that only Kubernetes has, on a fake server with the same traps.

const key = 'leases/orders/12'
const [uid, random] = [crypto.randomUUID(), crypto.randomUUID()]
const anyVersion = `${uid} ${random}`
/** The answer to a read of the Lease that has this version. */
const anyLease = JSON.stringify({
  kind: 'Lease',
  metadata: {
    name: 'graupel.leases.orders.12',
    uid,
    resourceVersion: '101',
    annotations: { 'graupel/version': random },
  },
})

describe('the Lease of a key', () => {
  let url: string
  let store: Store
  let api: KubernetesApi
  let kubectl: Awaited<ReturnType<typeof apiWith>>['kubectl']
  beforeEach(async () => {
    const made = await apiWith()
    ;({ url, api, kubectl } = made)
    store = made.open()
  })

  it('names its key and its holder', async () => {
    const value = JSON.stringify({ owner: 'host/1234', isReleased: false })
    const version = await store.write(key, value, undefined)
    const { metadata, spec } = await kubectl('GET', 'graupel.leases.orders.12')
    expect(metadata.labels).toEqual({
      'app.kubernetes.io/managed-by': 'graupel',
      'graupel/folder': 'graupel.leases.orders',
    })
    expect(metadata.annotations).toMatchObject({ 'graupel/key': `graupel/${key}`, 'graupel/value': value })
    expect(spec).toEqual({ holderIdentity: 'host/1234' })
    await store.write(key, JSON.stringify({ owner: 'host/1234', isReleased: true }), version)
    expect((await kubectl('GET', 'graupel.leases.orders.12')).spec).toEqual({})
  })

  it.each(['', 'null', '7', '{"owner":7}', '{"owner":""}', 'no JSON', `{"owner":"${'x'.repeat(4000)}"}`])(
    'holds the value %s',
    async (value) => {
      await store.write(key, value, undefined)
      expect((await store.read(key))?.value).toBe(value)
      const { spec } = await kubectl('GET', 'graupel.leases.orders.12')
      expect(`${spec?.['holderIdentity'] ?? ''}`.length).toBeLessThanOrEqual(253)
    },
  )

  it('is listed by pages, or in one request after a page has expired', async () => {
    await store.write('leases/other/1', 'x', undefined)
    await store.write('leases/many/0', 'x', undefined)
    const { revision, leases } = JSON.parse(api.snapshot())
    const first = JSON.stringify(leases.at(-1))
    // One page does not hold so many.
    const names = Array.from({ length: 510 }, (_, i) => `${i}`)
    for (const name of names) {
      const text = first.replaceAll('leases.many.0', `leases.many.${name}`).replace('many/0', `many/${name}`)
      leases.push(JSON.parse(text.replace('"graupel/value":"x"', `"graupel/value":"${name}"`)))
    }
    api.restore(JSON.stringify({ revision, leases }))
    const sorted = (entries: StoreEntry[]) => entries.map(({ value }) => Number(value)).sort((a, b) => a - b)
    expect(sorted(await store.list('leases/many/'))).toEqual(names.map(Number))
    const asked: string[] = []
    const other = kubernetesStore({
      url,
      namespace: 'default',
      async fetch(at, request) {
        asked.push(at)
        if (asked.length === 2) api.compact()
        return fetch(at, request)
      },
    })
    expect(sorted(await other.list('leases/many/'))).toEqual(names.map(Number))
    expect(asked.map((at) => at.includes('continue='))).toEqual([false, true, false])
  })

  it('is separate from the Leases of another prefix', async () => {
    const other = kubernetesStore({ url, namespace: 'default', prefix: 'other' })
    await store.write(key, 'one', undefined)
    expect(await other.read(key)).toBeUndefined()
    expect(await other.list('leases/orders/')).toEqual([])
    expect(await other.write(key, 'two', undefined)).toBeDefined()
    expect((await store.read(key))?.value).toBe('one')
  })
})

describe('the name of a key', () => {
  const subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/

  it.each([
    ['graupel/leases/orders-1a2b3c4d/0/12', 'graupel.leases.orders-1a2b3c4d.0.12'],
    ['graupel/groups/Orders_EU-1a2b3c4d', /^graupel\.groups\.orders-eu-1a2b3c4d--[0-9a-f]{32}$/],
    ['graupel/a.b', /^graupel\.a-b--[0-9a-f]{32}$/],
    ['graupel/a--b', /^graupel\.a-b--[0-9a-f]{32}$/],
    ['_/ /~', /^x\.x\.x--[0-9a-f]{32}$/],
    [`graupel/${'x'.repeat(255)}`, /^graupel\.x{211}--[0-9a-f]{32}$/],
  ])('%s is %s', async (text, name) => {
    expect(await nameOf(text, 253)).toEqual(typeof name === 'string' ? name : expect.stringMatching(name))
  })

  it('is valid in Kubernetes, and no other key has it', async () => {
    const part = fc.string({ unit: fc.constantFrom(...'aAb0-._~ '), minLength: 1, maxLength: 6 })
    const text = fc.array(part, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'))
    await fc.assert(
      fc.asyncProperty(text, text, fc.constantFrom(63, 253), async (one, other, length) => {
        const names = [await nameOf(one, length), await nameOf(other, length)]
        for (const name of names) expect(name.length <= length && subdomain.test(name), name).toBe(true)
        expect(names[0] === names[1]).toBe(one === other)
      }),
      { numRuns: 200 },
    )
  })
})

describe('a message in one line tells', () => {
  const accounts = { good: ['get', 'list', 'create', 'update'], weak: ['get', 'list'] } as const

  it.each([
    [
      {},
      /answered 401 when it was asked to list Leases in the namespace 'default': Unauthorized; the token is missing/,
    ],
    [{ authorization: 'Bearer s3cret-token' }, /answered 401 /],
  ])('that the token of %j is not valid', async (headers, message) => {
    const { open } = await apiWith({ accounts })
    const refused = expect(open({ headers: headers as Record<string, string> }).list('a/')).rejects
    await refused.toMatchObject({ code: 'ERR_STORE_UNAVAILABLE', message: expect.stringMatching(message) })
    await refused.not.toMatchObject({ message: expect.stringContaining('s3cret') })
  })

  it('that a right is missing', async () => {
    const { open } = await apiWith({ accounts })
    const store = open({ headers: { authorization: 'Bearer weak' } })
    await expect(store.write(key, 'x', undefined)).rejects.toMatchObject({
      code: 'ERR_STORE_UNAVAILABLE',
      message: expect.stringMatching(/answered 403 .* cannot create resource "leases" .* let a Role allow /),
    })
  })

  it('that the namespace is missing', async () => {
    const { open } = await apiWith()
    await expect(open({ namespace: 'none' }).write(key, 'x', undefined)).rejects.toMatchObject({
      code: 'ERR_STORE_UNAVAILABLE',
      message: expect.stringMatching(/answered 404 .*: namespaces "none" not found; create the namespace/),
    })
  })

  it.each<[string, number, Record<string, string>, string, RegExp]>([
    [
      'is not Kubernetes',
      200,
      {},
      '<html>\n<h1>Welcome</h1>',
      /answered 200 .*: <html> <h1>Welcome<\/h1>; that is not how /,
    ],
    ['is not Kubernetes, but answers JSON', 200, {}, '[]', /that is not how the API of Kubernetes answers/],
    ['leads elsewhere', 302, { location: '/login' }, '', /answered 302 .*'default' and nothing else; that is not how /],
    ['knows no such path', 404, {}, '404 page not found', /answered 404 .*: 404 page not found; that is not /],
    ['asks to wait', 429, { 'retry-after': '7' }, 'Too many requests', /answered 429 .*; it asks to wait for 7 s$/],
    ['cannot answer now', 503, {}, 'no healthy upstream', /answered 503 .*: no healthy upstream$/],
    [
      'fails',
      500,
      {},
      '{"kind":"Status","message":"etcdserver: no leader"}',
      /answered 500 .*: etcdserver: no leader$/,
    ],
    ['repeats secrets', 400, {}, 'you sent t0ken-of-mine', /answered 400 .*: you sent \*\*\*; /],
  ])('that the service %s', async (_name, status, headers, body, message) => {
    const store = await answered((_request, response) => response.writeHead(status, headers).end(body), {
      authorization: 'Bearer t0ken-of-mine',
    })
    const calls = [
      () => store.read(key),
      () => store.list('a/'),
      () => store.write(key, 'x', undefined),
      () => store.write(key, 'x', anyVersion),
      () => store.nowMs?.(),
    ]
    for (const call of calls) await expect(call()).rejects.toThrow(message)
  })

  it('that nothing listens', async () => {
    const store = kubernetesStore({ url: `http://127.0.0.1:${await freePort()}`, namespace: 'default' })
    await expect(callsOf(store).read(key)).rejects.toMatchObject({
      code: 'ERR_STORE_UNAVAILABLE',
      message: expect.stringMatching(/at http:\/\/127\.0\.0\.1:\d+ cannot be reached: .*ECONNREFUSED/),
    })
  })

  it.each([
    ['a Headers', new Headers({ authorization: 'hush' })],
    ['a Map', new Map([['authorization', 'hush']])],
    ['an array', ['authorization', 'hush']],
    ['a text', 'Bearer hush'],
    ['null', null],
    ['undefined', undefined],
  ])('that a function returns %s as headers, which fetch would not see', async (_, headers) => {
    const { open } = await apiWith()
    const store = open({ headers: (() => headers) as never })
    const refused = expect(store.read(key)).rejects
    await refused.toMatchObject({
      code: 'ERR_OPTION_INVALID',
      message: expect.stringMatching(/^headers are (?!.*hush)/),
    })
  })

  it('that a header is not valid, without its value', async () => {
    const { open } = await apiWith()
    const store = open({ headers: async () => ({ authorization: 'Bearer s3cret\nx' }) })
    const refused = expect(store.read(key)).rejects
    await refused.toMatchObject({ code: 'ERR_OPTION_INVALID', message: expect.not.stringContaining('s3cret') })
  })

  it.each<[string, number, string, string]>([
    ['a rule', 422, 'Invalid', 'leases'],
    ['a quota', 409, 'Conflict', 'resourcequotas'],
    ['anything else', 409, 'AlreadyExists', 'namespaces'],
  ])('that a write is refused because of %s', async (_name, status, reason, kind) => {
    const body = JSON.stringify({ kind: 'Status', reason, message: 'it is so', details: { kind } })
    const store = await answered(({ method }, response) => {
      response.writeHead(method === 'GET' ? 200 : status).end(method === 'GET' ? anyLease : body)
    })
    for (const expected of [undefined, anyVersion]) {
      await expect(store.write(key, 'x', expected)).rejects.toMatchObject({
        code: 'ERR_STORE_UNAVAILABLE',
        message: expect.stringMatching(
          new RegExp(`answered ${status} .*: it is so; correct the fault that the answer names$`),
        ),
      })
    }
  })

  it.each<[string, Record<string, string>]>([
    ['strips', {}],
    ['replaces', { 'graupel/key': `graupel/${key}`, 'graupel/value': 'x', 'graupel/version': crypto.randomUUID() }],
  ])('that an admission webhook %s annotations', async (_name, annotations) => {
    const { open } = await apiWith()
    const version = await open().write(key, 'first', undefined)
    const changing: Fetch = (at, request) => {
      if (request.body === undefined) return fetch(at, request)
      const lease = JSON.parse(request.body)
      lease.metadata.annotations = annotations
      return fetch(at, { ...request, body: JSON.stringify(lease) })
    }
    const refusal = { code: 'ERR_STORE_INVALID', message: expect.stringContaining('has no annotations of graupel') }
    await expect(open({ fetch: changing }).write(key, 'second', version)).rejects.toMatchObject(refusal)
  })
})

describe('its options', () => {
  const url = 'http://127.0.0.1:8001'
  it.each<[object | null, string, RegExp]>([
    [{ url }, 'ERR_OPTION_INVALID', /^namespace is missing; pass namespace with url/],
    [{ url, namespace: 'Orders' }, 'ERR_OPTION_INVALID', /^namespace is 'Orders'; pass the name of a namespace/],
    [
      { url: 'http://u:hush@host', namespace: 'x' },
      'ERR_OPTION_INVALID',
      /^url has a user, a password, a query or a fragment; /,
    ],
    [
      { url: 'localhost:8001', namespace: 'x' },
      'ERR_OPTION_INVALID',
      /^url is a text; pass the text of a URL that begins with http/,
    ],
    [{ url: `${url}?x=1`, namespace: 'x' }, 'ERR_OPTION_INVALID', /^url has a user/],
    [{ url: 7, namespace: 'x' }, 'ERR_OPTION_INVALID', /^url is 7/],
    [{ url, namespace: 'x', fetch: 7 }, 'ERR_OPTION_INVALID', /^fetch is 7; pass a function/],
    [{ url, namespace: 'x', headers: 'hush' }, 'ERR_OPTION_INVALID', /^headers is a text/],
    [
      { url, namespace: 'x', assumeDurable: false },
      'ERR_OPTION_INVALID',
      /^assumeDurable is false; leave it out: stores in the Kubernetes API /,
    ],
    [{ url, namespace: 'x', prefix: 'a-b' }, 'ERR_OPTION_INVALID', /^prefix is 'a-b'/],
    [{ headers: {} }, 'ERR_OPTION_INVALID', /^headers is given without url/],
    [{ fetch: () => {} }, 'ERR_OPTION_INVALID', /^fetch is given without url/],
    [
      { uri: url },
      'ERR_OPTION_UNKNOWN',
      /^there is no option 'uri' \(did you mean 'url'\?\); the options are assumeDurable, prefix, namespace, url/,
    ],
    [null, 'ERR_OPTION_INVALID', /^the options are null; pass an object such as/],
  ])('%j is refused', (options, code, message) => {
    const refused = expect(() => kubernetesStore(options as never))
    refused.toThrow(expect.objectContaining({ code, message: expect.stringMatching(message) }))
    refused.not.toThrow('hush')
  })

  it('may name several servers: if a server refuses the connection, the next server is asked', async () => {
    const made = await apiWith()
    const store = made.open({ url: [`http://127.0.0.1:${await freePort()}`, made.url] })
    const version = await store.write(key, 'x', undefined)
    expect(await store.read(key)).toEqual({ key, value: 'x', version })
  })

  it('may have a path in the URL, and a function that returns headers for each request', async () => {
    const seen: unknown[] = []
    let count = 0
    const store = kubernetesStore({
      url: `${url}/k8s/clusters/c-1/`,
      namespace: 'x',
      assumeDurable: true,
      headers: () => ({ authorization: `Bearer ${++count}` }),
      async fetch(at, { headers }) {
        seen.push([at.slice(0, at.indexOf('/leases')), headers['authorization']])
        throw new Error('enough')
      },
    })
    for (let i = 0; i < 2; i++) await expect(store.read(key)).rejects.toThrow('cannot be reached: enough')
    const path = `${url}/k8s/clusters/c-1/apis/coordination.k8s.io/v1/namespaces/x`
    expect(seen).toEqual([
      [path, 'Bearer 1'],
      [path, 'Bearer 2'],
    ])
  })
})
