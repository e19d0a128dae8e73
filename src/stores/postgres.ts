import { GraupelError } from '../core/errors.js'
import { clientError, readStoreOptions } from './options.js'
import { newVersion } from './record.js'
import { endOf, entryOf, noTable, quoted, type Row, type SqlStore } from './sql.js'
import type { StoreOptions } from './store.js'

/**
 * A `Pool` or a connected `Client` of pg, or the result of `postgres()` of postgres.js. A `Client` that is
 * not connected queues all calls.
 */
export type PostgresClient = PgClient | PostgresJsClient

interface PgClient {
  query(text: string, values: string[]): Promise<{ rows: unknown[] }>
}
interface PostgresJsClient {
  unsafe(text: string, values: string[]): PromiseLike<unknown>
}

/** The options of {@link postgresStore}. */
export interface PostgresStoreOptions extends StoreOptions {
  /** The name of the table, which the `search_path` finds. @default 'graupel_store' */
  table?: string
}

/**
 * Codes of a transaction that loses to another under REPEATABLE READ or SERIALIZABLE, or in a deadlock
 * (PostgreSQL, appendix A).
 */
const rolledBack = ['40001', '40P01']
const undefinedTable = '42P01'

// With `synchronous_commit = off` PostgreSQL forgets acknowledged writes when one of its processes is killed,
// and still shows the same start time. So each write commits at least to the local disk. The setting is in
// RETURNING, because a pooler may send a separate statement to another connection.
const flushed = `CASE current_setting('synchronous_commit') WHEN 'off' THEN set_config('synchronous_commit', 'local', true) END`

/**
 * A store in PostgreSQL 12 and later. Not durable: a failover to an asynchronous replica may take
 * acknowledged writes back. `assumeDurable: true` is right for one server with `fsync = on`, and if
 * `synchronous_commit` waits for the replica that takes over.
 *
 * Every call is one statement, and one transaction of any isolation level. No call needs a session: a pooler
 * such as PgBouncer may be in transaction mode. Calls, also reads, have to reach the primary. A role needs
 * SELECT, INSERT and UPDATE on the tables.
 *
 * @param client - A pool, which is never closed. A single client with an open transaction would hide its
 * writes from other processes.
 * @param options - None is required; {@link PostgresStoreOptions} describes all.
 * @throws TypeError, RangeError `ERR_OPTION_INVALID`; TypeError `ERR_OPTION_UNKNOWN`. Its functions reject
 * with the client's errors, and with GraupelError `ERR_STORE_UNAVAILABLE`, whose message has the statements,
 * if the tables are missing or may not be made.
 * @example
 * const pool = new pg.Pool({ max: 2, query_timeout: 3000 })
 * const store = postgresStore(pool)
 * await store.setup()
 * await store.write('settings/first', 'one', undefined)
 * const entry = await store.read('settings/first')
 * entry.value // 'one'
 * await pool.end()
 */
