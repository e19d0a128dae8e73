import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { createGenerator } from '../../src/index.js'
import { acquireLease } from '../../src/lease/index.js'
import { type ZooKeeperStoreOptions, zookeeperStore } from '../../src/stores/zookeeper.js'
import { freshNamespace } from '../support/engines.js'
import { isAscending } from '../support/ids.js'
import { describeWith } from '../support/needs.ts'
import { eventually, until } from '../support/until.ts'
import { host } from './kinds/kind.ts'
import { figure, startEnsemble, startZooKeeper, zookeeper, zookeeperKind } from './kinds/zookeeper.ts'
import { type LossyProxy, startProxy } from './proxy.ts'
import { callsOf } from './real-time.ts'
import type { Server } from './servers.ts'

const used: (() => unknown)[] = []
afterEach(async () => {
  for (const end of used.splice(0).reverse()) await end()
})

// biome-ignore lint/suspicious/noExplicitAny: it has no types
type Client = any

const ignore = () => undefined

/** Makes a store with short sessions, and a list of the clients that it has used. */
function storeOn(
  ports: number | readonly number[],
  options: ZooKeeperStoreOptions = {},
  auth?: [string, string],
  sessionTimeout = 1000,
) {
  const clients: Client[] = []
  const store = zookeeperStore(() => {
    const hosts = [ports].flat().map((port) => `${host}:${port}`)
    const client = zookeeper().createClient(hosts.join(), { sessionTimeout })
    if (auth !== undefined) client.addAuthInfo(auth[0], Buffer.from(auth[1]))
    clients.push(client)
    return client
  }, options)
  used.push(() => store.close())
  return { store, clients }
}

/** Calls a method of a client that belongs to no store. */
function told<T>(client: Client, method: string, ...words: unknown[]): Promise<T> {
  return new Promise((resolve, reject) => {
    client[method](...words, (error: Error | undefined, result: T) => (error ? reject(error) : resolve(result)))
  })
}

async function clientOf(port: number, options = {}): Promise<Client> {
  const client = zookeeper().createClient(`${host}:${port}`, options)
  const connected = once(client, 'connected')
  client.connect()
  await connected
  return client
}

/** Lets the server end the session of a client, as it ends the sessions of silent clients. */
async function expire(port: number, client: Client): Promise<void> {
  const session = { sessionId: client.getSessionId(), sessionPassword: client.getSessionPassword() }
  // The client may resume its session before the session is closed.
  for (let isOver = false; !isOver; ) {
    const other = zookeeper().createClient(`${host}:${port}`, session)
    other.connect()
    isOver = await Promise.race([once(other, 'connected').then(() => false), once(other, 'expired').then(() => true)])
    if (!isOver) other.close()
  }
}

/**
 * Ends the session of a client behind a proxy, which is cut off meanwhile: if it resumed just then, it might
 * miss the expiry.
 */
async function expireAway(proxy: LossyProxy, port: number, client: Client): Promise<void> {
  const release = proxy.hold()
  await expire(port, client)
  release()
}

