import { GraupelError } from '../core/errors.js'
import { clientError, readStoreOptions } from './options.js'
import { newVersion } from './record.js'
import { endOf, entryOf, noTable, quoted, type Row, type SqlStore } from './sql.js'
import type { StoreOptions } from './store.js'

/** The parts of a database of better-sqlite3, libsql or `node:sqlite` that a store uses. */
export interface SqliteDatabase {
  /** Runs statements without a result. */
  exec(sql: string): unknown
  /** Prepares a statement. */
  prepare(sql: string): { all(...values: string[]): unknown[] }
  /** Whether a transaction is open, as better-sqlite3 and libsql say it. */
  readonly inTransaction?: boolean
  /** The same, as `node:sqlite` says it. */
  readonly isTransaction?: boolean
}

/** The options of {@link sqliteStore}. */
export interface SqliteStoreOptions extends StoreOptions {
  /** The name of the table. @default 'graupel_store' */
  table?: string
}

/** `PRAGMA synchronous` from here on means a sync of each commit (sqlite.org/pragma.html#pragma_synchronous). */
const fullSync = 2

/** For connections that have none, as those of libsql and `node:sqlite`; better-sqlite3 sets the same. */
const busyTimeoutMs = 5000

/**
 * A store in a SQLite database: a file that any number of processes of one host may have open, and that must not lie on a network
 * file system. It is durable, unless `PRAGMA journal_mode` is `OFF` or `MEMORY`.
 *
 * Every call is one statement, and blocks the thread for some tenths of a millisecond, as all calls of these clients do; while
 * another process writes, for as long as `PRAGMA busy_timeout` of the connection says, which is set to 5000 ms where it is 0.
 *
 * Refused is a connection with `PRAGMA synchronous` below `FULL`, because a loss of power takes acknowledged writes back:
 * better-sqlite3 sets `NORMAL` in WAL mode. `assumeDurable: true` says that it may be used all the same. Refused is also a call while
 * the connection has a transaction open, because a rollback would take the write back.
 *
 * @param database - An open database of better-sqlite3, libsql (without `syncUrl`) or `node:sqlite`. It is never closed.
 * @param options - None is required; {@link SqliteStoreOptions} describes all.
 * @throws TypeError, RangeError `ERR_OPTION_INVALID`; TypeError `ERR_OPTION_UNKNOWN`. Its functions reject with what the client
 * throws, and with GraupelError `ERR_STORE_UNSAFE` where it is refused, `ERR_STORE_UNAVAILABLE` where the table is missing.
 * @example
 * const database = new Database('fleet.db') // of better-sqlite3
 * const store = sqliteStore(database)
 * await store.setup()
 * await store.write('settings/first', 'one', undefined)
 * const entry = await store.read('settings/first')
 * entry.value // 'one'
 * database.close()
 */
