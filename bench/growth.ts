// Measures how much the server of each store keeps on its disk for each renewal of a lease.
// It prints bytes for each renewal, and megabytes a day for 100 processes. docs/leases.md has the table.
import { chmodSync, lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Store } from 'graupel/stores'
import { consul, startConsul } from '../test/stores/kinds/consul.ts'
import { etcd, startEtcd } from '../test/stores/kinds/etcd.ts'
import { load, type ServerKind } from '../test/stores/kinds/kind.ts'
import { mysql, startMysql } from '../test/stores/kinds/mysql.ts'
import { postgres, startPostgres } from '../test/stores/kinds/postgres.ts'
import { redis, startRedis } from '../test/stores/kinds/redis.ts'
import { startZooKeeper, zookeeperKind } from '../test/stores/kinds/zookeeper.ts'
import type { Server } from '../test/stores/servers.ts'

/** The record of a lease is as long as this text. */
const record = 'x'.repeat(395)
const leases = 100
/** The default window is 6 s, and a lease is renewed after a third of it. */
const renewalsADay = (24 * 3600) / 2

interface Case {
  readonly kind: ServerKind
  readonly client: string
  start(): Promise<Server>
  /** Begins what keeps the server from cleaning up. */
  hold?(port: number): Promise<() => unknown>
}

/** A transaction that sees the rows as they are now, as a backup or a report that takes hours does. */
async function openTransaction(port: number): Promise<() => unknown> {
  const { Client } = load('pg')
  const client = new Client({ host: '127.0.0.1', port, user: 'postgres' })
  await client.connect()
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pg_class')
  return () => client.end()
}

const cases: Record<string, Case> = {
  etcd: { kind: etcd, client: 'fetch', start: startEtcd },
  ZooKeeper: { kind: zookeeperKind, client: 'node-zookeeper-client', start: startZooKeeper },
  Consul: { kind: consul, client: 'fetch', start: startConsul },
  Redis: { kind: redis, client: 'ioredis', start: () => startRedis('--auto-aof-rewrite-percentage', '0') },
  PostgreSQL: { kind: postgres, client: 'pg', start: startPostgres },
  'PostgreSQL beside a long transaction': {
    kind: postgres,
    client: 'pg',
    start: startPostgres,
    hold: openTransaction,
  },
  MariaDB: { kind: mysql, client: 'mysql2', start: startMysql },
  'MariaDB with a binary log': {
    kind: mysql,
    client: 'mysql2',
    start: () => startMysql('--log-bin=binary', '--binlog-format=ROW', '--server-id=1'),
  },
}

/** Renews each lease so many times, one write after the other for each lease. */
async function renew(store: Store, versions: (string | undefined)[], times: number): Promise<void> {
  await Promise.all(
    versions.map(async (_, lease) => {
      for (let time = 0; time < times; time++) {
        versions[lease] = await store.write(`leases/growth/${lease}`, `${record}${time}`, versions[lease])
        if (versions[lease] === undefined) throw new Error('another process writes these records')
      }
    }),
  )
}

/** The bytes of the files below a folder. A log that is allocated in advance has them only when written. */
function bytesBelow(folder: string): number {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return files.reduce((sum, { parentPath, name }) => sum + lstatSync(join(parentPath, name)).blocks * 512, 0)
}

/** All servers have their folders here. */
const parent = mkdtempSync(join(tmpdir(), 'graupel-growth-'))
process.env['TMPDIR'] = parent
// PostgreSQL and MariaDB run as users of their own.
chmodSync(parent, 0o755)

async function measure({ kind, client, start, hold }: Case): Promise<number> {
  const server = await start()
  const { store, close } = await (kind.clients[client] as NonNullable<(typeof kind.clients)[string]>)(server.port)
  await store.setup?.()
  const versions = new Array<string | undefined>(leases).fill(undefined)
  await renew(store, versions, 20)
  const release = await hold?.(server.port)
  const before = bytesBelow(parent)
  const times = 400
  await renew(store, versions, times)
  const bytes = (bytesBelow(parent) - before) / (leases * times)
  await release?.()
  await close()
  await server.stop()
  return bytes
}

console.log('server                                  bytes/renewal  MB/day, 100 processes')
for (const [name, about] of Object.entries(cases)) {
  const missing = about.kind.missing()
  if (missing !== undefined) {
    console.log(`${name.padEnd(40)}left out, because there is no ${missing}`)
    continue
  }
  const bytes = await measure(about)
  const megabytes = (bytes * renewalsADay * 100) / 1e6
  console.log(`${name.padEnd(40)}${bytes.toFixed(0).padStart(13)}  ${megabytes.toFixed(0).padStart(8)}`)
}
rmSync(parent, { recursive: true })
process.exit()