describeWith([zookeeperKind.missing], 'ZooKeeper', () => {
  let server: Server
  beforeAll(async () => {
    server = await startZooKeeper()
    // The server's first request takes long.
    const { store } = storeOn(server.port)
    await eventually(() => store.nowMs?.())
    await store.close()
  })
  afterAll(() => server?.stop())
  const fresh = () => `folder/${crypto.randomUUID()}`

  it('gets one new client after its session has expired, however many calls need it', async () => {
    const before = Number(await figure(server.port, 'zk_global_sessions'))
    const proxy = await startProxy(server.port)
    used.push(() => proxy.close())
    const { store, clients } = storeOn(proxy.port)
    const key = fresh()
    const version = await store.write(key, 'x', undefined)
    await expireAway(proxy, server.port, clients[0])
    await until(() => clients[0].getState().getName() !== 'SYNC_CONNECTED')
    const found = await Promise.all(Array.from({ length: 50 }, () => eventually(() => callsOf(store).read(key))))
    expect(new Set(found.map((entry) => entry?.version))).toEqual(new Set([version]))
    expect(clients.length).toBe(2)
    expect(Number(await figure(server.port, 'zk_global_sessions'))).toBe(before + 1)
    await store.close()
    expect(Number(await figure(server.port, 'zk_global_sessions'))).toBe(before)
  })

  it('ends every call in progress when its session expires', async () => {
    const { store, clients } = storeOn(server.port)
    await store.nowMs?.()
    let ended = 0
    const count = () => void ended++
    for (let round = 0; round < 5; round++) {
      const last = clients.at(-1)
      const calls = Array.from({ length: 100 }, () => store.read(fresh()).then(count, count))
      const expiring = expire(server.port, last)
      for (let i = 0; i < 20; i++) {
        await sleep(1)
        calls.push(callsOf(store).nowMs().then(count, count))
      }
      await expiring
      await Promise.all(calls)
      await eventually(() => callsOf(store).nowMs())
    }
    expect(ended).toBe(600)
    expect(clients.length).toBeGreaterThan(1)
    expect(clients.length).toBeLessThanOrEqual(6)
  })

  it('goes on with its leases by a new client after it was unreachable for longer than a session and a window', async () => {
    const proxy = await startProxy(server.port)
    used.push(() => proxy.close())
    const { store, clients } = storeOn(proxy.port)
    await using lease = await acquireLease({ store, windowMs: 900, callTimeoutMs: 300, namespace: freshNamespace() })
    const ids = createGenerator({ lease })
    const made = ids.take(100)
    const release = proxy.hold()
    const next = () => {
      try {
        made.push(ids.next())
      } catch (error) {
        return (error as { code?: string }).code
      }
    }
    await until(() => next() === 'ERR_LEASE_EXPIRED')
    // The server ends a session after a second of silence.
    const first = clients.at(-1).getSessionId()
    await until(async () => (await figure(server.port, 'zk_global_sessions')) === '0')
    release()
    await until(() => next() === undefined)
    expect(clients.at(-1).getSessionId()).not.toEqual(first)
    expect(isAscending(made)).toBe(true)
  })

  it('goes on with its leases after it was stopped for longer than a window', async () => {
    const { store } = storeOn(server.port)
    await using lease = await acquireLease({ store, windowMs: 900, callTimeoutMs: 300, namespace: freshNamespace() })
    const ids = createGenerator({ lease })
    const made = ids.take(100)
    const next = () => {
      try {
        made.push(ids.next())
      } catch (error) {
        return (error as { code?: string }).code
      }
    }
    await server.signal('SIGSTOP')
    try {
      await until(() => next() === 'ERR_LEASE_EXPIRED')
    } finally {
      await server.signal('SIGCONT')
    }
    await until(() => next() === undefined)
    expect(isAscending(made)).toBe(true)
  })

  it('is asked by another connection if the connection dies silently', async () => {
    const proxy = await startProxy(server.port)
    used.push(() => proxy.close())
    const { store } = storeOn(proxy.port)
    const key = fresh()
    await store.write(key, 'x', undefined)
    proxy.silence()
    expect((await eventually(() => callsOf(store, 300).read(key)))?.value).toBe('x')
  })

  it('is connected to in the end if that takes longer than a call waits for it, as on a busy machine', async () => {
    const slow = createServer((near) => {
      const far = connect(server.port, host)
      for (const socket of [near, far]) socket.on('error', ignore)
      near.on('data', (data) => far.write(data)).on('close', () => far.destroy())
      // Only the answer to the greeting is late.
      let lateMs = 2200
      far.on('data', (data) => {
        setTimeout(() => near.write(data), lateMs)
        lateMs = 0
      })
    })
    await once(slow.listen(0, host), 'listening')
    used.push(() => slow.close())
    const { store } = storeOn((slow.address() as AddressInfo).port, {}, undefined, 10_000)
    const read = () => callsOf(store, 2000).read(fresh())
    await expect(read()).rejects.toThrow('has no connection after 1500 ms')
    expect(await eventually(read)).toBeUndefined()
  })

  it('refuses the old version of a key that was removed and made again', async () => {
    const { store } = storeOn(server.port)
    const raw = await clientOf(server.port)
    used.push(() => raw.close())
    const key = fresh()
    const [, name] = key.split('/')
    const remove = () => told(raw, 'removeRecursive', `/graupel/%folder%2F/${name}`)
    const old = (await store.write(key, 'old', undefined)) as string
    await remove()
    expect(await store.read(key)).toBeUndefined()
    expect(await store.write(key, 'late', old)).toBeUndefined()
    const again = (await store.write(key, 'again', undefined)) as string
    expect(await store.write(key, 'late', old)).toBeUndefined()
    expect(await store.read(key)).toEqual({ key, value: 'again', version: again })
  })

  it('refuses the old version even while the key is removed and made again', async () => {
    const { store } = storeOn(server.port)
    const { store: other } = storeOn(server.port)
    const raw = await clientOf(server.port)
    used.push(() => raw.close())
    for (let round = 0; round < 100; round++) {
      const key = fresh()
      const path = `/graupel/%folder%2F/${key.split('/')[1]}`
      const old = (await store.write(key, 'old', undefined)) as string
      const remake = async () => {
        const remove = raw.transaction().remove(`${path}/${old}`).remove(path)
        await new Promise((resolve, reject) => remove.commit((error?: Error) => (error ? reject(error) : resolve(0))))
        return other.write(key, 'again', undefined)
      }
      const [late, again] = await Promise.all([
        store.write(key, 'late', old),
        // The write came first.
        remake().catch(ignore),
      ])
      expect([late, again].filter((version) => version !== undefined).length).toBe(1)
      expect(await store.read(key)).toEqual({ key, value: again ? 'again' : 'late', version: again ?? late })
    }
  })

  it('shows a node that was written by hand, and writes nothing over it', async () => {
    const { store } = storeOn(server.port)
    const raw = await clientOf(server.port)
    used.push(() => raw.close())
    const key = fresh()
    const path = `/graupel/%folder%2F/${key.split('/')[1]}`
    const version = await store.write(key, 'x', undefined)
    await told(raw, 'setData', path, Buffer.from('by hand'), -1)
    const found = await store.read(key)
    expect(found).toMatchObject({ key, value: 'by hand' })
    expect(await store.write(key, 'y', found?.version)).toBeUndefined()
    expect(await store.write(key, 'y', version)).toBeDefined()
    expect((await store.read(key))?.value).toBe('y')
  })

  it('lists a folder with a node of others whose name is no percent encoding', async () => {
    const { store } = storeOn(server.port)
    const raw = await clientOf(server.port)
    used.push(() => raw.close())
    await store.write('foreign/1', 'x', undefined)
    await told(raw, 'create', '/graupel/%foreign%2F/50%', Buffer.from('by hand'))
    const keys = (await store.list('foreign/')).map(({ key }) => key)
    expect(keys.toSorted()).toEqual(['foreign/1', 'foreign/50%'])
  })

  it('sets the ACL on every node, so that others may neither read nor write', async () => {
    const { ACL, Permission } = zookeeper()
    const options = { prefix: 'closed', acl: ACL.CREATOR_ALL_ACL }
    const { store, clients } = storeOn(server.port, options, ['digest', 'fleet:hush'])
    const version = await store.write('folder/1', 'x', undefined)
    await store.nowMs?.()
    for (const path of ['', '/clock', '/%folder%2F', '/%folder%2F/1', `/%folder%2F/1/${version}`]) {
      const acl = await told<{ permission: number; id: object }[]>(clients[0], 'getACL', `/closed${path}`)
      expect(acl).toMatchObject([{ permission: Permission.ALL, id: { scheme: 'digest' } }])
    }
    for (const auth of [undefined, ['digest', 'fleet:wrong'] as [string, string]]) {
      const { store: other } = storeOn(server.port, { prefix: 'closed' }, auth)
      const calls = [
        () => other.read('folder/1'),
        () => other.list('folder/'),
        () => other.write('folder/1', 'y', version),
        () => other.write('folder/2', 'y', undefined),
        () => other.write('another/1', 'y', undefined),
        () => other.nowMs?.(),
      ]
      for (const call of calls) {
        await expect(call()).rejects.toMatchObject({
          code: 'ERR_STORE_UNAVAILABLE',
          message: expect.stringMatching(
            /'zookeeper' may not do this in \/closed \(NO_AUTH\); call client\.addAuthInfo\(\)/,
          ),
        })
      }
    }
    expect(await store.read('folder/1')).toMatchObject({ value: 'x', version })
  })

  it('reports in one line that it refuses an ACL or a scheme of authentication', async () => {
    const { store } = storeOn(server.port, { prefix: 'none', acl: zookeeper().ACL.CREATOR_ALL_ACL })
    await expect(store.write('folder/1', 'x', undefined)).rejects.toThrow(/INVALID_ACL.*addAuthInfo/)
    const { store: other, clients } = storeOn(server.port, {}, ['nonsense', 'hush'])
    let attempts = 0
    for (let i = 0; i < 2; i++) {
      // The server closes the connection after its answer, and the answer may be lost. Then the next attempt
      // gets it.
      await eventually(() => {
        attempts++
        return expect(other.read('folder/1')).rejects.toThrow(
          /^the server of the store 'zookeeper' answered AUTH_FAILED; /,
        )
      })
    }
    // A refused client cannot be used again.
    expect(clients.length).toBe(attempts)
  })

  it('reports in one line that the path does not exist', async () => {
    const { createClient } = zookeeper()
    const store = zookeeperStore(() => createClient(`${host}:${server.port}/nowhere`))
    used.push(() => store.close())
    expect(await store.read('folder/1')).toBeUndefined()
    for (const call of [() => store.write('folder/1', 'x', undefined), () => store.nowMs?.()]) {
      await expect(call()).rejects.toThrow(
        /cannot make the node \/graupel; if the connection string .* ends with a path/,
      )
    }
  })

  it('works below a path that exists', async () => {
    const raw = await clientOf(server.port)
    used.push(() => raw.close())
    await told(raw, 'create', '/somewhere')
    const { createClient } = zookeeper()
    const store = zookeeperStore(() => createClient(`${host}:${server.port}/somewhere`))
    used.push(() => store.close())
    const version = await store.write('folder/1', 'x', undefined)
    const second = await store.write('folder/1', 'y', version)
    expect(await store.list('folder/')).toEqual([{ key: 'folder/1', value: 'y', version: second }])
    expect(await told(raw, 'getChildren', '/somewhere/graupel')).toEqual(['%folder%2F'])
  })

  it('separates keys that are unusual names of nodes', async () => {
    const { store } = storeOn(server.port)
    const folder = crypto.randomUUID()
    const keys = ['.', '..', '%2E', 'a b', 'clock', '%', '*?'].map((name) => `${folder}/${name}`)
    keys.push(`${folder}-x`, `${folder}/deeper/1`)
    for (const key of keys) expect(await store.write(key, key, undefined)).toBeDefined()
    for (const key of keys) expect((await store.read(key))?.value).toBe(key)
    expect((await store.list(`${folder}/`)).map(({ key }) => key).sort()).toEqual(keys.slice(0, 7).sort())
  })

  it('leaves no session if the store is closed at once, or before its first use', async () => {
    const sessions = async () => Number(await figure(server.port, 'zk_global_sessions'))
    const before = await sessions()
    const closed = "the store 'zookeeper' was closed; make another store"
    for (let ms = 0; ms < 5; ms++) {
      const { store } = storeOn(server.port)
      const call = store.read('folder/none').catch((error) => error.message)
      if (ms > 0) await sleep(ms)
      await store.close()
      expect([undefined, closed]).toContain(await call)
      await expect(store.read('folder/1')).rejects.toThrow(closed)
    }
    await storeOn(server.port).store.close()
    await until(async () => (await sessions()) <= before)
  })

  it('reports an invalid port, which would end the process, and uses the next server', async () => {
    const wrong = storeOn([Number.NaN]).store
    await expect(callsOf(wrong).read('folder/none')).rejects.toThrow(/no connection after 1500 ms: Port should be/)
    const several = storeOn([Number.NaN, server.port, 99_999]).store
    expect(await several.read('folder/none')).toBeUndefined()
  })

  it('requires that clients are new', async () => {
    const proxy = await startProxy(server.port)
    used.push(() => proxy.close())
    const client = zookeeper().createClient(`${host}:${proxy.port}`, { sessionTimeout: 1000 })
    const store = zookeeperStore(() => client)
    used.push(() => store.close())
    await store.nowMs?.()
    await expireAway(proxy, server.port, client)
    await eventually(() =>
      expect(callsOf(store).nowMs()).rejects.toThrow(/returned a client whose session is over; call createClient/),
    )
    const none = zookeeperStore(() => ({}) as never)
    await expect(none.nowMs?.()).rejects.toMatchObject({ code: 'ERR_OPTION_INVALID' })
  })
})

