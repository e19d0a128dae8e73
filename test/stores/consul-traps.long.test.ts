import { afterAll, beforeAll, expect, it } from 'vitest'
import { type ConsulStoreOptions, consulStore } from '../../src/stores/consul.js'
import { storeContract } from '../../src/stores/testing.js'
import { describeWith } from '../support/needs.ts'
import { eventually } from '../support/until.ts'
import { keepsItsPromisesWhileStopped } from './fetched.ts'
import { startConsul } from './kinds/consul.ts'
import type { Server } from './servers.ts'

/** An answer of Consul itself, without the store. */
async function told(
  server: Server,
  method: string,
  path: string,
  body?: string | ArrayBuffer,
  token = '',
): Promise<Response> {
  const answer = await fetch(`http://127.0.0.1:${server.port}/v1/${path}`, {
    method,
    headers: { 'x-consul-token': token },
    ...(body !== undefined && { body }),
  })
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)
  return answer
}

describeWith(['consul'], 'Consul', () => {
  let server: Server
  const opened = (more: Partial<ConsulStoreOptions> = {}, at = server) =>
    consulStore({ url: `http://127.0.0.1:${at.port}`, ...more })
  const indexOf = async (key: string, at = server) =>
    ((await (await told(at, 'GET', `kv/graupel/${key}`)).json()) as { ModifyIndex: number }[])[0]?.ModifyIndex as number
  beforeAll(async () => {
    server = await startConsul()
  })
  afterAll(() => server?.stop())

  it('gives an equal value another index, so a write with the old index does not land', async () => {
    const store = opened()
    const first = await store.write('equal/1', 'same', undefined)
    const before = await indexOf('equal/1')
    await store.write('equal/1', 'same', first)
    expect(await indexOf('equal/1')).toBeGreaterThan(before)
    expect(await store.write('equal/1', 'late', first)).toBeUndefined()
  })

  it('does not take the version of a key that was deleted, and made again with an equal value', async () => {
    const store = opened()
    const first = await store.write('deleted/1', 'same', undefined)
    await told(server, 'DELETE', 'kv/graupel/deleted/1')
    expect(await store.write('deleted/1', 'late', first)).toBeUndefined()
    const second = await store.write('deleted/1', 'same', undefined)
    expect(await store.write('deleted/1', 'late', first)).toBeUndefined()
    expect(await store.read('deleted/1')).toEqual({ key: 'deleted/1', value: 'same', version: second })
  })

  it('refuses the version of a write that a restored snapshot has forgotten, even if indexes repeat', async () => {
    const store = opened()
    const first = await store.write('restored/1', 'kept', undefined)
    const snapshot = await (await told(server, 'GET', 'snapshot')).arrayBuffer()
    const forgotten = await store.write('restored/1', 'forgotten', first)
    const index = await indexOf('restored/1')
    const restored = await startConsul()
    try {
      await told(restored, 'PUT', 'snapshot', snapshot)
      const after = opened({}, restored)
      expect(await eventually(() => after.read('restored/1'))).toEqual({
        key: 'restored/1',
        value: 'kept',
        version: first,
      })
      let expected = first
      // Other writers raise the key's index to the index of the forgotten write, or above it.
      while ((await indexOf('restored/1', restored)) < index) {
        expected = await after.write('restored/1', 'of another', expected)
        expect(await after.write('restored/1', 'late', forgotten)).toBeUndefined()
      }
      expect(await after.write('restored/1', 'late', forgotten)).toBeUndefined()
    } finally {
      await restored.stop()
    }
  })

  it('gives no index twice in a cluster into which a snapshot is restored', async () => {
    const store = opened()
    const first = await store.write('same/1', 'kept', undefined)
    const snapshot = await (await told(server, 'GET', 'snapshot')).arrayBuffer()
    const forgotten = await store.write('same/1', 'forgotten', first)
    const index = await indexOf('same/1')
    await told(server, 'PUT', 'snapshot', snapshot)
    expect(await eventually(() => store.read('same/1'))).toEqual({ key: 'same/1', value: 'kept', version: first })
    expect(await store.write('same/1', 'late', forgotten)).toBeUndefined()
    expect(await store.write('same/1', 'after', first)).toBeDefined()
    expect(await indexOf('same/1')).toBeGreaterThan(index)
  })

  it('lands no write if another client changes the record between its two requests', async () => {
    const other = opened()
    const first = await other.write('between/1', 'first', undefined)
    let second: string | undefined
    const store = opened({
      async fetch(url, init) {
        if (init.method === 'PUT') second = await other.write('between/1', 'of another', first)
        return fetch(url, init)
      },
    })
    expect(await store.write('between/1', 'late', first)).toBeUndefined()
    expect(await other.read('between/1')).toEqual({ key: 'between/1', value: 'of another', version: second })
  })

  it('keeps everything through a restart', async () => {
    const store = opened()
    const version = await store.write('restart/1', 'x', undefined)
    await server.restart('SIGKILL')
    expect(await store.read('restart/1')).toEqual({ key: 'restart/1', value: 'x', version })
  })

  it('reports a namespace or a datacenter that it does not know', async () => {
    const namespaced = opened({ namespace: 'n' }).read('a/1')
    await expect(namespaced).rejects.toMatchObject({ code: 'ERR_STORE_UNAVAILABLE' })
    await expect(namespaced).rejects.toThrow(/answered 400: .* Enterprise feature; leave out namespace$/)
    await expect(opened({ datacenter: 'none' }).read('a/1')).rejects.toThrow(/answered 500: No path to datacenter$/)
    await expect(opened({ datacenter: 'dc1' }).read('a/1')).resolves.toBeUndefined()
  })

  it('stopped for longer than a window, makes no id beyond it, and goes on', async () => {
    await keepsItsPromisesWhileStopped(server, opened())
  })
})

