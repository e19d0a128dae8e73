import { GraupelError, rangeError } from '../core/errors.js'
import { type Rows, readTable } from '../core/options.js'
import { flag } from '../core/readers.js'
import { explained, isUnseen, rolledBack, toldBy } from './mysql-errors.js'
import { type Answer, clientOf, literal, type MysqlPool, state } from './mysql-pool.js'
import { tableRow } from './options.js'
import { endOf, newVersion } from './record.js'
import { entryOf } from './sql.js'
import type { StoreEntry, StoreOptions, TableStore } from './store.js'

export type { MysqlPool } from './mysql-pool.js'

/** The options of {@link mysqlStore}. */
export interface MysqlStoreOptions extends StoreOptions {
  /** The name of the table in the pool's database. @default 'graupel_store' */
  table?: string
}

const rows = { assumeDurable: { read: flag, byDefault: false }, table: tableRow } satisfies Rows<MysqlStoreOptions>

const duplicateKey = 1062

/**
 * Microseconds between the two clocks of a session. `SET timestamp` stops the clock of `NOW()` and
 * `UTC_TIMESTAMP()` at a time of its own, but not the clock of `SYSDATE()`, which is local time.
 */
const stoppedFor = 'ABS(TIMESTAMPDIFF(MICROSECOND, NOW(6), SYSDATE(6)))'
const maxStoppedUs = 1_000_000

/**
 * A store in MySQL 8, or MariaDB 10.5 and later. Not durable: a failover to an asynchronous replica may lose
 * acknowledged writes. `assumeDurable: true` is right for one server with `innodb_flush_log_at_trx_commit =
 * 1`.
 *
 * Every call is one statement, and one transaction of any isolation level. Statements are sent as text and
 * need no session, so a pooler may stand between. All calls have to reach the primary; a server with
 * `read_only` is refused. The tables are in the pool's database. The user
 * needs SELECT, INSERT and UPDATE, and DELETE for `remove`.
 *
 * @param client - A pool of mysql2 (`mysql2/promise`, or with callbacks) or of mariadb. The store never
 * closes the pool. It closes a connection on which a transaction was left open, or a call of mysql2 was
 * aborted. If nobody listens to the event `error` of a mariadb pool, the store does: without a listener, a
 * broken connection ends the process. Give such a pool a `socketTimeout`, such as 10000 ms, to end dead
 * connections.
 * @param options - None is required; {@link MysqlStoreOptions} describes all.
 * @throws TypeError, RangeError `ERR_OPTION_INVALID`; TypeError `ERR_OPTION_UNKNOWN`. The store's functions
 * reject with the error of the client; with GraupelError `ERR_STORE_UNSAFE` if the connection has no
 * `autocommit` or an open transaction; and with GraupelError `ERR_STORE_UNAVAILABLE` if the server is
 * read-only, or if a right, the database or a table is missing. If the tables are missing, or `setup` may not
 * make them, the message has the statements. `add` rejects a count of more than 64 bits with RangeError
 * `ERR_OPTION_INVALID`.
 * @example
 * const pool = mysql.createPool(process.env.MYSQL_URL) // of mysql2/promise
 * const store = mysqlStore(pool)
 * await store.setup()
 * await store.write('settings/first', 'one', undefined)
 * const entry = await store.read('settings/first')
 * entry.value // 'one'
 * await pool.end()
 */
