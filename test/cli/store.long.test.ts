import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { decode, layouts } from 'graupel'
import { zookeeperStore } from 'graupel/stores/zookeeper'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startConsul } from '../stores/kinds/consul.ts'
import { startEtcdWithPassword } from '../stores/kinds/etcd.ts'
import { database, startMysql } from '../stores/kinds/mysql.ts'
import { startPostgres } from '../stores/kinds/postgres.ts'
import { startRedis } from '../stores/kinds/redis.ts'
import { startZooKeeper, zookeeper } from '../stores/kinds/zookeeper.ts'
import { startCluster } from '../stores/redis-servers.ts'
import type { Server } from '../stores/servers.ts'
import { graupelIn, launch, projectWith } from './fleet.ts'

// The command line with real servers, by each client that it knows. Redis, MySQL and PostgreSQL are not
// durable by default, so a group waits for eleven seconds at its first start.

// The tests mostly wait.
vi.setConfig({ maxConcurrency: 20 })

const password = 'n0t-shown'
const stores = [
  {
    name: 'Redis',
    start: () => startRedis('--requirepass', password),
    clients: ['ioredis', 'redis', '@valkey/valkey-glide'],
    url: (host: string, secret: string) => `redis://:${secret}@${host}`,
    wrong: (host: string) => `redis://:wr0ng@${host}`,
    refusal: /WRONGPASS/,
  },
  {
    name: 'MySQL',
    start: () => startMysql(`--init-file=${passwordFile()}`),
    clients: ['mysql2', 'mariadb'],
    url: (host: string, secret: string) => `mysql://root:${secret}@${host}/${database}`,
    wrong: (host: string) => `mariadb://root:wr0ng@${host}/${database}`,
    refusal: /Access denied for user 'root'@'localhost'/,
  },
  {
    name: 'PostgreSQL',
    start: () => startPostgres(),
    clients: ['pg', 'postgres'],
    url: (host: string, secret: string) => `postgres://postgres:${secret}@${host}/postgres`,
    wrong: (host: string) => `postgres://postgres:wr0ng@${host}/none`,
    refusal: /database "none" does not exist/,
  },
  {
    name: 'etcd',
    start: () => startEtcdWithPassword(password),
    clients: [''],
    url: (host: string, secret: string) => `etcd://root:${secret}@${host}`,
    wrong: (host: string) => `etcd://root:wr0ng@${host}`,
    isDurable: true,
    refusal: /authentication failed, invalid user ID or password; check user and password/,
  },
  {
    name: 'Consul',
    start: () => startConsul(password),
    clients: [''],
    url: (host: string, secret: string) => `consul://:${secret}@${host}`,
    wrong: (host: string) => `consul://wr0ng@${host}?datacenter=dc1`,
    isDurable: true,
    refusal: /ACL not found; check the token/,
  },
  {
    name: 'ZooKeeper',
    start: startClosedZooKeeper,
    clients: ['node-zookeeper-client'],
    url: (host: string, secret: string) => `zookeeper://fleet:${secret}@${host}`,
    wrong: (host: string) => `zk://fleet:wr0ng@${host}`,
    refusal: /NO_AUTH/,
    isDurable: true,
  },
]

/** Starts a server whose records only one user may read. */
async function startClosedZooKeeper(): Promise<Server> {
  const server = await startZooKeeper()
  const { ACL, createClient } = zookeeper()
  const make = () => {
    const client = createClient(`127.0.0.1:${server.port}`)
    client.addAuthInfo('digest', Buffer.from(`fleet:${password}`))
    return client
  }
  const store = zookeeperStore(make, { acl: ACL.CREATOR_ALL_ACL })
  await store.nowMs?.()
  await store.close()
  return server
}

/** The warning of the first lease of a group on a server that may forget. */
const waitWarning =
  /^graupel: warning: the lease of namespace '[^']*' waits until \S+Z, because the server of the store [^\n]*\(GRAUPEL_LEASE_WAIT\)\n/

