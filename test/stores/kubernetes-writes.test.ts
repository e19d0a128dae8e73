import { beforeEach, describe, expect, it } from 'vitest'
import { type Fetch, kubernetesStore } from '../../src/stores/kubernetes.js'
import type { Store } from '../../src/stores/store.js'
import type { KubernetesApi } from './kinds/kubernetes-api.ts'
import { answered, apiWith } from './kubernetes-here.ts'
import { callsOf } from './real-time.ts'

// The effects of a PUT, and the writes with an expected version that land.

const key = 'leases/orders/12'
const name = 'graupel.leases.orders.12'
let url: string
let store: Store
let api: KubernetesApi
let ask: Awaited<ReturnType<typeof apiWith>>['ask']
let kubectl: Awaited<ReturnType<typeof apiWith>>['kubectl']
beforeEach(async () => {
  const made = await apiWith()
  ;({ url, api, ask, kubectl } = made)
  store = made.open()
})

describe('the Lease of a key', () => {
  it('gets another version and resourceVersion even if an equal value is written', async () => {
    const versions = [(await store.write(key, 'same', undefined)) as string]
    const revisions = [(await kubectl('GET', name)).metadata.resourceVersion]
    versions.push((await store.write(key, 'same', versions[0])) as string)
    revisions.push((await kubectl('GET', name)).metadata.resourceVersion)
    expect(new Set(versions).size).toBe(2)
    expect(new Set(revisions).size).toBe(2)
    expect(await store.write(key, 'late', versions[0])).toBeUndefined()
    expect(await store.read(key)).toEqual({ key, value: 'same', version: versions[1] })
  })

  it('is not created again by a write with an expected version after it was deleted by hand', async () => {
    const first = await store.write(key, 'same', undefined)
    const second = await store.write(key, 'same', first)
    await kubectl('DELETE', name)
    for (const old of [first, second]) expect(await store.write(key, 'late', old)).toBeUndefined()
    expect(await store.read(key)).toBeUndefined()
  })

  it('is not replaced by a write with an expected version after it was deleted and created again', async () => {
    const first = await store.write(key, 'same', undefined)
    const before = await kubectl('GET', name)
    await kubectl('DELETE', name)
    const { labels, annotations } = before.metadata
    const { metadata } = await kubectl('POST', '', { metadata: { name, labels, annotations }, spec: before.spec })
    expect(await store.write(key, 'late', first)).toBeUndefined()
    // Only the uid differs.
    const version = (first as string).replace(before.metadata.uid, metadata.uid)
    expect(version).not.toBe(first)
    expect(await store.read(key)).toEqual({ key, value: 'same', version })
    expect(await store.write(key, 'late', first)).toBeUndefined()
    expect(await store.read(key)).toEqual({ key, value: 'same', version })
  })

  it('may have any text as its uid', async () => {
    const annotations = {
      'graupel/key': `graupel/${key}`,
      'graupel/value': 'x',
      'graupel/version': crypto.randomUUID(),
    }
    const body = JSON.stringify({ kind: 'Lease', metadata: { name, uid: 'one', resourceVersion: '7', annotations } })
    const other = await answered((_request, response) => response.writeHead(200).end(body))
    expect(await other.read(key)).toEqual({ key, value: 'x', version: `one ${annotations['graupel/version']}` })
  })

  it('is not created again by a server that answers 404 to a PUT', async () => {
    const version = await store.write(key, 'x', undefined)
    const lease = JSON.stringify(await kubectl('GET', name))
    const gone = JSON.stringify({ kind: 'Status', reason: 'NotFound', details: { name, kind: 'leases' } })
    const other = await answered(({ method }, response) => {
      response.writeHead(method === 'GET' ? 200 : 404).end(method === 'GET' ? lease : gone)
    })
    expect(await other.write(key, 'x', version)).toBeUndefined()
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
    'is neither written nor read if the version is not from this store: %j',
    async (version) => {
      const asking = () => Promise.reject(new Error('nothing is to be asked'))
      const silent = kubernetesStore({ url, namespace: 'default', fetch: asking })
      expect(await silent.write(key, 'x', version)).toBeUndefined()
    },
  )

  it('has another version when it is read after a restore of etcd, but a write with the lost version lands', async () => {
    const other = kubernetesStore({ url, namespace: 'default' })
    const first = await store.write(key, 'first', undefined)
    const snapshot = api.snapshot()
    const lost = (await store.write(key, 'lost', first)) as string
    const { uid, resourceVersion } = (await kubectl('GET', name)).metadata
    api.restore(snapshot)
    const second = (await other.write(key, 'second', first)) as string
    expect(second).not.toBe(lost)
    // The uid and the resourceVersion are equal to those of the lost write.
    expect((await kubectl('GET', name)).metadata).toMatchObject({ uid, resourceVersion })
    expect(await other.read(key)).toEqual({ key, value: 'second', version: second })
    // A process that has seen the Lease since compares the random text.
    expect(await other.write(key, 'late', lost)).toBeUndefined()
    expect(await store.write(key, 'late', lost)).toBeDefined()
  })

  it('is replaced even if others have changed a label or an annotation; their change is lost', async () => {
    const first = await store.write(key, 'first', undefined)
    const { metadata, spec } = await kubectl('GET', name)
    const annotations = { ...metadata.annotations, note: 'theirs' }
    await kubectl('PUT', name, { metadata: { ...metadata, annotations }, spec })
    // The writer has not seen the change.
    const other = kubernetesStore({ url, namespace: 'default' })
    expect(await other.read(key)).toEqual({ key, value: 'first', version: first })
    const second = await store.write(key, 'second', first)
    expect(await store.read(key)).toEqual({ key, value: 'second', version: second })
    expect((await kubectl('GET', name)).metadata.annotations).not.toHaveProperty('note')
    expect(await store.write(key, 'late', first)).toBeUndefined()
  })

  it('is written by the next attempt if others changed a label while the first attempt failed', async () => {
    let isCut = false
    const cutting: Fetch = async (at, request) => {
      if (isCut || request.method !== 'PUT') return fetch(at, request)
      isCut = true
      const { metadata, spec } = await kubectl('GET', name)
      await kubectl('PUT', name, { metadata: { ...metadata, labels: { ...metadata.labels, team: 'theirs' } }, spec })
      throw new Error('cut before it was sent')
    }
    const writer = kubernetesStore({ url, namespace: 'default', fetch: cutting })
    const first = await writer.write(key, 'first', undefined)
    const written = await callsOf(writer).write(key, 'second', first, 30_000)
    expect(isCut).toBe(true)
    expect(written).toEqual({ landed: true, version: (await store.read(key))?.version })
    expect((await store.read(key))?.value).toBe('second')
  })

  it('is read before the write of a process that has seen a thousand others since', async () => {
    const asked: string[] = []
    const watched = kubernetesStore({
      url,
      namespace: 'default',
      fetch(at, request) {
        asked.push(request.method)
        return fetch(at, request)
      },
    })
    const first = await watched.write(key, 'first', undefined)
    const { revision, leases } = JSON.parse(api.snapshot())
    const one = JSON.stringify(leases.at(-1)).replaceAll('leases.orders', 'leases.many')
    for (let i = 0; i < 1024; i++) {
      const other = one.replaceAll('leases.many.12', `leases.many.${i}`).replace(key, `leases/many/${i}`)
      leases.push(JSON.parse(other))
    }
    api.restore(JSON.stringify({ revision, leases }))
    expect(await watched.list('leases/many/')).toHaveLength(1024)
    asked.length = 0
    const second = await watched.write(key, 'second', first)
    expect(second).toBeDefined()
    await watched.write(key, 'third', second)
    expect(asked).toEqual(['GET', 'PUT', 'PUT'])
  })

  it('is not replaced after it was created again from a copy', async () => {
    const first = await store.write(key, 'first', undefined)
    const { metadata, spec } = await kubectl('GET', name)
    await kubectl('DELETE', name)
    const { labels, annotations } = metadata
    await kubectl('POST', '', { metadata: { name, labels, annotations }, spec })
    expect(await store.write(key, 'late', first)).toBeUndefined()
    expect((await store.read(key))?.value).toBe('first')
  })

  it('is refused if another program has created it', async () => {
    const version = await store.write(key, 'x', undefined)
    await kubectl('DELETE', name)
    const labels = { 'graupel/folder': 'graupel.leases.orders' }
    await kubectl('POST', '', { metadata: { name, labels }, spec: {} })
    for (const expected of [undefined, version]) expect(await store.write(key, 'x', expected)).toBeUndefined()
    const refusal = { code: 'ERR_STORE_INVALID', message: expect.stringContaining('name') }
    const calls = [() => store.read(key), () => store.list('leases/orders/')]
    for (const call of calls) await expect(call()).rejects.toMatchObject(refusal)
  })
})

describe('the API server of these tests', () => {
  const lease = { metadata: { name, annotations: { note: 'x' } }, spec: {} }
  const put = (more: object, at = name) => ask('PUT', at, { ...lease, metadata: { ...lease.metadata, ...more } })
  let made: { uid: string; resourceVersion: string }
  beforeEach(async () => {
    made = (await kubectl('POST', '', lease)).metadata
  })

  it('keeps the resourceVersion at a PUT that changes nothing', async () => {
    const { resourceVersion } = made
    expect(await put({ resourceVersion })).toMatchObject({ status: 200, body: { metadata: { resourceVersion } } })
    const changed = await put({ resourceVersion, annotations: { note: 'y' } })
    expect(changed).toMatchObject({ status: 200, body: { metadata: { uid: made.uid } } })
    expect(changed.body.metadata.resourceVersion).not.toBe(resourceVersion)
  })

  it('creates a deleted Lease again by a PUT with its resourceVersion, unless the PUT has its uid', async () => {
    await kubectl('DELETE', name)
    const message = expect.stringContaining(
      `Precondition failed: UID in precondition: ${made.uid}, UID in object meta: `,
    )
    expect(await put(made)).toMatchObject({ status: 409, body: { reason: 'Conflict', message } })
    expect(await ask('GET', name)).toMatchObject({ status: 404 })
    const anew = await put({ resourceVersion: made.resourceVersion })
    expect(anew).toMatchObject({ status: 201, body: { kind: 'Lease' } })
    expect(anew.body.metadata.uid).not.toBe(made.uid)
  })

  it.each<[string, number, string, object]>([
    ['with a stale resourceVersion', 409, 'Conflict', { resourceVersion: '7' }],
    ['without one', 422, 'Invalid', { resourceVersion: undefined }],
    ['with another uid', 409, 'Conflict', { uid: crypto.randomUUID() }],
    ['with another name', 400, 'BadRequest', { name: 'other' }],
    ['with another namespace', 400, 'BadRequest', { namespace: 'other' }],
    ['with another time of its creation', 422, 'Invalid', { creationTimestamp: '2000-01-01T00:00:00Z' }],
    ['with a label that is none', 422, 'Invalid', { labels: { 'no label': 'x' } }],
  ])('refuses a PUT %s', async (_name, status, reason, more) => {
    expect(await put({ ...made, ...more })).toMatchObject({ status, body: { kind: 'Status', reason } })
    expect((await kubectl('GET', name)).metadata).toEqual(made)
  })
})
