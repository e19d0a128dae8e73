import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { maxWindowMs } from '../../src/lease/options.js'
import { maxForgottenMs } from '../../src/lease/server-life.js'
import { etcdLeader, startEtcdCluster } from '../../test/stores/kinds/etcd.ts'
import { serverKinds } from '../../test/stores/kinds/index.ts'
import { host, installClients, load, type ServerKind } from '../../test/stores/kinds/kind.ts'
import { postgres, startPostgres, startStandby } from '../../test/stores/kinds/postgres.ts'
import { redis, startRedis } from '../../test/stores/kinds/redis.ts'
import { startService } from '../../test/stores/kinds/service.ts'
import { figure, startEnsemble } from '../../test/stores/kinds/zookeeper.ts'
import { startProxy } from '../../test/stores/proxy.ts'
import { startWatched, tell } from '../../test/stores/redis-servers.ts'
import type { Server } from '../../test/stores/servers.ts'
import { eventually } from '../../test/support/until.ts'
import type { EventName } from './events.ts'
import type { Plan } from './makers.ts'

/**
 * Runs an event. Resolves when the store works again.
 * @param seconds - For events that last as long as is wanted.
 */
type Happen = (seconds: number) => Promise<void>

/** A running store, and what can happen to it. */
export interface Site {
  readonly plan: Plan
  readonly variables?: Readonly<Record<string, string>>
  readonly events: Partial<Record<EventName, Happen>>
  stop(): Promise<void>
}

/** A row of the table. */
export interface Row {
  readonly title: string
  /** The client of `openStore`. */
  readonly client: string
  /** The longest window that a lease may have in this store. */
  readonly longestMs: number
  readonly missing: () => string | undefined
  readonly open: () => Promise<Site>
  /** Starts servers of which one takes over. Each failover needs new ones. */
  readonly openFailover?: () => Promise<Site>
}

interface More {
  readonly assumeDurable?: true
  /** The signal by which operators stop the server. @default SIGTERM */
  readonly stops?: NodeJS.Signals
  /** Its provider runs the service, so nobody restarts it, and a restart would measure the stand-in. */
  readonly isManaged?: true
  readonly openFailover?: () => Promise<Site>
}

function served(kind: ServerKind, { assumeDurable, stops = 'SIGTERM', isManaged }: More): () => Promise<Site> {
  return async () => {
    const server = await kind.start()
    const proxy = await startProxy(server.port)
    const partition: Happen = async (seconds) => {
      const heal = proxy.hold()
      await sleep(seconds * 1000)
      heal()
    }
    return {
      plan: { url: kind.url(proxy.port), ...(assumeDurable && { assumeDurable }) },
      ...(kind.variables && { variables: kind.variables(proxy.port) }),
      events: {
        ...(!isManaged && { restart: () => server.restart(stops), kill: () => server.restart('SIGKILL') }),
        async pause(seconds) {
          await server.signal('SIGSTOP')
          await sleep(seconds * 1000)
          await server.signal('SIGCONT')
        },
        'partition-30s': partition,
        'partition-5m': partition,
        'partition-45m': partition,
      },
      async stop() {
        proxy.close()
        await server.stop()
      },
    }
  }
}

function row(name: keyof typeof serverKinds, title: string, client: string, isDurable: boolean, more: More = {}): Row {
  const kind = serverKinds[name] as ServerKind
  return {
    title,
    client,
    longestMs: isDurable ? maxWindowMs : maxForgottenMs,
    missing: kind.missing,
    open: served(kind, more),
    ...(more.openFailover && { openFailover: more.openFailover }),
  }
}

async function stopAll(servers: readonly Pick<Server, 'stop'>[]): Promise<void> {
  for (const server of servers) await server.stop()
}