it.each<[string, string | undefined, RegExp]>([
  [
    'refuses connections',
    undefined,
    /: connect ECONNREFUSED 127\.0\.0\.1:\d+; check the connection string of its client/,
  ],
  ['says nothing', '', /: nothing there answers like ZooKeeper; check the connection /],
  ['is a Redis', '-ERR unknown command\r\n', /: nothing there answers like ZooKeeper; check the connection /],
  ['says what the client cannot read', '\0\0\0\x08abcdefgh', /after 1500 ms: .+; check the connection string /],
])('a server that %s is told in a line, and ends no process', async (_name, answer, message) => {
  const other = createServer((socket) => {
    socket.on('error', () => {}).on('data', () => socket.write(answer ?? ''))
  }).listen(0, host)
  await once(other, 'listening')
  const { port } = other.address() as { port: number }
  used.push(() => other.close())
  if (answer === undefined) other.close()
  const { store } = storeOn(port)
  await expect(callsOf(store).read('folder/1')).rejects.toMatchObject({ code: 'ERR_STORE_UNAVAILABLE', message })
})

describeWith([zookeeperKind.missing], 'three servers of ZooKeeper', () => {
  let servers: Server[]
  const at = async (state: string) => {
    for (const server of servers) {
      const found = await figure(server.port, 'zk_server_state').catch(() => undefined)
      if (found === state) return server
    }
    throw new Error(`no server is a ${state}`)
  }
  beforeAll(async () => {
    servers = await startEnsemble()
    await eventually(() => at('leader'))
  })
  afterAll(() => Promise.all(servers?.map((server) => server.stop()) ?? []))

  it('return current data, even from a server that was behind', async () => {
    const [leader, follower] = [await at('leader'), await at('follower')]
    const { store } = storeOn(leader.port, {}, undefined, 20_000)
    const { store: behind } = storeOn(follower.port, {}, undefined, 20_000)
    const key = 'folder/1'
    let version = await eventually(() => store.write(key, '0', undefined))
    expect((await eventually(() => behind.read(key)))?.value).toBe('0')
    for (let round = 1; round <= 3; round++) {
      await follower.signal('SIGSTOP')
      // The server has to catch up with the others first.
      await Promise.all(Array.from({ length: 300 }, (_, i) => store.write(`behind-${round}/${i}`, 'x', undefined)))
      version = await store.write(key, `${round}`, version)
      const reading = behind.read(key)
      await follower.signal('SIGCONT')
      expect((await reading)?.value).toBe(`${round}`)
    }
  })

  it("go on with a store's leases when their leader is killed", async () => {
    const ports = servers.map(({ port }) => port)
    const { store } = storeOn(ports)
    await eventually(() => callsOf(store).nowMs())
    const options = { store, windowMs: 1500, callTimeoutMs: 500, namespace: freshNamespace() }
    await using one = await acquireLease(options)
    await using two = await acquireLease(options)
    const generators = [one, two].map((lease) => ({ lease, ids: createGenerator({ lease }), made: [] as bigint[] }))
    const leader = await at('leader')
    await leader.signal('SIGKILL')
    const renewals = generators.map(({ lease }) => lease.stats().renewedMs)
    await until(() => {
      for (const { ids, made } of generators) {
        try {
          made.push(...ids.take(10))
        } catch (error) {
          expect(error).toMatchObject({ code: 'ERR_LEASE_EXPIRED' })
        }
      }
      return generators.every(({ lease }, i) => lease.stats().renewedMs > (renewals[i] as number) + 1000)
    })
    for (const { made, ids } of generators) {
      made.push(...ids.take(10))
      expect(isAscending(made)).toBe(true)
    }
    const all = generators.flatMap(({ made }) => made)
    expect(new Set(all).size).toBe(all.length)
  })
})