export function mysqlStore(client: MysqlPool, options: MysqlStoreOptions = {}): TableStore {
  const { table, assumeDurable } = readTable(options, rows, '{ assumeDurable: true }')
  const { ask, define } = clientOf(client)
  // Backticks, because double quotes enclose texts unless sql_mode has ANSI_QUOTES.
  const records = `\`${table}\``
  const sums = `\`${table}_sums\``
  // Keys are bytes, because collations treat some different texts as equal. LONGTEXT holds every value that a
  // statement can: without strict mode, MySQL cuts a value that is too long.
  const tables = [
    `CREATE TABLE IF NOT EXISTS ${records} (\`key\` VARBINARY(255) PRIMARY KEY, \`value\` LONGTEXT CHARACTER SET utf8mb4 NOT NULL, \`version\` VARBINARY(255) NOT NULL) ENGINE=InnoDB;`,
    `CREATE TABLE IF NOT EXISTS ${sums} (\`key\` VARBINARY(255) PRIMARY KEY, \`sum\` BIGINT NOT NULL) ENGINE=InnoDB;`,
  ]
  const ddl = tables.join('\n')
  const advice = {
    missingTable: `await its setup() once, or run\n${ddl}`,
    missingRight: 'grant the user SELECT, INSERT and UPDATE on the tables of the store, and DELETE for remove',
  }

  const run = async (signal: AbortSignal | undefined, sql: string, verify?: (answer: Answer) => void) => {
    for (;;) {
      try {
        return await ask(sql, signal, verify)
      } catch (error) {
        // The statement was rolled back, and the next attempt sees what the other transaction has written.
        if (!rolledBack.includes(toldBy(error).errno)) throw explained(error, "the store 'mysql'", advice)
      }
    }
  }
  const scalar = async (signal: AbortSignal | undefined, expression: string) =>
    (await run(signal, `SELECT ${state}, ${expression}`)).rows[0]?.[0] as string
  let home: string | undefined
  /**
   * Returns the name of a table with the database that the first call has found. A later connection may have
   * another database, after USE.
   */
  const at = async (name: string, signal: AbortSignal | undefined) => {
    const database = home ?? ((await scalar(signal, 'DATABASE()')) as string | null)
    home ??= database ?? undefined
    // Without a database, the server refuses the statement.
    return home === undefined ? name : `\`${home.replaceAll('`', '``')}\`.${name}`
  }
  /** Selects records. There is always a row, so the server's state is always known. */
  const select = async (signal: AbortSignal | undefined, where: string, lock = ''): Promise<StoreEntry[]> => {
    const columns = '`key`, CAST(`value` AS BINARY), `version`'
    const { rows } = await run(
      signal,
      `SELECT ${state}, ${columns} FROM (SELECT 1) AS one LEFT JOIN ${await at(records, signal)} ON ${where}${lock}`,
    )
    return rows.flatMap(([key, value, version]) =>
      typeof key === 'string' ? [entryOf({ key, value: value as string, version: version as string })] : [],
    )
  }
  const isThere = async (name: string) => {
    try {
      await run(undefined, `SELECT ${state} FROM (SELECT 1) AS one LEFT JOIN ${name} ON FALSE`)
      return true
    } catch (error) {
      // The error of the client is the cause of the error that explains it.
      if (isUnseen((error as Error).cause)) return false
      throw error
    }
  }

  return {
    name: 'mysql',
    durable: assumeDurable,
    ddl,
    async setup() {
      for (const [i, name] of [records, sums].entries()) {
        // Checked first, because a user who may not create tables is refused even if the table exists.
        if (await isThere(name)) continue
        try {
          await define(tables[i] as string)
        } catch (error) {
          if (error instanceof GraupelError) throw error
          throw new GraupelError(
            'ERR_STORE_UNAVAILABLE',
            `setup() of the store 'mysql' failed (${toldBy(error).text}); let a user who may create tables run\n${ddl}`,
            { cause: error },
          )
        }
      }
    },
    async read(key, signal) {
      // A read with a lock gives the latest committed record, even under READ UNCOMMITTED and in an open
      // transaction.
      return (await select(signal, `\`key\` = ${literal(key)}`, ' LOCK IN SHARE MODE'))[0]
    },
    async list(folder, signal) {
      const range = `\`key\` >= ${literal(folder)} AND \`key\` < ${literal(endOf(folder))}`
      return select(signal, `${range} AND LOCATE('/', \`key\`, ${folder.length + 1}) = 0`)
    },
    async write(key, value, expected, signal) {
      const version = newVersion()
      const text = `CONVERT(${literal(value)} USING utf8mb4)`
      if (expected === undefined) {
        try {
          const columns = '(`key`, `value`, `version`)'
          await run(
            signal,
            `INSERT INTO ${await at(records, signal)} ${columns} VALUES (${literal(key)}, ${text}, ${literal(version)})`,
          )
          return version
        } catch (error) {
          if (toldBy(error).errno === duplicateKey) return undefined
          throw error
        }
      }
      // 1 whether the client counts found or changed records, because the version always changes.
      const { affectedRows } = await run(
        signal,
        `UPDATE ${await at(records, signal)} SET \`value\` = ${text}, \`version\` = ${literal(version)} WHERE \`key\` = ${literal(key)} AND \`version\` = ${literal(expected)}`,
      )
      return affectedRows === 1 ? version : undefined
    },
    async remove(key, expected, signal) {
      const { affectedRows } = await run(
        signal,
        `DELETE FROM ${await at(records, signal)} WHERE \`key\` = ${literal(key)} AND \`version\` = ${literal(expected)}`,
      )
      return affectedRows === 1
    },
    async nowMs(signal) {
      // In UTC, because local time is ambiguous when summer time ends.
      const since = "TIMESTAMPDIFF(MICROSECOND, TIMESTAMP'1970-01-01 00:00:00', UTC_TIMESTAMP(6))"
      const { rows } = await run(signal, `SELECT ${state}, ${since} DIV 1000, ${stoppedFor}`, ({ rows }) => {
        if (!(Number(rows[0]?.[1]) < maxStoppedUs)) throw stopped()
      })
      return Number(rows[0]?.[0])
    },
    incarnation(signal) {
      // The upper bits of UUID_SHORT() have the second of the server's start; `now - Uptime` would vary by
      // one. The end of UUID() is drawn at the start, and tells two starts within a second apart. Replicas
      // differ by server_id.
      return scalar(signal, "CONCAT_WS(' ', @@hostname, @@port, @@server_id, UUID_SHORT() >> 24, SUBSTR(UUID(), 20))")
    },
    async place(signal) {
      await at(records, signal)
      const server = "'server ', @@hostname, ':', @@port, ' (server_id ', @@server_id"
      const database = home === undefined ? "'none'" : `CONVERT(${literal(home)} USING utf8mb4)`
      return scalar(signal, `CONCAT(${server}, '), database ', ${database}, ', table ${table}')`)
    },
    async add(key, count, signal) {
      if (BigInt.asIntN(64, count) !== count) {
        throw rangeError('ERR_OPTION_INVALID', `the count is ${count}; pass a signed integer of at most 64 bits`)
      }
      // The reply has the argument of LAST_INSERT_ID(). Its result is unsigned: a negative sum would not fit
      // the column without CAST.
      const sum = (expression: string) => `CAST(LAST_INSERT_ID(${expression}) AS SIGNED)`
      const added = `CAST('${count}' AS SIGNED)`
      const { insertId } = await run(
        signal,
        `INSERT INTO ${await at(sums, signal)} (\`key\`, \`sum\`) VALUES (${literal(key)}, ${sum(added)}) ON DUPLICATE KEY UPDATE \`sum\` = ${sum(`\`sum\` + ${added}`)}`,
      )
      return insertId
    },
  }
}

function stopped(): GraupelError {
  return new GraupelError(
    'ERR_STORE_UNSAFE',
    'the clock of a connection of the pool was set by SET timestamp, so ceilings would depend on it; run SET timestamp = DEFAULT before the connection is released',
  )
}
