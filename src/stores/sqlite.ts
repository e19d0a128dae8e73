import { platform } from '#platform'
import { GraupelError } from '../core/errors.js'
import { type Rows, readTable } from '../core/options.js'
import { flag } from '../core/readers.js'
import { sleep } from '../core/timing.js'
import { clientError, refuseForgetting, tableRow } from './options.js'
import { endOf, newVersion } from './record.js'
import { noTable, quoted, type Row } from './sql.js'
import { bytesOf, entryFrom, type RowBytes, sealed } from './sqlite-row.js'
import type { StoreEntry, StoreOptions, TableStore } from './store.js'

/** The parts of a database of better-sqlite3, libsql or `node:sqlite` that a store uses. */
export interface SqliteDatabase {
  /** Runs statements without a result. */
  exec(sql: string): unknown
  /** Prepares a statement. A statement of `node:sqlite` may return rows as arrays. */
  prepare(sql: string): { all(...values: string[]): unknown[]; setReturnArrays?(isOn: boolean): unknown }
  /** Whether a transaction is open, in better-sqlite3 and libsql. */
  readonly inTransaction?: boolean
  /** Whether a transaction is open, in `node:sqlite`. */
  readonly isTransaction?: boolean
}

/** The options of {@link sqliteStore}. */
export interface SqliteStoreOptions extends StoreOptions {
  /** The name of the table. @default 'graupel_store' */
  table?: string
}

const rows = { assumeDurable: { read: flag }, table: tableRow } satisfies Rows<SqliteStoreOptions>

/** The lowest `PRAGMA synchronous` that syncs each commit (sqlite.org/pragma.html#pragma_synchronous). */
const fullSync = 2

/** The journals that are lost with the process, so that a crash during a commit damages the file. */
const lostJournals: unknown[] = ['off', 'memory']

/** How long a call waits for a lock. */
const lockedMs = 5000
/** The same for a call with a signal: less than the time limit of a call, so its error names the lock. */
const lockedWithSignalMs = 1500
/**
 * Milliseconds between two attempts to get a lock. They double, and up to half is subtracted at random. A
 * process that writes all the time leaves short gaps: of four such processes, one waited for 1.5 s with
 * pauses of 25 ms, and for 1 s with these.
 */
const firstPauseMs = 1
const maxPauseMs = 4

/** A store in a SQLite database. */
export interface SqliteStore extends TableStore {
  /**
   * Checks the file by `PRAGMA integrity_check`, and every record by its checksum.
   *
   * @returns A sentence for each damage, without the key if the damage has no record. Empty if there is none.
   */
  damage(signal?: AbortSignal): Promise<string[]>
}

/**
 * A store in a SQLite database: a file that any number of processes of one host may have open, and that must
 * not lie on a network file system. It is durable. A process that has the file open must not copy it by other
 * means than SQLite, because this drops the locks of the process (docs/stores/sqlite.md, "Backups").
 *
 * Every call is one statement, and blocks the thread for some tenths of a millisecond. If another process
 * has a lock, a call tries again for 5 s; with a signal, such as a lease passes, for 1.5 s. Each attempt
 * blocks the thread for `PRAGMA busy_timeout` of the connection, which should be 0.
 *
 * A connection with `PRAGMA synchronous` below `FULL` is refused, because a loss of power takes acknowledged
 * writes back; better-sqlite3 sets `NORMAL` in WAL mode. So is `PRAGMA journal_mode` `OFF` or `MEMORY`.
 * `assumeDurable: true` allows such a connection. A call while the connection has an open transaction is also
 * refused, because a rollback would take the write back.
 *
 * @param database - An open database of better-sqlite3, libsql (without `syncUrl`) or `node:sqlite`. It is
 * never closed.
 * @param options - None is required; {@link SqliteStoreOptions} describes all. `assumeDurable` may not be
 * false, because a file has no incarnation.
 * @throws TypeError, RangeError `ERR_OPTION_INVALID`; TypeError `ERR_OPTION_UNKNOWN`. Its functions reject
 * with the client's errors, and with GraupelError `ERR_STORE_UNSAFE` if the connection is refused,
 * `ERR_STORE_UNAVAILABLE` if the table is missing.
 * @example
 * const database = new Database('fleet.db') // of better-sqlite3
 * const store = sqliteStore(database)
 * await store.setup()
 * await store.write('settings/first', 'one', undefined)
 * const entry = await store.read('settings/first')
 * entry.value // 'one'
 * database.close()
 */