/** Kills the primary. The sentinel promotes its replica, which has not necessarily all writes. */
async function redisFailover(): Promise<Site> {
  const { primary, sentinel, stop } = await startWatched()
  return {
    plan: { sentinel: sentinel.port },
    events: {
      async failover() {
        await primary.signal('SIGKILL')
        await eventually(async () => {
          const [address] = await tell(sentinel.port, ['SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'fleet'])
          const port = Number((address as string[])[1])
          if (port === primary.port) throw new Error('the sentinel still names the former primary')
          const [about] = await tell(port, ['INFO', 'replication'])
          if (!`${about}`.includes('role:master')) throw new Error('the replica is not promoted yet')
        })
      },
    },
    stop,
  }
}

/** Kills the primary, and promotes its standby at once, behind one address. */
function postgresFailover(isSynchronous: boolean): () => Promise<Site> {
  return async () => {
    const primary = await startPostgres(...(isSynchronous ? ['-c', 'synchronous_standby_names=*'] : []))
    const standby = await startStandby(primary.port, primary.port)
    let target = primary
    const proxy = await startProxy(() => target.port)
    return {
      plan: { url: postgres.url(proxy.port), ...(isSynchronous && { assumeDurable: true }) },
      events: {
        async failover() {
          await primary.signal('SIGKILL')
          const { Client } = load('pg')
          const client = new Client({ port: standby.port, host, user: 'postgres' })
          await client.connect()
          await client.query('SELECT pg_promote()')
          await client.end()
          target = standby
        },
      },
      async stop() {
        proxy.close()
        await stopAll([standby, primary])
      },
    }
  }
}

/** Kills the leader of three members. */
async function etcdFailover(): Promise<Site> {
  const members = await startEtcdCluster()
  return {
    plan: { url: `etcd://${members.map(({ port }) => `${host}:${port}`).join()}` },
    events: {
      async failover() {
        const leader = etcdLeader(members)
        await leader.signal('SIGKILL')
        const others = members.filter((member) => member !== leader)
        await eventually(() => void etcdLeader(others))
      },
    },
    stop: () => stopAll(members),
  }
}

async function zookeeperFailover(): Promise<Site> {
  const members = await startEnsemble()
  const leaderOf = async (some: readonly Server[]) => {
    for (const member of some) {
      const state = await figure(member.port, 'zk_server_state').catch(() => undefined)
      if (state === 'leader') return member
    }
    throw new Error('there is no leader')
  }
  await eventually(() => leaderOf(members))
  return {
    plan: { url: `zookeeper://${members.map(({ port }) => `${host}:${port}`).join()}` },
    events: {
      async failover() {
        const leader = await leaderOf(members)
        await leader.signal('SIGKILL')
        await eventually(() => leaderOf(members.filter((member) => member !== leader)))
      },
    },
    stop: () => stopAll(members),
  }
}

/** Kills the first of two instances on one Redis. */
async function serviceFailover(): Promise<Site> {
  const store = await startRedis()
  const start = () => startService('--store', redis.url(store.port), '--assume-durable')
  const [first, second] = [await start(), await start()]
  return {
    plan: { url: `graupel+http://${host}:${first.port},${host}:${second.port}` },
    events: { failover: () => first.signal('SIGKILL') },
    stop: () => stopAll([first, second, store]),
  }
}

/** SQLite has no server. Its pause is a process that is stopped while it has the lock for writing. */
async function sqlite(): Promise<Site> {
  installClients()
  const folder = mkdtempSync(join(tmpdir(), 'graupel-availability-'))
  const file = join(folder, 'fleet.db')
  const Database = load('libsql')
  const database = new Database(file, { timeout: 0 })
  database.exec('PRAGMA journal_mode = WAL')
  return {
    plan: { url: `sqlite:${file}` },
    events: {
      async pause(seconds) {
        await eventually(async () => void database.exec('BEGIN IMMEDIATE'))
        await sleep(seconds * 1000)
        database.exec('COMMIT')
      },
    },
    async stop() {
      database.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const never = { assumeDurable: true } as const

export const rows: Readonly<Record<string, Row>> = {
  redis: row('redis', 'Redis', 'ioredis', false, { openFailover: redisFailover }),
  'redis-durable': row('redis', 'Redis with `assumeDurable`', 'ioredis', true, never),
  postgres: row('postgres', 'PostgreSQL', 'pg', false, { stops: 'SIGINT', openFailover: postgresFailover(false) }),
  'postgres-durable': row('postgres', 'PostgreSQL with `assumeDurable`', 'pg', true, {
    ...never,
    stops: 'SIGINT',
    openFailover: postgresFailover(true),
  }),
  mysql: row('mysql', 'MariaDB', 'mysql2', false),
  'mysql-durable': row('mysql', 'MariaDB with `assumeDurable`', 'mysql2', true, never),
  sqlite: { title: 'SQLite', client: 'libsql', longestMs: maxWindowMs, missing: () => undefined, open: sqlite },
  etcd: row('etcd', 'etcd', 'fetch', true, { openFailover: etcdFailover }),
  zookeeper: row('zookeeper', 'ZooKeeper', 'node-zookeeper-client', true, { openFailover: zookeeperFailover }),
  consul: row('consul', 'Consul', 'fetch', true),
  kubernetes: row('kubernetes', 'Kubernetes (stand-in)', 'fetch', true),
  s3: row('s3', 'S3 (stand-in)', '@aws-sdk/client-s3', true, { isManaged: true }),
  azure: row('azure', 'Azure (azurite)', '@azure/storage-blob', true, { isManaged: true }),
  dynamodb: row('dynamodb', 'DynamoDB (dynalite)', '@aws-sdk/client-dynamodb', true, { isManaged: true }),
  mongodb: row('mongodb', 'MongoDB (stand-in)', 'mongodb', true),
  service: row('service', 'graupel-server', 'fetch', true, { openFailover: serviceFailover }),
}
