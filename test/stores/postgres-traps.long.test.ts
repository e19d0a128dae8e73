import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { postgresStore } from '../../src/stores/postgres.js'
import { storeContract } from '../../src/stores/testing.js'
import { describeWith } from '../support/needs.ts'
import { eventually } from '../support/until.ts'
import { load } from './kinds/kind.ts'
import { startPostgres } from './kinds/postgres.ts'
import type { Server } from './servers.ts'

interface Pool {
  query(text: string, values?: string[]): Promise<{ rows: Record<string, unknown>[] }>
  on(event: 'error', listener: () => void): void
  connect(): Promise<Pool & { release(destroy?: boolean): void }>
  end(): Promise<void>
}

let server: Server
const pools: Pool[] = []

function poolOf(options: object = {}): Pool {
  const pg = load('pg')
  const pool: Pool = new pg.Pool({ port: server.port, host: '127.0.0.1', user: 'postgres', ...options })
  pool.on('error', () => {})
  pools.push(pool)
  return pool
}

function describeServer(name: string, words: readonly string[], body: () => void): void {
  describe(name, () => {
    beforeAll(async () => {
      server = await startPostgres(...words)
    })
    afterAll(async () => {
      for (const pool of pools.splice(0)) await pool.end()
      await server?.stop()
    })
    body()
  })
}

describeWith(['postgres'], 'PostgreSQL', () => {
  describe.each(['read committed', 'repeatable read', 'serializable'])('whose transactions are %s', (level) => {
    const words = ['-c', `default_transaction_isolation=${level}`]
    describeServer('', words, () => {
      beforeAll(() => postgresStore(poolOf()).setup())
      it.each(storeContract(async () => postgresStore(poolOf())))('$name', ({ run }) => run())

      it('reports a conflict to the loser of two transactions', async () => {
        const pool = poolOf()
        const store = postgresStore(pool)
        const version = (await store.write('folder/1', 'first', undefined)) as string
        const other = await pool.connect()
        await other.query('BEGIN')
        await other.query(`UPDATE graupel_store SET value = 'theirs', version = 'theirs' WHERE key = 'folder/1'`)
        const writing = store.write('folder/1', 'ours', version)
        await eventually(async () => {
          const { rows } = await pool.query(`SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'`)
          if (rows.length === 0) throw new Error('it does not wait for the other one yet')
        })
        await other.query('COMMIT')
        other.release()
        expect(await writing).toBeUndefined()
        expect((await store.read('folder/1'))?.value).toBe('theirs')
      })
    })
  })

  describeServer(
    'with synchronous_commit = off',
    ['-c', 'synchronous_commit=off', '-c', 'wal_writer_delay=10s'],
    () => {
      it('keeps what it has acknowledged when one of its processes is killed', async () => {
        const pool = poolOf()
        const store = postgresStore(pool)
        await store.setup()
        const created = (await store.write('folder/1', 'first', undefined)) as string
        const lives: unknown[] = [await store.incarnation?.()]
        for (const write of [
          () => store.write('folder/1', 'second', created),
          () => store.write('folder/2', 'first', undefined),
          async () => await store.add?.('sums/1', 7n),
        ]) {
          const [victim, neighbour] = [await pool.connect(), await pool.connect()]
          victim.on('error', () => {})
          // The server ends all of its processes when one process is killed.
          const crash = new Promise<void>((resolve) => neighbour.on('error', resolve))
          const { rows } = await victim.query('SELECT pg_backend_pid() AS pid')
          await write()
          process.kill(rows[0]?.['pid'] as number, 'SIGKILL')
          await crash
          for (const client of [victim, neighbour]) client.release(true)
          await eventually(() => store.read('folder/1'))
          lives.push(await store.incarnation?.())
        }
        expect((await store.read('folder/1'))?.value).toBe('second')
        expect((await store.read('folder/2'))?.value).toBe('first')
        expect(await store.add?.('sums/1', 0n)).toBe(7n)
        // The incarnation does not change, so it would not show a loss of writes.
        expect(new Set(lives).size).toBe(1)
      })
    },
  )

  describeServer('with a connection that goes silent between the messages of a statement', [], () => {
    it('stops every call behind a TRUNCATE that waits for it, unless the TRUNCATE has a lock_timeout', async () => {
      const pool = poolOf()
      const store = postgresStore(pool)
      await store.setup()
      const version = await store.write('folder/1', 'x', undefined)
      // Sends Parse and Flush, as postgres.js does. The network then loses Bind and Sync.
      const silent = connect(server.port, '127.0.0.1')
      const message = (type: string, body: string) => {
        const length = Buffer.alloc(4)
        length.writeInt32BE(body.length + 4)
        return Buffer.concat([Buffer.from(type), length, Buffer.from(body)])
      }
      silent.write(message('', '\0\x03\0\0user\0postgres\0\0'))
      silent.write(message('P', `\0UPDATE graupel_store SET value = 'y'\0\0\0`))
      silent.write(message('H', ''))
      const waiting = async (lock: string) =>
        eventually(async () => {
          const { rows } = await pool.query(`SELECT 1 FROM pg_locks JOIN pg_stat_activity USING (pid)
            WHERE relation = 'graupel_store'::regclass AND pid <> pg_backend_pid() AND ${lock}`)
          if (rows.length === 0) throw new Error(`no lock with ${lock}`)
        })
      await waiting("granted AND wait_event = 'ClientRead'")
      expect(await store.write('folder/1', 'z', version as string)).toBeDefined()
      const operator = await poolOf().connect()
      await operator.query("SET lock_timeout = '500ms'")
      await expect(operator.query('TRUNCATE graupel_store')).rejects.toMatchObject({ code: '55P03' })
      expect((await store.read('folder/1'))?.value).toBe('z')
      await operator.query('SET lock_timeout = 0')
      const truncated = operator.query('TRUNCATE graupel_store')
      await waiting("mode = 'AccessExclusiveLock' AND NOT granted")
      const read = store.read('folder/1')
      await waiting("mode = 'AccessShareLock' AND NOT granted")
      silent.destroy()
      await truncated
      expect(await read).toBeUndefined()
      operator.release()
    })
  })

  describeServer('with roles', [], () => {
    it('shows the SQL to a role that may not create tables, and works after the SQL was run', async () => {
      const admin = poolOf()
      await admin.query('CREATE ROLE weak LOGIN')
      const store = postgresStore(poolOf({ user: 'weak', database: 'postgres' }), { table: 'Order' })
      await expect(store.read('folder/1')).rejects.toMatchObject({
        code: 'ERR_STORE_UNAVAILABLE',
        message: expect.stringContaining('await its setup() once'),
      })
      await expect(store.setup()).rejects.toMatchObject({
        code: 'ERR_STORE_UNAVAILABLE',
        message: expect.stringContaining(store.ddl),
      })
      for (const statement of store.ddl.split('\n')) await admin.query(statement)
      await admin.query('GRANT SELECT, INSERT, UPDATE ON "Order", "Order_sums" TO weak')
      await store.setup()
      // Leases need no right to delete.
      const { remove: _, ...unremoving } = store
      for (const { run } of storeContract(async () => unremoving)) await run()
    })

    it('lets many clients make the tables at once', async () => {
      const stores = Array.from({ length: 8 }, () => postgresStore(poolOf({ max: 1 }), { table: 'many' }))
      await Promise.all(stores.map((store) => store.nowMs?.()))
      await Promise.all(stores.map((store) => store.setup()))
      expect(await stores[0]?.read('folder/1')).toBeUndefined()
    })
  })
})
