import { createServer, type RequestListener, type Server } from 'node:http'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { nameOf } from '../../src/stores/kubernetes/names.js'
import { type KubernetesStoreOptions, kubernetesStore } from '../../src/stores/kubernetes.js'
import type { Store, StoreEntry } from '../../src/stores/store.js'
import { type ApiOptions, KubernetesApi, type StoredLease } from './kinds/kubernetes-api.ts'
import { callsOf } from './real-time.ts'
import { freePort } from './servers.ts'

// What is particular to Kubernetes, on a server that has its traps.

const key = 'leases/orders/12'
const anyVersion = `${crypto.randomUUID()} 101 ${crypto.randomUUID()}`
const leasesPath = '/apis/coordination.k8s.io/v1/namespaces/default/leases'

const servers: Server[] = []
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close()
    server.closeAllConnections()
  }
})

async function listen(server: Server): Promise<string> {
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`
}

async function apiWith(options: ApiOptions = {}) {
  const api = new KubernetesApi(options)
  const url = await listen(api.server as Server)
  return {
    api,
    url,
    open: (more: KubernetesStoreOptions = {}) => kubernetesStore({ url, namespace: 'default', ...more }),
  }
}

/** A store whose requests are all answered in one way. */
async function answered(listener: RequestListener, headers: Record<string, string> = {}): Promise<Store> {
  return kubernetesStore({ url: await listen(createServer(listener)), namespace: 'default', headers })
}

describe('the Lease of a key', () => {
  let url: string
  let store: Store
  let api: KubernetesApi
  beforeEach(async () => {
    const made = await apiWith()
    url = made.url
    api = made.api
    store = made.open()
  })

  /** As kubectl does it. */
  const kubectl = async (method: string, name = '', body?: object): Promise<StoredLease> => {
    const request = { method, headers: { 'content-type': 'application/json' } }
    const answer = await fetch(`${url}${leasesPath}${name && `/${name}`}`, {
      ...request,
      ...(body && { body: JSON.stringify(body) }),
    })
    return (await answer.json()) as StoredLease
  }

  it('says what it is of, and who holds it', async () => {
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

  const name = 'graupel.leases.orders.12'

  it('has another version, and another resourceVersion, after an equal value', async () => {
    const versions = [(await store.write(key, 'same', undefined)) as string]
    const revisions = [(await kubectl('GET', name)).metadata.resourceVersion]
    versions.push((await store.write(key, 'same', versions[0])) as string)
    revisions.push((await kubectl('GET', name)).metadata.resourceVersion)
    expect(new Set(versions).size).toBe(2)
    expect(new Set(revisions).size).toBe(2)
    expect(await store.write(key, 'late', versions[0])).toBeUndefined()
    expect(await store.read(key)).toEqual({ key, value: 'same', version: versions[1] })
  })

  it('is not made anew by a write that expects a version of it, when it was deleted by hand', async () => {
    const first = await store.write(key, 'same', undefined)
    const second = await store.write(key, 'same', first)
    await kubectl('DELETE', name)
    for (const old of [first, second]) expect(await store.write(key, 'late', old)).toBeUndefined()
    expect(await store.read(key)).toBeUndefined()
  })

  it('is not written over by such a write either, when it was made again', async () => {
    const first = await store.write(key, 'same', undefined)
    const before = await kubectl('GET', name)
    await kubectl('DELETE', name)
    const { labels, annotations } = before.metadata
    const { metadata } = await kubectl('POST', '', { metadata: { name, labels, annotations }, spec: before.spec })
    const found = await store.read(key)
    expect(found).toMatchObject({ value: 'same', version: expect.stringContaining(metadata.uid) })
    expect(await store.write(key, 'late', first)).toBeUndefined()
    // Nor where the resourceVersion is right, and the uid is not.
    const { resourceVersion, uid } = before.metadata
    const mixed = (first as string).replace(resourceVersion, metadata.resourceVersion)
    expect(mixed).toContain(uid)
    expect(await store.write(key, 'late', mixed)).toBeUndefined()
    expect(await store.read(key)).toEqual(found)
  })

  it('is written by one request, with the uid and the resourceVersion', async () => {
    const asked: string[] = []
    const watched = kubernetesStore({
      url,
      namespace: 'default',
      fetch(at, request) {
        const { uid, resourceVersion } = JSON.parse(request.body as string).metadata
        asked.push(`${request.method} ${uid} ${resourceVersion}`)
        return fetch(at, request)
      },
    })
    const first = await watched.write(key, 'first', undefined)
    const { metadata } = await kubectl('GET', name)
    const second = await watched.write(key, 'second', first)
    expect(second).toBeDefined()
    expect(asked).toEqual(['POST undefined undefined', `PUT ${metadata.uid} ${metadata.resourceVersion}`])
  })

  it.each(['', 'version', 'a b c', crypto.randomUUID(), `${crypto.randomUUID()} 101`])(
    'is not written, nor asked for, where the version is none of its own: %j',
    async (version) => {
      const asking = () => Promise.reject(new Error('nothing is to be asked'))
      const silent = kubernetesStore({ url, namespace: 'default', fetch: asking })
      expect(await silent.write(key, 'x', version)).toBeUndefined()
    },
  )

  it('tells by a read, and not by a write, that etcd was restored from a snapshot', async () => {
    const first = await store.write(key, 'first', undefined)
    const snapshot = api.snapshot()
    const lost = (await store.write(key, 'lost', first)) as string
    api.restore(snapshot)
    const second = (await store.write(key, 'second', first)) as string
    expect(second).not.toBe(lost)
    // The uid and the resourceVersion are those of the write that was lost.
    expect(second.split(' ').slice(0, 2)).toEqual(lost.split(' ').slice(0, 2))
    expect(await store.read(key)).toEqual({ key, value: 'second', version: second })
    expect(await store.write(key, 'late', lost)).toBeDefined()
  })

  it('is another version when others change it, and loses what they have written', async () => {
    const first = await store.write(key, 'first', undefined)
    const { metadata, spec } = await kubectl('GET', name)
    const annotations = { ...metadata.annotations, note: 'theirs' }
    await kubectl('PUT', name, { metadata: { ...metadata, annotations }, spec })
    expect(await store.write(key, 'second', first)).toBeUndefined()
    const found = await store.read(key)
    expect(found).toMatchObject({ key, value: 'first' })
    expect(await store.write(key, 'second', found?.version)).toBeDefined()
    expect((await kubectl('GET', name)).metadata.annotations).not.toHaveProperty('note')
  })

  it('is refused where others have made it', async () => {
    const version = await store.write(key, 'x', undefined)
    await kubectl('DELETE', 'graupel.leases.orders.12')
    const labels = { 'graupel/folder': 'graupel.leases.orders' }
    await kubectl('POST', '', { metadata: { name: 'graupel.leases.orders.12', labels }, spec: {} })
    for (const expected of [undefined, version]) expect(await store.write(key, 'x', expected)).toBeUndefined()
    const refusal = { code: 'ERR_STORE_INVALID', message: expect.stringContaining("'graupel.leases.orders.12'") }
    const calls = [() => store.read(key), () => store.list('leases/orders/')]
    for (const call of calls) await expect(call()).rejects.toMatchObject(refusal)
  })

  it('is listed by pages, and all at once where a page has expired', async () => {
    await store.write('leases/other/1', 'x', undefined)
    await store.write('leases/many/0', 'x', undefined)
    const { revision, leases } = JSON.parse(api.snapshot())
    const first = JSON.stringify(leases.at(-1))
    // More than a page has.
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

  it('is apart from those of another prefix', async () => {
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

  it('is one that Kubernetes takes, and the only one', async () => {
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

describe('what is said in one line', () => {
  const accounts = { good: ['get', 'list', 'create', 'update'], weak: ['get', 'list'] } as const

  it.each([
    [
      {},
      /answered 401 when it was asked to list Leases in the namespace 'default': Unauthorized; the token is missing/,
    ],
    [{ authorization: 'Bearer s3cret-token' }, /answered 401 /],
  ])('where %j is no valid token', async (headers, message) => {
    const { open } = await apiWith({ accounts })
    const refused = expect(open({ headers: headers as Record<string, string> }).list('a/')).rejects
    await refused.toMatchObject({ code: 'ERR_STORE_UNAVAILABLE', message: expect.stringMatching(message) })
    await refused.not.toMatchObject({ message: expect.stringContaining('s3cret') })
  })

  it('where a right is missing', async () => {
    const { open } = await apiWith({ accounts })
    const store = open({ headers: { authorization: 'Bearer weak' } })
    await expect(store.write(key, 'x', undefined)).rejects.toMatchObject({
      code: 'ERR_STORE_UNAVAILABLE',
      message: expect.stringMatching(/answered 403 .* cannot create resource "leases" .* a Role has to allow /),
    })
  })

  it('where the namespace is missing', async () => {
    const { open } = await apiWith()
    await expect(open({ namespace: 'none' }).write(key, 'x', undefined)).rejects.toMatchObject({
      code: 'ERR_STORE_UNAVAILABLE',
      message: expect.stringMatching(/answered 404 .*: namespaces "none" not found; create the namespace/),
    })
  })

  it.each<[string, number, Record<string, string>, string, RegExp]>([
    [
      'is another one',
      200,
      {},
      '<html>\n<h1>Welcome</h1>',
      /answered 200 .*: <html> <h1>Welcome<\/h1>; that is not how /,
    ],
    ['is another one in JSON', 200, {}, '[]', /that is not how the API of Kubernetes answers/],
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
    ['tells secrets', 400, {}, 'you sent t0ken-of-mine', /answered 400 .*: you sent \*\*\*; /],
  ])('where the service %s', async (_name, status, headers, body, message) => {
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

  it('where nothing listens', async () => {
    const store = kubernetesStore({ url: `http://127.0.0.1:${await freePort()}`, namespace: 'default' })
    await expect(callsOf(store).read(key)).rejects.toMatchObject({
      code: 'ERR_STORE_UNAVAILABLE',
      message: expect.stringMatching(/at http:\/\/127\.0\.0\.1:\d+ cannot be reached: .*ECONNREFUSED/),
    })
  })

  it('where a header is none, without its value', async () => {
    const { open } = await apiWith()
    const store = open({ headers: async () => ({ authorization: 'Bearer s3cret\nx' }) })
    const refused = expect(store.read(key)).rejects
    await refused.toMatchObject({ code: 'ERR_OPTION_INVALID', message: expect.not.stringContaining('s3cret') })
  })

  it.each<[string, number, string, string]>([
    ['a rule', 422, 'Invalid', 'leases'],
    ['a quota', 409, 'Conflict', 'resourcequotas'],
    ['anything else', 409, 'AlreadyExists', 'namespaces'],
  ])('where a write is refused because of %s', async (_name, status, reason, kind) => {
    const body = JSON.stringify({ kind: 'Status', reason, message: 'it is so', details: { kind } })
    const store = await answered((_request, response) => response.writeHead(status).end(body))
    for (const expected of [undefined, anyVersion]) {
      await expect(store.write(key, 'x', expected)).rejects.toMatchObject({
        code: 'ERR_STORE_UNAVAILABLE',
        message: expect.stringMatching(new RegExp(`answered ${status} .*: it is so; see to what it names$`)),
      })
    }
  })

  it('where annotations are stripped on their way', async () => {
    const { url, open } = await apiWith()
    await open().write(key, 'first', undefined)
    const stripping = kubernetesStore({
      url,
      namespace: 'default',
      fetch: (at, request) => fetch(at, { ...request, ...(request.body && { body: withoutNotes(request.body) }) }),
    })
    const version = (await open().read(key))?.version
    const refusal = { code: 'ERR_STORE_INVALID', message: expect.stringContaining('has not the annotations') }
    await expect(stripping.write(key, 'second', version)).rejects.toMatchObject(refusal)
  })
})

