import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type EtcdStoreOptions, etcdStore } from '../../src/stores/etcd.js'
import { storeContract } from '../../src/stores/testing.js'
import { spawnGraupel } from '../support/cli.js'
import { describeWith } from '../support/needs.ts'
import { keepsItsPromisesWhileStopped, trustingFetch } from './fetched.ts'
import { etcdctl, startEtcd, startEtcdWithPassword } from './kinds/etcd.ts'
import type { Server } from './servers.ts'

describeWith(['etcd'], 'etcd', () => {
  const folder = mkdtempSync(join(tmpdir(), 'graupel-etcd-'))
  let server: Server
  const opened = (more: Partial<EtcdStoreOptions> = {}) =>
    etcdStore({ url: `http://127.0.0.1:${server.port}`, ...more })
  beforeAll(async () => {
    server = await startEtcd()
  })
  afterAll(async () => {
    await server?.stop()
    rmSync(folder, { recursive: true })
  })

  it('refuses the version of a key that was deleted, and made again with an equal value', async () => {
    const store = opened()
    const first = await store.write('deleted/1', 'same', undefined)
    expect(etcdctl(server.port, 'del', 'graupel/deleted/1')).toBe('1\n')
    expect(await store.write('deleted/1', 'late', first)).toBeUndefined()
    const second = await store.write('deleted/1', 'same', undefined)
    expect(await store.write('deleted/1', 'late', first)).toBeUndefined()
    expect(await store.read('deleted/1')).toEqual({ key: 'deleted/1', value: 'same', version: second })
  })

  it('refuses the version of a write that a restored snapshot has forgotten, even if revisions repeat', async () => {
    const revisionOf = (port: number) =>
      JSON.parse(etcdctl(port, 'get', 'graupel/restored/1', '-w', 'json')).kvs[0].mod_revision
    const file = join(folder, 'snapshot')
    const store = opened()
    const first = await store.write('restored/1', 'kept', undefined)
    etcdctl(server.port, 'snapshot', 'save', file)
    const forgotten = await store.write('restored/1', 'forgotten', first)
    const restored = await startEtcd({ snapshot: file })
    try {
      const after = etcdStore({ url: `http://127.0.0.1:${restored.port}` })
      expect(await after.read('restored/1')).toEqual({ key: 'restored/1', value: 'kept', version: first })
      expect(await after.write('restored/1', 'late', forgotten)).toBeUndefined()
      expect(await after.write('restored/1', 'of another', first)).toBeDefined()
      // If only revisions were compared, the late write would now replace a record that it has never seen.
      expect(revisionOf(restored.port)).toBe(revisionOf(server.port))
      expect(await after.write('restored/1', 'late', forgotten)).toBeUndefined()
      expect((await after.read('restored/1'))?.value).toBe('of another')
    } finally {
      await restored.stop()
    }
  })

  it('lists more than four megabytes, which is the default limit of an answer of gRPC', async () => {
    const store = opened()
    const value = 'x'.repeat(900_000)
    const names = Array.from({ length: 5 }, (_, i) => `many/${i}`)
    await Promise.all(names.map((name) => store.write(name, value, undefined)))
    const listed = await store.list('many/')
    expect(listed.map(({ key }) => key).sort()).toEqual(names.sort())
    expect(listed.every((entry) => entry.value === value)).toBe(true)
  })

  it('shows a record that was written by hand as it is, and writes over it', async () => {
    const store = opened()
    etcdctl(server.port, 'put', 'graupel/hand/1', 'x')
    const found = await store.read('hand/1')
    expect(found).toEqual({ key: 'hand/1', value: '', version: 'x' })
    expect(await store.write('hand/1', 'y', found?.version)).toBeDefined()
  })

  it('authenticates only if authentication is enabled', async () => {
    await expect(opened({ user: 'root', password: 'hush' }).read('a/1')).rejects.toMatchObject({
      code: 'ERR_STORE_UNAVAILABLE',
      message: expect.stringContaining('leave out user and password, or run etcdctl auth enable'),
    })
  })

  it('is told by graupel doctor to compact its revisions, until it has compacted some', async () => {
    const adviceOf = () => {
      const { stdout } = spawnGraupel(['doctor', '--json', '--store', `etcd://127.0.0.1:${server.port}`])
      const checks: { check: string; state: string; text: string }[] = JSON.parse(stdout)
      return checks.filter(({ check }) => check === 'server')
    }
    const version = await opened().write('grown/1', 'first', undefined)
    await opened().write('grown/1', 'second', version)
    expect(adviceOf()).toEqual([
      {
        check: 'server',
        state: 'note',
        text: expect.stringMatching(/all of its \d+ revisions; .* --auto-compaction-retention=1h$/),
      },
    ])
    etcdctl(server.port, 'compaction', '2')
    expect(adviceOf()).toEqual([])
  })

  it('stopped for longer than a window, makes no id beyond it, and goes on', async () => {
    await keepsItsPromisesWhileStopped(server, opened())
  })
})

