import { type AddressInfo, createServer } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { postgresStore } from '../../src/stores/postgres.js'
import type { TableStore } from '../../src/stores/store.js'
import { describeWith } from '../support/needs.ts'
import { eventually } from '../support/until.ts'
import { host, load, quiet } from './kinds/kind.ts'
import { startPostgres } from './kinds/postgres.ts'
import type { Server } from './servers.ts'

// A pool that a store shares with other code, which leaves transactions and settings on its connections.

interface Shared {
  readonly store: TableStore
  /** Runs statements of the other code on the pool's only connection. */
  leave(statements: string): PromiseLike<unknown>
}

let server: Server
const used: { end(): unknown }[] = []
const base = () => ({ port: server.port, host, user: 'postgres' })

function poolOf(options: object = {}) {
  const { Pool } = load('pg')
  const pool = quiet(new Pool({ ...base(), ...options }))
  used.push(pool)
  return pool
}

const clients: Record<string, (table?: string) => Shared> = {
  pg(table = 'graupel_store') {
    const pool = poolOf({ max: 1 })
    return { store: postgresStore(pool, { table }), leave: (statements) => pool.query(statements) }
  },
  'postgres.js'(table = 'graupel_store') {
    const sql = load('postgres')({ ...base(), max: 1, onnotice() {} })
    used.push({ end: () => sql.end({ timeout: 0 }) })
    return { store: postgresStore(sql, { table }), leave: (statements) => sql.unsafe(statements) }
  },
}

const unsafe = { code: 'ERR_STORE_UNSAFE' }
const freshKey = () => `folder/${crypto.randomUUID()}`