describe('its options', () => {
  const url = 'http://127.0.0.1:8001'
  it.each<[object | null, string, RegExp]>([
    [{ url }, 'ERR_OPTION_INVALID', /^namespace is missing; pass it, as url is given/],
    [{ url, namespace: 'Orders' }, 'ERR_OPTION_INVALID', /^namespace is 'Orders'; pass the name of a namespace/],
    [
      { url: 'http://u:hush@host', namespace: 'x' },
      'ERR_OPTION_INVALID',
      /^url has a user, a password, a query or a fragment; /,
    ],
    [{ url: 'localhost:8001', namespace: 'x' }, 'ERR_OPTION_INVALID', /^url is a text; pass one that begins with http/],
    [{ url: `${url}?x=1`, namespace: 'x' }, 'ERR_OPTION_INVALID', /^url has a user/],
    [{ url: 7, namespace: 'x' }, 'ERR_OPTION_INVALID', /^url is 7/],
    [{ url, namespace: 'x', fetch: 7 }, 'ERR_OPTION_INVALID', /^fetch is 7; pass a function/],
    [{ url, namespace: 'x', headers: 'hush' }, 'ERR_OPTION_INVALID', /^headers is a text/],
    [
      { url, namespace: 'x', durable: false },
      'ERR_OPTION_INVALID',
      /^durable is false; leave it out: the Kubernetes API /,
    ],
    [{ url, namespace: 'x', prefix: 'a-b' }, 'ERR_OPTION_INVALID', /^prefix is 'a-b'/],
    [{ headers: {} }, 'ERR_OPTION_INVALID', /^headers is given without url/],
    [{ fetch: () => {} }, 'ERR_OPTION_INVALID', /^fetch is given without url/],
    [{ uri: url }, 'ERR_OPTION_UNKNOWN', /^there is no option 'uri'; the options are durable, prefix, namespace, url/],
    [null, 'ERR_OPTION_INVALID', /^the options of the store are null/],
  ])('%j is refused', (options, code, message) => {
    const refused = expect(() => kubernetesStore(options as never))
    refused.toThrow(expect.objectContaining({ code, message: expect.stringMatching(message) }))
    refused.not.toThrow('hush')
  })

  it('may have a path in the URL, and headers of a function, which is asked each time', async () => {
    const seen: unknown[] = []
    let count = 0
    const store = kubernetesStore({
      url: `${url}/k8s/clusters/c-1/`,
      namespace: 'x',
      durable: true,
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

function withoutNotes(body: string): string {
  const { metadata, ...more } = JSON.parse(body)
  return JSON.stringify({ ...more, metadata: { ...metadata, annotations: {} } })
}