describeWith(['consul'], 'Consul with ACLs', () => {
  const master = 'hush'
  let server: Server
  const opened = (token?: string, prefix?: string) =>
    consulStore({ url: `http://127.0.0.1:${server.port}`, ...(token && { token }), ...(prefix && { prefix }) })
  const tokenFor = async (name: string, rules: string) => {
    const put = async (path: string, body: object) =>
      (await told(server, 'PUT', path, JSON.stringify(body), master)).json()
    await put('acl/policy', { Name: name, Rules: rules })
    return ((await put('acl/token', { Policies: [{ Name: name }] })) as { SecretID: string }).SecretID
  }
  let fleet: string
  let stranger: string
  beforeAll(async () => {
    server = await startConsul(master)
    fleet = await eventually(() => tokenFor('fleet', 'key_prefix "graupel/" { policy = "write" }'))
    stranger = await tokenFor('stranger', 'key_prefix "other/" { policy = "write" }')
  })
  afterAll(() => server?.stop())

  it('needs no rights beyond those in the documents', async () => {
    for (const { run } of storeContract(async () => opened(fleet))) await run()
  })

  it.each<[string, () => string | undefined, RegExp]>([
    ['a wrong token', () => 'wr0ng', /answered 403: ACL not found; check the token$/],
    [
      'a token without the right',
      () => stranger,
      /answered 403: Permission denied; pass a token whose policy has key_prefix "graupel\/" \{ policy = "write" \}$/,
    ],
    ['no token', () => undefined, /answered 403: Permission denied; pass a token whose policy has /],
  ])('says what to do about %s', async (_, token, said) => {
    const store = opened(token())
    for (const call of [() => store.read('a/1'), () => store.write('a/1', 'x', undefined), () => store.nowMs?.()]) {
      await expect(call()).rejects.toMatchObject({
        code: 'ERR_STORE_UNAVAILABLE',
        message: expect.stringMatching(said),
      })
    }
    expect(await opened(fleet).read('a/1')).toBeUndefined()
  })

  it('keeps to its prefix', async () => {
    await expect(opened(fleet, 'other').read('a/1')).rejects.toThrow('key_prefix "other/"')
  })
})