export function postgresStore(client: PostgresClient, options: PostgresStoreOptions = {}): SqlStore {
  options = readStoreOptions(options, 'table')
  const { table = 'graupel_store', assumeDurable = false } = options
  const query = queryOf(client)
  const records = quoted(table)
  const sums = quoted(`${table}_sums`)
  const columns = 'key, value, version'
  // Keys are compared by their bytes: other collations treat some different texts as equal, and may not order
  // '0' after '/'.
  const tables = [
    [
      records,
      `CREATE TABLE IF NOT EXISTS ${records} (key text COLLATE "C" PRIMARY KEY, value text NOT NULL, version text NOT NULL);`,
    ],
    [sums, `CREATE TABLE IF NOT EXISTS ${sums} (key text COLLATE "C" PRIMARY KEY, sum bigint NOT NULL);`],
  ] as const
  const ddl = tables.map(([, statement]) => statement).join('\n')

  const run = async (signal: AbortSignal | undefined, text: string, ...values: string[]): Promise<Row[]> => {
    for (;;) {
      signal?.throwIfAborted()
      try {
        return (await query(text, values)) as Row[]
      } catch (error) {
        const code = (error as { code?: string }).code ?? ''
        if (code === undefinedTable) throw noTable('postgres', ddl, error)
        // Nothing was written, and the next attempt sees the write of the other transaction.
        if (!rolledBack.includes(code)) throw error
      }
    }
  }
  const scalar = async (signal: AbortSignal | undefined, text: string, ...values: string[]) =>
    ((await run(signal, text, ...values))[0] as Row).value
  const isThere = async (name: string) =>
    (await scalar(undefined, 'SELECT (to_regclass($1) IS NOT NULL)::text AS value', name)) === 'true'

  return {
    name: 'postgres',
    durable: assumeDurable,
    ddl,
    async setup() {
      for (const [name, statement] of tables) {
        // Checked first, because a role that may not create tables is refused even if the table exists.
        if (await isThere(name)) continue
        try {
          await run(undefined, statement)
        } catch (error) {
          // Another process has made the table at the same time. IF NOT EXISTS does not prevent this error.
          if (await isThere(name)) continue
          throw new GraupelError(
            'ERR_STORE_UNAVAILABLE',
            `setup() of the store 'postgres' failed (${(error as Error).message}); let a role that may create tables run\n${ddl}`,
            { cause: error },
          )
        }
      }
    },
    async read(key, signal) {
      const [row] = await run(signal, `SELECT ${columns} FROM ${records} WHERE key = $1`, key)
      return row && entryOf(row)
    },
    async list(folder, signal) {
      const text = `SELECT ${columns} FROM ${records} WHERE key >= $1 AND key < $2 AND position('/' in substr(key, length($1) + 1)) = 0`
      return (await run(signal, text, folder, endOf(folder))).map(entryOf)
    },
    async write(key, value, expected, signal) {
      const version = newVersion()
      const [written] =
        expected === undefined
          ? await run(
              signal,
              `INSERT INTO ${records} (${columns}) VALUES ($1, $2, $3) ON CONFLICT (key) DO NOTHING RETURNING version, ${flushed}`,
              key,
              value,
              version,
            )
          : await run(
              signal,
              `UPDATE ${records} SET value = $2, version = $3 WHERE key = $1 AND version = $4 RETURNING version, ${flushed}`,
              key,
              value,
              version,
              expected,
            )
      return written?.version
    },
    async nowMs(signal) {
      return Number(await scalar(signal, 'SELECT floor(extract(epoch from clock_timestamp()) * 1000)::text AS value'))
    },
    incarnation(signal) {
      // The timeline that is written to. pg_control_checkpoint() has the old one until the first checkpoint
      // after a promotion.
      const text = `SELECT (SELECT system_identifier FROM pg_control_system()) || ' ' ||
        ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int || ' ' || extract(epoch from pg_postmaster_start_time()) AS value`
      return scalar(signal, text)
    },
    place(signal) {
      // A `search_path` with "$user" finds another table for each role, so the server says which schema it
      // has found.
      const schema = 'SELECT nspname FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace'
      const text = `SELECT concat('server ', coalesce(host(inet_server_addr()), 'on a socket'), ':', current_setting('port'),
        ' (system ', (SELECT system_identifier FROM pg_control_system()), '), database ', current_database(),
        ', schema ', coalesce((${schema} WHERE pg_class.oid = to_regclass($1)), 'unknown'), ', table ', $2::text) AS value`
      return scalar(signal, text, records, table)
    },
    async add(key, count, signal) {
      const text = `INSERT INTO ${sums} (key, sum) VALUES ($1, $2::bigint) ON CONFLICT (key) DO UPDATE SET sum = ${sums}.sum + excluded.sum RETURNING sum::text AS value, ${flushed}`
      return BigInt(await scalar(signal, text, key, count.toString()))
    },
  }
}

function queryOf(client: PostgresClient): (text: string, values: string[]) => Promise<unknown[]> {
  const of = client as Partial<PgClient & PostgresJsClient> | undefined
  // postgres.js has no query(), and is a function.
  if (typeof of?.unsafe === 'function') {
    return async (text, values) => [...((await (client as PostgresJsClient).unsafe(text, values)) as Iterable<unknown>)]
  }
  if (typeof of?.query === 'function')
    return async (text, values) => (await (client as PgClient).query(text, values)).rows
  throw clientError('PostgreSQL', client, 'a Pool of pg, or the result of postgres() of postgres.js')
}
