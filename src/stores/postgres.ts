import { GraupelError, reasonOf } from '../core/errors.js'
import { type Rows, readTable } from '../core/options.js'
import { flag } from '../core/readers.js'
import { tableRow } from './options.js'
import { isOwn, literal, own, type PostgresClient, statementsOf, type TextRow } from './postgres-client.js'
import { endOf, newVersion } from './record.js'
import { entryOf, noTable, quoted, type Row } from './sql.js'
import type { StoreEntry, StoreOptions, TableStore } from './store.js'

export type { PostgresClient } from './postgres-client.js'

/** The options of {@link postgresStore}. */
export interface PostgresStoreOptions extends StoreOptions {
  /** The name of the table, which the `search_path` finds. @default 'graupel_store' */
  table?: string
}

const rows = { assumeDurable: { read: flag, byDefault: false }, table: tableRow } satisfies Rows<PostgresStoreOptions>

/**
 * Codes of a transaction that loses to another under REPEATABLE READ or SERIALIZABLE, or in a deadlock
 * (PostgreSQL, appendix A).
 */
const rolledBack = ['40001', '40P01']
const undefinedTable = '42P01'

/**
 * The values of `synchronous_commit` that sync to the local disk. Each waits for more than the one before.
 */
const levels = "ARRAY['local', 'remote_write', 'on', 'remote_apply']"
const levelOf = (value: string) => `coalesce(array_position(${levels}, ${value}), 1)`
const sessionLevel = levelOf("current_setting('synchronous_commit')")
// With NULL, set_config sets the value of a new connection.
const configuredLevel = levelOf("set_config('synchronous_commit', NULL, true)")
/**
 * Lets a write wait for as much as the session or the configuration says, and at least for the local disk.
 * With `synchronous_commit = off` PostgreSQL forgets acknowledged writes when one of its processes is killed,
 * and still shows the same start time. The setting is in RETURNING, because a pooler may send a separate
 * statement to another connection.
 */
const flushed = `set_config('synchronous_commit', (${levels})[greatest(${sessionLevel}, ${configuredLevel})], true)`

/**
 * A store in PostgreSQL 12 and later. Not durable: a failover to an asynchronous replica may take
 * acknowledged writes back. `assumeDurable: true` is right for one server with `fsync = on`, and if
 * `synchronous_commit` waits for the replica that takes over.
 *
 * Every call is one statement, and one transaction of any isolation level. No call needs a session: a pooler
 * such as PgBouncer may be in transaction mode. Calls, also reads, have to reach the primary. A role needs
 * SELECT, INSERT and UPDATE on the tables, and DELETE for `remove`.
 *
 * @param client - A pool, which is never closed. Other code may use it as well. A connection on which a
 * transaction was left open is refused, and a pool of pg closes it. If nobody listens to the event `error` of
 * a pool of pg, the store does: without a listener, a server that restarts ends the process. The store stays
 * in the schema that its first call has found.
 * @param options - None is required; {@link PostgresStoreOptions} describes all.
 * @throws TypeError, RangeError `ERR_OPTION_INVALID`; TypeError `ERR_OPTION_UNKNOWN`. Its functions reject
 * with the client's errors; with GraupelError `ERR_STORE_UNAVAILABLE`, whose message has the statements, if
 * the tables are missing or may not be made; and with GraupelError `ERR_STORE_UNSAFE` if the connection has
 * an open transaction, or finds another table than new connections do.
 * @example
 * const pool = new pg.Pool({ max: 2, query_timeout: 3000, connectionTimeoutMillis: 3000 })
 * const store = postgresStore(pool)
 * await store.setup()
 * await store.write('settings/first', 'one', undefined)
 * const entry = await store.read('settings/first')
 * entry.value // 'one'
 * await pool.end()
 */