describeWith(['postgres'], 'PostgreSQL with a shared pool', () => {
  beforeAll(async () => {
    server = await startPostgres('-c', 'synchronous_standby_names=absent', '-c', 'synchronous_commit=local')
    await postgresStore(poolOf()).setup()
  })
  afterEach(async () => {
    for (const client of used.splice(0)) await client.end()
  })
  afterAll(() => server?.stop())

  it('rejects if the server sends its last error together with the greeting', async () => {
    const message = (type: string, body: Buffer) => {
      const length = Buffer.alloc(4)
      length.writeInt32BE(body.length + 4)
      return Buffer.concat([Buffer.from(type), length, body])
    }
    const error = 'SFATAL\0C57P01\0Mterminating connection due to unexpected postmaster exit\0\0'
    const greeting = [message('R', Buffer.alloc(4)), message('Z', Buffer.from('I')), message('E', Buffer.from(error))]
    const ending = createServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', () => socket.end(Buffer.concat(greeting)))
    })
    await new Promise<void>((resolve) => ending.listen(0, host, resolve))
    try {
      const store = postgresStore(poolOf({ port: (ending.address() as AddressInfo).port }))
      // An error of the connection without a listener would fail the run as an uncaught exception.
      await expect(store.read(freshKey())).rejects.toThrow()
    } finally {
      await new Promise((resolve) => ending.close(resolve))
    }
  })

  describe.each(Object.entries(clients))('by %s', (client, share) => {
    const calls: Record<string, (store: TableStore, key: string, version: string) => unknown> = {
      update: (store, key, version) => store.write(key, 'second', version),
      insert: (store, key) => store.write(`${key}-new`, 'first', undefined),
      read: (store, key) => store.read(key),
      list: (store) => store.list('folder/'),
      add: (store, key) => store.add?.(key, 1n),
      nowMs: (store) => store.nowMs?.(),
      incarnation: (store) => store.incarnation?.(),
      place: (store) => store.place?.(),
    }
    it.each([
      'BEGIN',
      'BEGIN; SELECT 1',
      'BEGIN; SAVEPOINT one',
      'BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT 1 FROM graupel_store',
      'BEGIN; COMMIT AND CHAIN',
    ])('refuses every call in a transaction that was left open by %s', async (left) => {
      const other = postgresStore(poolOf())
      const key = freshKey()
      const version = (await other.write(key, 'first', undefined)) as string
      for (const [name, call] of Object.entries(calls)) {
        for (const isFirst of [true, false]) {
          const { store, leave } = share()
          if (!isFirst) await store.read(key)
          await leave(left)
          await expect(call(store, key, version), name).rejects.toMatchObject(unsafe)
        }
      }
      expect((await other.read(key))?.version).toBe(version)
      expect(await other.read(`${key}-new`)).toBeUndefined()
      expect(await other.add?.(key, 0n)).toBe(0n)
      // If a lock were left, this write would wait.
      expect(await other.write(key, 'third', version)).toBeDefined()
    })

    it('goes on after the transaction', async () => {
      const { store, leave } = share()
      const key = freshKey()
      const version = (await store.write(key, 'first', undefined)) as string
      await leave('BEGIN')
      await expect(store.write(key, 'second', version)).rejects.toMatchObject(unsafe)
      // A pool of pg has closed the connection.
      if (client === 'postgres.js') await leave('ROLLBACK')
      expect(await store.write(key, 'third', version)).toBeDefined()
    })

    it.each([
      'CREATE SCHEMA IF NOT EXISTS mine; CREATE TABLE IF NOT EXISTS mine.graupel_store (LIKE public.graupel_store INCLUDING ALL); SET search_path = mine',
      'SET search_path = pg_catalog',
      'CREATE TEMPORARY TABLE graupel_store (LIKE public.graupel_store INCLUDING ALL)',
    ])('stays in its table after %s', async (left) => {
      const { store, leave } = share()
      const key = freshKey()
      const version = (await store.write(key, 'first', undefined)) as string
      await leave(left)
      expect((await store.read(key))?.version).toBe(version)
      expect(await store.write(key, 'second', version)).toBeDefined()
      expect((await postgresStore(poolOf()).read(key))?.value).toBe('second')
      expect(await store.place?.()).toContain('schema public')
    })

    it.each([
      'CREATE SCHEMA IF NOT EXISTS mine; CREATE TABLE IF NOT EXISTS mine.graupel_store (LIKE public.graupel_store INCLUDING ALL); SET search_path = mine',
      'SET search_path = pg_catalog',
      'CREATE TEMPORARY TABLE graupel_store (LIKE public.graupel_store INCLUDING ALL)',
    ])('refuses to begin, or to make tables, after %s', async (left) => {
      for (const begin of [({ store }: Shared) => store.read('folder/1'), ({ store }: Shared) => store.setup()]) {
        const shared = share()
        await shared.leave(left)
        await expect(begin(shared)).rejects.toMatchObject(unsafe)
      }
    })

    it('uses the table of a search_path that every connection sets, if new connections find no other', async () => {
      await poolOf().query('CREATE SCHEMA IF NOT EXISTS "my ""own"')
      const table = `of_all_${client.replace('.', '_')}`
      const { store, leave } = share(table)
      await leave('SET search_path = "my ""own"')
      await store.setup()
      expect(await store.write('folder/1', 'first', undefined)).toBeDefined()
      expect(await store.add?.('folder/1', 2n)).toBe(2n)
      expect(await store.place?.()).toContain(`schema my "own, table ${table}`)
    })

    it.each([
      "SET standard_conforming_strings = off; SET backslash_quote = on; SET client_encoding = 'LATIN1'",
      "SET default_transaction_isolation = 'serializable'; SET default_transaction_deferrable = on",
      "SET TimeZone = 'Asia/Kathmandu'; SET DateStyle = 'German'; SET IntervalStyle = 'iso_8601'; SET extra_float_digits = 0; SET bytea_output = 'escape'",
      'SET session_replication_role = replica; SET row_security = off; SET quote_all_identifiers = on; SET enable_seqscan = off',
    ])('is not affected by %s', async (left) => {
      const { store, leave } = share()
      const life = await store.incarnation?.()
      // Up to PostgreSQL 13, the text of a number with a fraction depends on `extra_float_digits`.
      expect(life).toMatch(/^\d+ \d+ \d{16}$/)
      await leave(left)
      const key = `folder/'\\${crypto.randomUUID()}`
      const version = (await store.write(key, "'\\", undefined)) as string
      expect(await store.read(key)).toEqual({ key, value: "'\\", version })
      const second = (await store.write(key, 'second', version)) as string
      expect(await store.list('folder/')).toContainEqual({ key, value: 'second', version: second })
      expect(await store.incarnation?.()).toBe(life)
      expect(Math.abs(((await store.nowMs?.()) as number) - Date.now())).toBeLessThan(60_000)
    })

    it.each(['SET default_transaction_read_only = on', 'SET ROLE pg_monitor'])(
      'fails, and does not take an error for a conflict, after %s',
      async (left) => {
        const { store, leave } = share()
        const key = freshKey()
        const version = (await store.write(key, 'first', undefined)) as string
        await leave(left)
        await expect(store.write(key, 'second', version)).rejects.toThrow(/read-only|permission denied/)
      },
    )

    it('waits for the replicas that the configuration demands, after SET synchronous_commit = local', async () => {
      const admin = poolOf()
      const { store, leave } = share()
      await store.read('folder/1')
      await admin.query('ALTER ROLE postgres SET synchronous_commit = on')
      try {
        const demanding = share()
        await demanding.leave('SET synchronous_commit = local')
        const written = demanding.store.write(freshKey(), 'first', undefined)
        await eventually(async () => {
          const { rows } = await admin.query(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'",
          )
          if (rows.length === 0) throw new Error('no write waits for a replica')
        })
        await expect(written).rejects.toThrow()
      } finally {
        await admin.query('SET synchronous_commit = local; ALTER ROLE postgres RESET synchronous_commit')
      }
      await leave('SET synchronous_commit = local')
      expect(await store.write(freshKey(), 'first', undefined)).toBeDefined()
    })
  })
})