describeWith(['etcd'], 'etcd with authentication', () => {
  const root = { user: 'root', password: 'hush' }
  let server: Server
  const opened = (more: Partial<EtcdStoreOptions> = {}) =>
    etcdStore({ url: `http://127.0.0.1:${server.port}`, ...more })
  beforeAll(async () => {
    server = await startEtcdWithPassword(root.password)
    const asRoot = (...words: string[]) => etcdctl(server.port, '--user', 'root:hush', ...words)
    asRoot('role', 'add', 'fleet')
    asRoot('role', 'grant-permission', 'fleet', 'readwrite', '--prefix=true', 'graupel/')
    for (const user of ['fleet', 'stranger']) asRoot('user', 'add', `${user}:pass`)
    asRoot('user', 'grant-role', 'fleet', 'fleet')
  })
  afterAll(() => server?.stop())

  it.each<[string, Partial<EtcdStoreOptions>, string]>([
    ['a wrong password', { user: 'fleet', password: 'wr0ng' }, 'check user and password'],
    ['no user', {}, 'etcd has authentication enabled: pass user and password'],
    ['a user without the right', { user: 'stranger', password: 'pass' }, 'readwrite --prefix=true graupel/ for a role'],
    [
      'another prefix',
      { user: 'fleet', password: 'pass', prefix: 'other' },
      'readwrite --prefix=true other/ for a role',
    ],
  ])('says what to do about %s', async (_, options, remedy) => {
    const store = opened(options)
    for (const call of [() => store.read('a/1'), () => store.write('a/1', 'x', undefined), () => store.nowMs?.()]) {
      await expect(call()).rejects.toMatchObject({
        code: 'ERR_STORE_UNAVAILABLE',
        message: expect.stringMatching(/^etcd at http:\/\/127\.0\.0\.1:\d+ answered 40\d: etcdserver: [^\n]*$/),
      })
      await expect(call()).rejects.toThrow(remedy)
      await expect(call()).rejects.not.toThrow('wr0ng')
    }
  })

  it('needs no rights beyond those in the documents', async () => {
    const store = opened({ user: 'fleet', password: 'pass' })
    for (const { run } of storeContract(async () => store)) await run()
  })

  it('goes on after a restart that forgets its tokens, even if the next call is a write', async () => {
    const [writer, reader] = [opened({ user: 'fleet', password: 'pass' }), opened({ user: 'fleet', password: 'pass' })]
    const first = await writer.write('restart/1', 'first', undefined)
    await reader.read('restart/1')
    await server.restart('SIGKILL')
    const second = await writer.write('restart/1', 'second', first)
    expect(await reader.read('restart/1')).toEqual({ key: 'restart/1', value: 'second', version: second })
  })

  it('goes on after a change of users, which makes all tokens invalid', async () => {
    const store = opened({ user: 'fleet', password: 'pass' })
    const first = await store.write('changed/1', 'first', undefined)
    etcdctl(server.port, '--user', 'root:hush', 'user', 'add', 'another:pass')
    expect(await store.write('changed/1', 'second', first)).toBeDefined()
  })
})

describeWith(['etcd'], 'etcd with TLS', () => {
  let server: Server
  beforeAll(async () => {
    server = await startEtcd({ scheme: 'https' }, '--auto-tls')
  })
  afterAll(() => server?.stop())

  it('is refused with a remedy if its certificate is not trusted', async () => {
    await expect(etcdStore({ url: `https://127.0.0.1:${server.port}` }).read('a/1')).rejects.toMatchObject({
      code: 'ERR_STORE_UNAVAILABLE',
      message: expect.stringMatching(
        /cannot be trusted: \w+; let Node trust its authority \(NODE_EXTRA_CA_CERTS\), or pass a fetch/,
      ),
    })
  })

  it('is an error if the URL has no TLS', async () => {
    const store = etcdStore({ url: `http://127.0.0.1:${server.port}` })
    await expect(store.read('a/1')).rejects.toThrow(/^etcd at http:\/\/127.0.0.1:\d+ cannot be reached: /)
  })

  it('works as a store with a fetch that trusts its certificate', async () => {
    const store = etcdStore({ url: `https://127.0.0.1:${server.port}`, fetch: trustingFetch })
    for (const { run } of storeContract(async () => store)) await run()
  })
})
