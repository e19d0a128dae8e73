import { cpSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { mysqlStore } from '../../src/stores/mysql.js'
import { postgresStore } from '../../src/stores/postgres.js'
import { sqliteStore } from '../../src/stores/sqlite.js'
import { projectWith } from '../cli/fleet.ts'
import { load, type ServerKind } from '../stores/kinds/kind.ts'
import { mysqlPools, startMysql } from '../stores/kinds/mysql.ts'
import { startPostgres } from '../stores/kinds/postgres.ts'
import { startRedis } from '../stores/kinds/redis.ts'
import type { StorePlan } from '../stores/programs/open-store.js'
import type { Server } from '../stores/servers.ts'
import { eventually } from '../support/until.ts'
import { TcpProxy } from './proxy.ts'

type DurableClient =
  | 'etcd'
  | 'consul'
  | 'kubernetes'
  | 'service'
  | 'node-zookeeper-client'
  | 'aws-sdk'
  | 'mongodb'
  | 's3'
  | 'azure'
  | 'google'

type Faults = Readonly<Record<string, () => Promise<void>>>

/** A store that many processes use, and its faults. */
export interface Site {
  /** The plan by which a process opens the store. */
  plan(slot: number): StorePlan
  /** The proxies between each process and the server. */
  readonly proxies: readonly TcpProxy[]
  /** The faults of the server. Each ends when the server works again. */
  readonly faults: Faults
  /** The faults after which the server has no data. */
  readonly losses?: Faults
  /** Keeps a copy of the data, for a fault that brings it back. */
  copy(): Promise<void>
  /**
   * The connections of the server, and what each waits for: the report of a process that makes no ids has
   * them.
   */
  connections?(): Promise<string>
  stop(): Promise<void>
}

export type OpenSite = (slots: number, folder: string, random: () => number) => Promise<Site>

/** @param durable - The operator asserts that the store never forgets. Then no fault takes data away. */
export function redisSite(durable?: true): OpenSite {
  return async (slots, _folder, random) => {
    const server = await startRedis()
    const { Redis } = load('ioredis')
    const control = new Redis({ port: server.port, host: '127.0.0.1' })
    control.on('error', () => {})
    const folder: string = (await control.config('GET', 'dir'))[1]
    const live = join(folder, 'appendonlydir')
    const older = join(folder, 'older')
    let lives = 0
    // The server writes to the files that it has open, and reads them only when it starts.
    const setAside = () => renameSync(live, join(folder, `gone-${lives++}`))
    const clients = ['ioredis', 'node-redis', 'glide'] as const
    const proxies = await proxiesTo(server, slots, random)
    return {
      plan: (slot) => ({
        client: clients[slot % 3] as (typeof clients)[number],
        port: (proxies[slot] as TcpProxy).port,
        ...(durable && { durable }),
      }),
      proxies,
      async copy() {
        rmSync(older, { recursive: true, force: true })
        cpSync(live, older, { recursive: true })
      },
      faults: {
        'server killed': () => server.restart('SIGKILL'),
        ...(!durable && {
          async 'restored from an older copy'() {
            setAside()
            cpSync(older, live, { recursive: true })
            await server.restart('SIGKILL')
          },
        }),
      },
      ...(!durable && {
        losses: {
          async 'server killed, its data lost'() {
            setAside()
            await server.restart('SIGKILL')
          },
          FLUSHALL: () => control.flushall(),
        },
      }),
      async stop() {
        control.disconnect()
        for (const proxy of proxies) proxy.stop()
        await server.stop()
      },
    }
  }
}

/** Lists the clients of PostgreSQL: the statement of each, since when, and the clients that it waits for. */
const activity = `SELECT pid, client_port, state, wait_event_type, wait_event, pg_blocking_pids(pid) AS blocked_by,
  age(clock_timestamp(), state_change) AS since, left(query, 80) AS query,
  (SELECT count(*) FROM pg_locks WHERE pg_locks.pid = a.pid AND NOT granted) AS locks_awaited
  FROM pg_stat_activity a WHERE backend_type = 'client backend'`

export const postgresSite: OpenSite = async (slots, _folder, random) => {
  const server = await startPostgres()
  const proxies = await proxiesTo(server, slots, random)
  const { Client } = load('pg')
  // A client of postgres.js may have no connection for minutes after a reset, and a process that had one made
  // no ids for a minute after the last fault. So these processes use it as docs/stores/postgres.md advises.
  // Without pg beside it, openStore takes it.
  const clientsOf = `${projectWith('postgres')}/`
  /** Runs a command as an operator, without the proxies. */
  const operate = async <T, R = void>(
    work: (query: (text: string, values?: string[]) => Promise<{ rows: T[] }>) => Promise<R>,
  ): Promise<R> => {
    const client = new Client({ port: server.port, host: '127.0.0.1', user: 'postgres' })
    client.on('error', () => {})
    await client.connect()
    try {
      return await work((text, values) => client.query(text, values))
    } finally {
      await client.end().catch(() => {})
    }
  }
  const setUp = () => operate<never>(async (query) => postgresStore({ query }).setup())
  const restart = async () => {
    // Processes that serve connections may outlive the killed process by a moment, and prevent the next
    // start.
    await eventually(() => server.restart('SIGKILL'))
    // The server listens before it is ready.
    await eventually(() => operate(async (query) => void (await query('SELECT 1'))))
  }
  /** Changes the data while no client is connected and no request is under way. */
  const behindTheirBacks = async (work: Parameters<typeof operate>[0]) => {
    for (const proxy of proxies) proxy.shut()
    await operate<{ others: string }>(async (query) => {
      const others = "FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
      while ((await query(`SELECT pid, pg_terminate_backend(pid) ${others}`)).rows.length > 0) await sleep(20)
    })
    await operate(work)
    await restart()
  }
  const open = () => {
    for (const proxy of proxies) proxy.open()
  }
  let older: { key: string; value: string; version: string }[] = []
  await setUp()
  return {
    plan(slot) {
      const { port } = proxies[slot] as TcpProxy
      return slot % 2 === 0 ? { client: 'pg', port } : { client: 'postgres.js by openStore', port, clientsOf }
    },
    proxies,
    copy: () =>
      operate<(typeof older)[number]>(async (query) => {
        older = (await query('SELECT key, value, version FROM graupel_store')).rows
      }),
    async connections() {
      const { rows } = await operate((query) => query(activity))
      return JSON.stringify(rows)
    },
    faults: {
      'server killed': restart,
      async 'restored from an older copy'() {
        await behindTheirBacks(async (query) => {
          await query('BEGIN')
          await query('DELETE FROM graupel_store')
          for (const { key, value, version } of older) {
            await query('INSERT INTO graupel_store VALUES ($1, $2, $3)', [key, value, version])
          }
          await query('COMMIT')
        })
        open()
      },
    },
    losses: {
      async 'server killed, its data lost'() {
        await behindTheirBacks(async (query) => void (await query('DROP TABLE graupel_store')))
        open()
        // The processes meet a server without the table, until the operator makes it.
        await sleep(300)
        await setUp()
      },
      'table emptied': () => operate(async (query) => void (await query('TRUNCATE graupel_store'))),
    },
    async stop() {
      for (const proxy of proxies) proxy.stop()
      await server.stop()
    },
  }
}

export const mysqlSite: OpenSite = async (slots, _folder, random) => {
  const server = await startMysql()
  const proxies = await proxiesTo(server, slots, random)
  const clients = ['mysql2', 'mariadb', 'mysql2 callbacks'] as const
  type Query = <T>(text: string, values?: unknown[]) => Promise<T[]>
  /** Runs a command as an operator, without the proxies, on one connection. */
  const operate = async (work: (query: Query) => Promise<void>) => {
    const pool = mysqlPools.mysql2(server.port, { connectionLimit: 1 }) as never as {
      query<T>(text: string, values?: unknown[]): Promise<[T[]]>
      end(): Promise<void>
    }
    try {
      await work(async (text, values) => (await pool.query(text, values))[0] as never)
    } finally {
      await pool.end().catch(() => {})
    }
  }
  const setUp = async () => {
    const pool = mysqlPools.mysql2(server.port)
    await mysqlStore(pool).setup()
    await pool.end()
  }
  /** Changes the data while no client is connected and no request is under way. */
  const behindTheirBacks = async (work: Parameters<typeof operate>[0]) => {
    for (const proxy of proxies) proxy.shut()
    await operate(async (query) => {
      const others = "SELECT id FROM information_schema.processlist WHERE id <> CONNECTION_ID() AND user = 'root'"
      for (;;) {
        const found = await query<{ id: number }>(others)
        if (found.length === 0) break
        // The connection may have ended by itself.
        for (const { id } of found) await query(`KILL ${id}`).catch(() => {})
        await sleep(20)
      }
    })
    await operate(work)
    await server.restart('SIGKILL')
  }
  const open = () => {
    for (const proxy of proxies) proxy.open()
  }
  let older: object[] = []
  await setUp()
  return {
    plan: (slot) => ({ client: clients[slot % 3] as (typeof clients)[number], port: (proxies[slot] as TcpProxy).port }),
    proxies,
    copy: () =>
      operate(async (query) => {
        older = await query('SELECT `key`, value, version FROM graupel_store')
      }),
    faults: {
      'server killed': () => server.restart('SIGKILL'),
      async 'restored from an older copy'() {
        await behindTheirBacks(async (query) => {
          await query('BEGIN')
          await query('DELETE FROM graupel_store')
          for (const row of older) await query('INSERT INTO graupel_store VALUES (?, ?, ?)', Object.values(row))
          await query('COMMIT')
        })
        open()
      },
    },
    losses: {
      async 'server killed, its data lost'() {
        await behindTheirBacks(async (query) => void (await query('DROP TABLE graupel_store')))
        open()
        // The processes meet a server without the table, until the operator makes it.
        await sleep(300)
        await setUp()
      },
      'table emptied': () => operate(async (query) => void (await query('TRUNCATE graupel_store'))),
    },
    async stop() {
      for (const proxy of proxies) proxy.stop()
      await server.stop()
    },
  }
}

/** A store that never forgets what it has acknowledged. So no fault takes data away. */
export function durableSite(kind: ServerKind, client: DurableClient): OpenSite {
  return async (slots, _folder, random) => {
    const server = await kind.start()
    // Makes the table, if the store has one.
    for (const open of Object.values(kind.clients)) {
      const { store, close } = await open(server.port)
      await store.setup?.()
      await close()
    }
    const proxies = await proxiesTo(server, slots, random)
    return {
      plan: (slot) => ({ client, port: (proxies[slot] as TcpProxy).port }),
      proxies,
      copy: async () => {},
      faults: {
        'server killed': () => server.restart('SIGKILL'),
        async 'server stopped'() {
          await server.signal('SIGSTOP')
          await sleep(500 + random() * 3000)
          await server.signal('SIGCONT')
        },
      },
      async stop() {
        for (const proxy of proxies) proxy.stop()
        await server.stop()
      },
    }
  }
}

/**
 * SQLite has no server, so its faults are faults of processes. It never forgets, so no fault takes data away.
 */
export const sqliteSite: OpenSite = async (_slots, folder, random) => {
  const own = join(folder, 'database')
  mkdirSync(own)
  const file = join(own, 'fleet.db')
  const Database = load('libsql')
  // Never waits for a lock: a stopped process may hold it, and this thread has to resume that process.
  const database = new Database(file, { timeout: 0 })
  database.exec('PRAGMA journal_mode = WAL')
  await sqliteStore(database).setup()
  return {
    plan: (slot) => ({ client: 'libsql', file, busyMs: slot % 2 === 0 ? 100 : 1000 }),
    proxies: [],
    copy: async () => {},
    faults: {
      async 'database locked'() {
        await eventually(async () => void database.exec('BEGIN IMMEDIATE'))
        await sleep(500 + random() * 3000)
        await eventually(async () => void database.exec('COMMIT'))
      },
    },
    async stop() {
      database.close()
    },
  }
}

function proxiesTo(server: Server, count: number, random: () => number): Promise<TcpProxy[]> {
  return Promise.all(Array.from({ length: count }, () => TcpProxy.start(() => server.port, random)))
}