export function sqliteStore(database: SqliteDatabase, options: SqliteStoreOptions = {}): SqliteStore {
  const { table, assumeDurable } = readTable(options, rows, '{ assumeDurable: true }')
  refuseForgetting('SQLite', assumeDurable)
  if (typeof database?.prepare !== 'function' || typeof database.exec !== 'function') {
    throw clientError('SQLite', database, 'an open database of better-sqlite3, libsql or node:sqlite')
  }
  // Without `main`, a temporary table of the connection, or a table of an attached database, would be used.
  const records = `main.${quoted(table)}`
  const sums = `main.${quoted(`${table}_sums`)}`
  const columns = 'key, value, version'
  const bytes = bytesOf(columns)
  const ddl = [
    `CREATE TABLE IF NOT EXISTS ${records} (key TEXT PRIMARY KEY, value TEXT NOT NULL, version TEXT NOT NULL) WITHOUT ROWID;`,
    `CREATE TABLE IF NOT EXISTS ${sums} (key TEXT PRIMARY KEY, sum INTEGER NOT NULL) WITHOUT ROWID;`,
  ].join('\n')
  const all = (sql: string, ...values: string[]) => {
    const statement = database.prepare(sql)
    // The database may have been opened with `returnArrays: true`.
    statement.setReturnArrays?.(false)
    return statement.all(...values) as Row[]
  }
  // Uses all(), because get() stops after one row. The commit follows later, and better-sqlite3 and libsql do
  // not report that it fails if another process reads.
  const one = (sql: string, ...values: string[]) => all(sql, ...values)[0]
  const pragma = (name: string): unknown => Object.values(one(`PRAGMA main.${name}`) ?? {})[0]
  let encoding: string | undefined
  const entryOf = (row: object): StoreEntry => {
    // SQLite and `TextDecoder` have the same names of encodings.
    encoding ??= `${pragma('encoding')}`
    return entryFrom(row as RowBytes, encoding)
  }
  const fileOf = () => (one('PRAGMA database_list') as { file?: string } | undefined)?.file

  const checkIdle = () => {
    // This comes first, because it throws if the database is closed. libsql ends the process if a closed
    // database is asked for its transaction.
    pragma('busy_timeout')
    if (database.inTransaction === true || database.isTransaction === true) {
      throw new GraupelError(
        'ERR_STORE_UNSAFE',
        'the connection has a transaction open, and a rollback would take back what the store writes; give the store a connection of its own',
      )
    }
  }
  const checkDurable = () => {
    if (assumeDurable === true) return
    const synchronous = Number(pragma('synchronous'))
    if (synchronous < fullSync) {
      throw new GraupelError(
        'ERR_STORE_UNSAFE',
        `PRAGMA synchronous of the database is ${synchronous}, so a loss of power takes acknowledged writes back; run PRAGMA synchronous = FULL on this connection`,
      )
    }
    const journal = pragma('journal_mode')
    // A database in memory has no other journal.
    if (lostJournals.includes(journal) && fileOf()) {
      throw new GraupelError(
        'ERR_STORE_UNSAFE',
        `PRAGMA journal_mode of the database is ${journal}, so a crash damages the file; run PRAGMA journal_mode = DELETE on this connection`,
      )
    }
  }

  /**
   * Runs statements in a transaction that has its lock already. libsql leaves a statement open that has met a
   * lock. While this statement is open, SQLite commits no write of the connection, although it reports
   * success, and keeps the connection's old snapshot. `PRAGMA synchronous` meets locks as well.
   */
  const attempt = <T>(kind: 'read' | 'write', statement: () => T): T => {
    checkIdle()
    database.exec(kind === 'write' ? 'BEGIN IMMEDIATE' : 'BEGIN')
    try {
      // A transaction that reads gets its lock with its first read.
      if (kind === 'read') database.exec('SELECT 1 FROM sqlite_master LIMIT 1')
      checkDurable()
      const result = statement()
      database.exec('COMMIT')
      return result
    } catch (error) {
      try {
        database.exec('ROLLBACK')
      } catch {
        // SQLite has already rolled back, as it does if the disk is full.
      }
      throw error
    }
  }

  /** Repeats a transaction that meets a lock, because `busy_timeout` would block the thread. */
  const run = async <T>(signal: AbortSignal | undefined, kind: 'read' | 'write', statement: () => T): Promise<T> => {
    const untilMs = platform.monotonicMs() + (signal === undefined ? lockedMs : lockedWithSignalMs)
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(2 * pauseMs, maxPauseMs)) {
      signal?.throwIfAborted()
      try {
        return attempt(kind, statement)
      } catch (error) {
        const { message } = error as Error
        if (/no such table/.test(message)) throw noTable('sqlite', ddl, error)
        if (!/database is locked/.test(message) || platform.monotonicMs() >= untilMs) throw error
      }
      await sleep(platform, pauseMs * (0.5 + Math.random() / 2), signal)
    }
  }

  return {
    name: 'sqlite',
    durable: true,
    ddl,
    // Tables that exist need no lock for writing.
    setup: () => run(undefined, 'read', () => void database.exec(ddl)),
    read: (key, signal) =>
      run(signal, 'read', () => {
        const row = one(`SELECT ${bytes} FROM ${records} WHERE key = ?`, key)
        return row && entryOf(row)
      }),
    list: (folder, signal) =>
      run(signal, 'read', () => {
        const sql = `SELECT ${bytes} FROM ${records} WHERE key >= ? AND key < ? AND instr(substr(key, length(?) + 1), '/') = 0`
        return all(sql, folder, endOf(folder), folder).map(entryOf)
      }),
    write: (key, value, expected, signal) =>
      run(signal, 'write', () => {
        const version = sealed(key, value, newVersion())
        const written =
          expected === undefined
            ? one(
                `INSERT INTO ${records} (${columns}) VALUES (?, ?, ?) ON CONFLICT (key) DO NOTHING RETURNING 1`,
                key,
                value,
                version,
              )
            : one(
                `UPDATE ${records} SET value = ?, version = ? WHERE key = ? AND version = ? RETURNING 1`,
                value,
                version,
                key,
                expected,
              )
        return written && version
      }),
    remove: (key, expected, signal) =>
      run(signal, 'write', () => {
        const sql = `DELETE FROM ${records} WHERE key = ? AND version = ? RETURNING 1`
        return one(sql, key, expected) !== undefined
      }),
    damage: (signal) =>
      run(signal, 'read', () => {
        const ofFile = (text: string) => `the file is damaged: ${text}`
        /** A page that SQLite cannot read ends a statement, and is a damage that it has found. */
        const found = (look: () => string[]): string[] => {
          try {
            return look()
          } catch (error) {
            const { message } = error as Error
            if (/malformed|not a database/.test(message)) return [ofFile(message)]
            throw error
          }
        }
        const texts = () => all('PRAGMA main.integrity_check').map((row) => `${Object.values(row)[0]}`)
        const rows = () => all(`SELECT ${bytes} FROM ${records}`).map(entryOf)
        return [
          ...found(() =>
            texts()
              .filter((text) => text !== 'ok')
              .map(ofFile),
          ),
          ...found(() =>
            rows().flatMap(({ key, damage }) =>
              damage === undefined ? [] : [`the record ${key} is damaged: ${damage}`],
            ),
          ),
        ]
      }),
    nowMs: (signal) =>
      run(signal, 'read', () => {
        // Julian days (sqlite.org/lang_datefunc.html); 2440587.5 is 1970.
        const sql = "SELECT CAST(round((julianday('now') - 2440587.5) * 86400000) AS TEXT) AS value"
        return Number(one(sql)?.value)
      }),
    place: (signal) => run(signal, 'read', () => `file ${fileOf() || 'in memory'}, table ${table}`),
    add: (key, count, signal) =>
      run(signal, 'write', () => {
        // As text, because a sum may be more than a number holds.
        const sql = `INSERT INTO ${sums} (key, sum) VALUES (?, CAST(? AS INTEGER)) ON CONFLICT (key) DO UPDATE SET sum = sum + excluded.sum RETURNING CAST(sum AS TEXT) AS value`
        return BigInt((one(sql, key, count.toString()) as Row).value)
      }),
  }
}