export function sqliteStore(database: SqliteDatabase, options: SqliteStoreOptions = {}): SqlStore {
  options = readStoreOptions(options, 'table')
  const { table = 'graupel_store', assumeDurable } = options
  if (typeof database?.prepare !== 'function' || typeof database.exec !== 'function') {
    throw clientError('SQLite', database, 'an open database of better-sqlite3, libsql or node:sqlite')
  }
  const records = quoted(table)
  const sums = quoted(`${table}_sums`)
  const columns = 'key, value, version'
  const ddl = [
    `CREATE TABLE IF NOT EXISTS ${records} (key TEXT PRIMARY KEY, value TEXT NOT NULL, version TEXT NOT NULL) WITHOUT ROWID;`,
    `CREATE TABLE IF NOT EXISTS ${sums} (key TEXT PRIMARY KEY, sum INTEGER NOT NULL) WITHOUT ROWID;`,
  ].join('\n')
  const all = (sql: string, ...values: string[]) => database.prepare(sql).all(...values) as Row[]
  // Not by get(), which takes one row and asks for no more: the commit follows, and better-sqlite3 and libsql do not say where it
  // fails, because another process reads.
  const one = (sql: string, ...values: string[]) => all(sql, ...values)[0]
  const pragma = (name: string) => Number(Object.values(one(`PRAGMA ${name}`) ?? {})[0])

  const check = () => {
    // First: it throws where the database is closed, and libsql ends the process if such a one is asked for its transaction.
    if (pragma('busy_timeout') === 0) database.exec(`PRAGMA busy_timeout = ${busyTimeoutMs}`)
    if (database.inTransaction === true || database.isTransaction === true) {
      throw new GraupelError(
        'ERR_STORE_UNSAFE',
        'the connection has a transaction open, and a rollback would take back what the store writes; give the store a connection of its own',
      )
    }
    const synchronous = pragma('synchronous')
    if (synchronous < fullSync && assumeDurable !== true) {
      throw new GraupelError(
        'ERR_STORE_UNSAFE',
        `PRAGMA synchronous of the database is ${synchronous}, with which a loss of power takes back what was written; run PRAGMA synchronous = FULL on this connection, or pass assumeDurable: true to say that this cannot happen`,
      )
    }
  }
  const run = async <T>(signal: AbortSignal | undefined, statement: () => T): Promise<T> => {
    signal?.throwIfAborted()
    check()
    try {
      return statement()
    } catch (error) {
      throw /no such table/.test((error as Error).message) ? noTable('sqlite', ddl, error) : error
    }
  }

  /**
   * In a transaction that has its lock before the statement runs. libsql keeps a statement open that has met a lock, and beside one
   * SQLite commits nothing that this connection writes, though it says that it was written, and holds on to what it has read.
   */
  const inTransaction = <T>(signal: AbortSignal | undefined, kind: 'read' | 'write', statement: () => T): Promise<T> =>
    run(signal, () => {
      database.exec(kind === 'write' ? 'BEGIN IMMEDIATE' : 'BEGIN')
      try {
        // A transaction that reads gets its lock when it reads.
        if (kind === 'read') database.exec('SELECT 1 FROM sqlite_master LIMIT 1')
        const result = statement()
        database.exec('COMMIT')
        return result
      } catch (error) {
        try {
          database.exec('ROLLBACK')
        } catch {
          // SQLite has done so by itself, as it does where the disk is full.
        }
        throw error
      }
    })

  return {
    name: 'sqlite',
    durable: assumeDurable ?? true,
    ddl,
    setup: () => run(undefined, () => void database.exec(ddl)),
    read: (key, signal) =>
      inTransaction(signal, 'read', () => {
        const row = one(`SELECT ${columns} FROM ${records} WHERE key = ?`, key)
        return row && entryOf(row)
      }),
    list: (folder, signal) =>
      inTransaction(signal, 'read', () => {
        const sql = `SELECT ${columns} FROM ${records} WHERE key >= ? AND key < ? AND instr(substr(key, length(?) + 1), '/') = 0`
        return all(sql, folder, endOf(folder), folder).map(entryOf)
      }),
    write: (key, value, expected, signal) =>
      inTransaction(signal, 'write', () => {
        const version = newVersion()
        const written =
          expected === undefined
            ? one(
                `INSERT INTO ${records} (${columns}) VALUES (?, ?, ?) ON CONFLICT (key) DO NOTHING RETURNING version`,
                key,
                value,
                version,
              )
            : one(
                `UPDATE ${records} SET value = ?, version = ? WHERE key = ? AND version = ? RETURNING version`,
                value,
                version,
                key,
                expected,
              )
        return written?.version
      }),
    nowMs: (signal) =>
      run(signal, () => {
        // Julian days (sqlite.org/lang_datefunc.html); 2440587.5 is 1970.
        const sql = "SELECT CAST(round((julianday('now') - 2440587.5) * 86400000) AS TEXT) AS value"
        return Number(one(sql)?.value)
      }),
    add: (key, count, signal) =>
      inTransaction(signal, 'write', () => {
        // As text, because a sum may be more than a number holds.
        const sql = `INSERT INTO ${sums} (key, sum) VALUES (?, CAST(? AS INTEGER)) ON CONFLICT (key) DO UPDATE SET sum = sum + excluded.sum RETURNING CAST(sum AS TEXT) AS value`
        return BigInt((one(sql, key, count.toString()) as Row).value)
      }),
  }
}