describe.each(stores)('$name', { concurrent: true }, ({ start, clients, url, wrong, refusal, isDurable = false }) => {
  let server: Server
  const silent = createServer(() => {})
  beforeAll(async () => {
    server = await start()
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  })
  afterAll(async () => {
    silent.close()
    await server?.stop()
  })

  // A client without a name is fetch.
  describe.each(clients)('by %s', { concurrent: true }, (client) => {
    const folder = client === '' ? projectWith() : projectWith(client)
    const words = () => ['--store', url(`127.0.0.1:${server.port}`, password)]
    const namespace = `of ${client}`

    it('leases a node, lists it and forgets it', async () => {
      const { child, ended } = launch(folder, ['next', '-n', '9007199254740991', '--namespace', namespace, ...words()])
      const [text] = await once(child.stdout, 'data')
      child.stdout.pause()
      const [first] = String(text).split('\n') as [string]
      const [group, node] = await listed(folder, namespace, words())
      expect(group).toMatchObject({ namespace, nodes: 1024, held: 1 })
      expect(node).toMatchObject({
        state: 'held',
        node: decode(first, layouts.twitter).node,
      })
      const forget = ['lease', 'forget', namespace, String(node.node)]
      expect((await graupelIn(folder, [...forget, ...words()])).stderr).toMatch(/ is held by .* give --yes if /)
      child.kill('SIGINT')
      const { signal, stderr: warned } = await ended
      expect(signal).toBe('SIGINT')
      // The group is new to the server.
      expect(warned).toMatch(isDurable ? /^$/ : waitWarning)
      expect(warned.replace(waitWarning, '')).toBe('')
      const [, released] = await listed(folder, namespace, words())
      expect(released).toMatchObject({ node: node.node, state: 'released', owner: node.owner })
      const { status, stdout, stderr } = await graupelIn(folder, [...forget, ...words()])
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
      expect(stdout).toMatch(/^Nothing to forget/)
    })

    it.skipIf(isDurable)('is ended by Ctrl-C while it waits, and holds no node afterwards', async () => {
      const other = `${namespace}, interrupted`
      const { child, ended } = launch(folder, ['next', '--namespace', other, ...words()])
      // The warning says that it waits, for eleven seconds.
      await once(child.stderr, 'data')
      child.kill('SIGINT')
      const { signal, stdout, stderr } = await ended
      expect({ signal, stdout, rest: stderr.replace(waitWarning, '') }).toEqual({
        signal: 'SIGINT',
        stdout: '',
        rest: '',
      })
      const [group, ...nodes] = await listed(folder, other, words())
      expect(group).toMatchObject({ held: 0 })
      expect(nodes).toEqual([])
    })

    it.each([
      ['refuses a connection', () => '127.0.0.1:1'],
      ['does not answer', () => `127.0.0.1:${(silent.address() as { port: number }).port}`],
      ['is not known', () => 'nowhere.invalid'],
    ])('says in one line that the host %s', async (_name, host) => {
      const { status, stdout, stderr } = await graupelIn(folder, ['lease', 'list', '--store', url(host(), password)])
      expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
      expect(stderr).toMatch(/^graupel: [^\n]*:\/\/\*\*\*@[^\n]* cannot be opened: [^\n]* \(ERR_STORE_UNAVAILABLE\)\n$/)
      expect(stderr).toContain(host())
      expect(stderr).not.toContain(password)
    })

    it('says in one line why the server refuses the client', async () => {
      const words = ['lease', 'list', '--store', wrong(`127.0.0.1:${server.port}`)]
      const { status, stderr } = await graupelIn(folder, words)
      expect(status).toBe(2)
      expect(stderr).toMatch(/^graupel: [^\n]*\n$/)
      expect(stderr).toMatch(refusal)
      expect(stderr).not.toContain('wr0ng')
    })

    it('says why it ends when the server is gone, and that the node was not released', async () => {
      const own = await start()
      const at = ['--store', url(`127.0.0.1:${own.port}`, password)]
      const { child, ended } = launch(folder, ['next', '-n', '9007199254740991', ...at])
      await once(child.stdout, 'data')
      await own.stop()
      const { status, stderr } = await ended
      expect(status).toBe(2)
      expect(stderr.replace(waitWarning, '').split('\n').sort()).toEqual([
        '',
        expect.stringMatching(/^graupel: the lease of node .*\(ERR_LEASE_EXPIRED\)$/),
        expect.stringMatching(/^graupel: warning: node \d+ was not released, and is free after /),
      ])
      expect(stderr).not.toContain(password)
    })
  })
})

describe('a cluster of Redis', () => {
  let cluster: Awaited<ReturnType<typeof startCluster>>
  beforeAll(async () => {
    cluster = await startCluster()
  })
  afterAll(() => cluster?.stop())

  it.each(['ioredis', 'redis', '@valkey/valkey-glide'])('is found from one of its servers by %s', async (client) => {
    const folder = projectWith(client)
    const [first] = cluster.servers as [Server]
    const words = ['lease', 'list', '--store', `redis://127.0.0.1:${first.port}`]
    // The keys have the slots 15495, 3300 and 7365, each on another server.
    for (const prefix of ['a', 'b', 'c']) {
      const run = await graupelIn(folder, [...words, '--prefix', prefix])
      const place = `redis: server port \\d+ \\(run_id \\w+\\), database 0, keys {${prefix}}:`
      const none = new RegExp(`^There is no lease in ${place}: no process has had a node by it.\n$`)
      expect(run).toEqual({ status: 0, stdout: expect.stringMatching(none), stderr: '' })
    }
  })
})

/** A statement that the server runs when it starts. */
function passwordFile(): string {
  const file = join(mkdtempSync(join(tmpdir(), 'graupel-password-')), 'start.sql')
  writeFileSync(file, `ALTER USER root@localhost IDENTIFIED BY '${password}';\n`)
  chmodSync(dirname(file), 0o755)
  process.on('exit', () => rmSync(dirname(file), { recursive: true, force: true }))
  return file
}

/** Returns what `graupel lease list --json` prints for a namespace. */
async function listed(folder: string, namespace: string, words: readonly string[]) {
  const { status, stdout, stderr } = await graupelIn(folder, ['lease', 'list', namespace, '--json', ...words])
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  return stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
}