export function postgresStore(client: PostgresClient, options: PostgresStoreOptions = {}): TableStore {
  const { table, assumeDurable } = readTable(options, rows, '{ assumeDurable: true }')
  const statements = statementsOf(client)
  const sums = `${table}_sums`
  // Keys are compared by their bytes: other collations treat some different texts as equal, and may not order
  // '0' after '/'.
  const tables = [
    [
      table,
      `CREATE TABLE IF NOT EXISTS ${quoted(table)} (key text COLLATE "C" PRIMARY KEY, value text NOT NULL, version text NOT NULL);`,
    ],
    [sums, `CREATE TABLE IF NOT EXISTS ${quoted(sums)} (key text COLLATE "C" PRIMARY KEY, sum bigint NOT NULL);`],
  ] as const
  const ddl = tables.map(([, statement]) => statement).join('\n')

  const run = async (signal: AbortSignal | undefined, text: string) => {
    for (;;) {
      signal?.throwIfAborted()
      try {
        return await statements.ask(text, signal)
      } catch (error) {
        const code: string = Object(error).code ?? ''
        if (code === undefinedTable) throw noTable('postgres', ddl, error)
        // Nothing was written, and the next attempt sees the write of the other transaction.
        if (!rolledBack.includes(code)) throw error
      }
    }
  }
  const scalar = async (signal: AbortSignal | undefined, expression: string) =>
    (await run(signal, `SELECT ${own}, (${expression})::text AS value`))[0]?.['value'] as string
  /** Changes a row, and returns a text of it; `null` if no row was changed. */
  const change = async (signal: AbortSignal | undefined, statement: string, column: string) => {
    const text = `WITH changed AS (${statement} RETURNING ${column}::text AS value, ${flushed}) SELECT ${own}, (SELECT value FROM changed) AS value`
    return (await run(signal, text))[0]?.['value'] as string | null
  }

  const schemaOf = async (name: string, signal?: AbortSignal): Promise<string | undefined> => {
    const schema = `(SELECT nspname::text FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE pg_class.oid = to_regclass('${quoted(name)}'))`
    // The columns are computed in this order. With NULL, set_config sets the `search_path` of a new
    // connection, and only for this statement.
    const columns = `${own}, ${schema} AS found, CASE WHEN ${isOwn} THEN set_config('search_path', NULL, true) END AS path, ${schema} AS usual`
    const [{ found, usual } = {}] = await run(signal, `SELECT ${columns}`)
    if (found?.startsWith('pg_temp')) throw otherTable(name, 'as a temporary table', usual)
    if (usual !== null && usual !== found) throw otherTable(name, `in ${found ?? 'no schema'}`, usual)
    return found ?? undefined
  }
  let home: string | undefined
  /**
   * Returns the schema that the first call has found. A later connection may have another `search_path`, or a
   * temporary table of the same name.
   */
  const homeOf = async (signal: AbortSignal | undefined) => {
    const schema = home ?? (await schemaOf(table, signal))
    home ??= schema
    return home
  }
  const at = async (name: string, signal: AbortSignal | undefined) => {
    const schema = await homeOf(signal)
    if (schema !== undefined) return `${quoted(schema.replaceAll('"', '""'))}.${quoted(name)}`
    const cause = Object.assign(new Error(`relation "${table}" does not exist`), { code: undefinedTable })
    throw noTable('postgres', ddl, cause)
  }

  return {
    name: 'postgres',
    durable: assumeDurable,
    ddl,
    async setup() {
      for (const [name, statement] of tables) {
        // Checked first, because a role that may not create tables is refused even if the table exists.
        if ((await schemaOf(name)) !== undefined) continue
        try {
          await statements.execute(statement)
        } catch (error) {
          // Another process has made the table at the same time. IF NOT EXISTS does not prevent this error.
          if ((await schemaOf(name)) !== undefined) continue
          throw new GraupelError(
            'ERR_STORE_UNAVAILABLE',
            `setup() of the store 'postgres' failed (${reasonOf(error)}); let a role that may create tables run\n${ddl}`,
            { cause: error },
          )
        }
      }
    },
    async read(key, signal) {
      const text = `SELECT ${own}, key, value, version FROM (SELECT) AS one LEFT JOIN ${await at(table, signal)} ON key = ${literal(key)}`
      return entriesOf(await run(signal, text))[0]
    },
    async list(folder, signal) {
      const range = `key >= ${literal(folder)} AND key < ${literal(endOf(folder))}`
      const text = `SELECT ${own}, key, value, version FROM (SELECT) AS one LEFT JOIN ${await at(table, signal)} ON ${range} AND position('/' in substr(key, ${folder.length + 1})) = 0`
      return entriesOf(await run(signal, text))
    },
    async write(key, value, expected, signal) {
      const version = newVersion()
      const records = await at(table, signal)
      const [ofKey, ofValue, ofVersion] = [literal(key), literal(value), literal(version)]
      const statement =
        expected === undefined
          ? `INSERT INTO ${records} (key, value, version) SELECT ${ofKey}, ${ofValue}, ${ofVersion} WHERE ${isOwn} ON CONFLICT (key) DO NOTHING`
          : `UPDATE ${records} SET value = ${ofValue}, version = ${ofVersion} WHERE key = ${ofKey} AND version = ${literal(expected)} AND ${isOwn}`
      return (await change(signal, statement, 'version')) ?? undefined
    },
    async remove(key, expected, signal) {
      const which = `key = ${literal(key)} AND version = ${literal(expected)} AND ${isOwn}`
      return (await change(signal, `DELETE FROM ${await at(table, signal)} WHERE ${which}`, 'version')) !== null
    },
    async nowMs(signal) {
      return Number(await scalar(signal, 'floor(extract(epoch from clock_timestamp()) * 1000)::bigint'))
    },
    incarnation(signal) {
      // The timeline that is written to. pg_control_checkpoint() has the old one until the first checkpoint
      // after a promotion. The start is in whole microseconds: up to version 13, the text of a fraction
      // depends on `extra_float_digits` of the connection.
      const text = `(SELECT system_identifier FROM pg_control_system()) || ' ' ||
        ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int || ' ' || (extract(epoch from pg_postmaster_start_time()) * 1000000)::bigint`
      return scalar(signal, text)
    },
    async place(signal) {
      const schema = literal((await homeOf(signal)) ?? 'unknown')
      const server = `coalesce(host(inet_server_addr()), 'on a socket'), ':', current_setting('port')`
      const system = '(SELECT system_identifier FROM pg_control_system())'
      const text = `concat('server ', ${server}, ' (system ', ${system}, '), database ', current_database(), ', schema ', ${schema}, ', table ${table}')`
      return scalar(signal, text)
    },
    async add(key, count, signal) {
      const statement = `INSERT INTO ${await at(sums, signal)} AS old (key, sum) SELECT ${literal(key)}, '${count}'::bigint WHERE ${isOwn} ON CONFLICT (key) DO UPDATE SET sum = old.sum + excluded.sum`
      return BigInt((await change(signal, statement, 'sum')) as string)
    },
  }
}

/** A statement that finds no record returns a row as well, whose record is empty. */
function entriesOf(rows: readonly TextRow[]): StoreEntry[] {
  return rows.flatMap(({ key, value, version }) => (key == null ? [] : [entryOf({ key, value, version } as Row)]))
}

function otherTable(name: string, found: string, usual: string | null | undefined): GraupelError {
  return new GraupelError(
    'ERR_STORE_UNSAFE',
    `a connection of the pool finds the table '${name}' ${found}, and a new connection finds it in ${usual ?? 'no schema'}, so processes may use two tables; set the search_path by ALTER ROLE or in the options of the pool, and not by SET`,
  )
}
