import { GraupelError, rangeError, show } from '../core/errors.js'
import { type Rows, readRow, readTable } from '../core/options.js'
import { text, whole } from '../core/readers.js'
import { untilAborted } from '../core/timing.js'
import { explained, rolledBack, toldBy } from './mysql-errors.js'
import { clientOf, literal, type MysqlPool, state } from './mysql-pool.js'
import { leafTableRow } from './options.js'

/** The options of {@link leafAllocStore}. */
export interface LeafAllocOptions {
  /** The name of the table, in the database of the pool. @default 'leaf_alloc' */
  table?: string
}

const rows = { table: leafTableRow } satisfies Rows<LeafAllocOptions>

/** Segments of numbers from the table of Leaf, as {@link leafAllocStore} returns them. */
export interface LeafAllocStore {
  /** The kind of store, for messages. */
  readonly name: 'leaf_alloc'
  /**
   * Takes the next `count` numbers of a row, from `first` on. A call that rejects may have taken numbers,
   * which are then skipped.
   *
   * @param tag - The row's `biz_tag`, of 1 to 128 characters. Upper and lower case differ, whatever the
   * column's collation.
   * @param count - How many, from 1 to 2^53 - 1; `undefined` for the `step` of the row.
   * @param signal - Cancels the call, which rejects with the signal's reason at once.
   */
  takeSegment(tag: string, count?: number, signal?: AbortSignal): Promise<{ first: bigint; count: number }>
}

const maxTagLength = 128
/** Numbers end at 2^63 - 1, and `max_id` is one more than the last. */
const maxMaxId = 0x8000_0000_0000_0000n
/** The sum does not fit the column, or 64 bits. */
const outOfRange = [1264, 1690]
/** The column's character set does not have the letters of the tag. */
const notComparable = 1267

/**
 * Segments from the table `leaf_alloc` of Leaf in MySQL or MariaDB, by the statements of Leaf. Leaf and
 * graupel may take numbers of one `biz_tag` at the same time: `max_id` grows by a step, and the numbers from
 * the old `max_id` up to the new `max_id` - 1 are taken.
 *
 * Each call is one transaction on one connection. If the outcome of its COMMIT is not known, the call
 * rejects, and its numbers are skipped. As with Leaf, numbers repeat after a failover that forgets committed
 * writes.
 *
 * The table needs an engine with transactions, such as InnoDB, and `max_id` has to be a BIGINT, which is
 * checked once. A user needs SELECT and UPDATE on the table.
 *
 * @param client - As for `mysqlStore`: a pool of mysql2 or of mariadb, which is never closed. A connection is
 * closed if its transaction was not committed.
 * @param options - None is required; {@link LeafAllocOptions} describes all.
 * @throws TypeError, RangeError `ERR_OPTION_INVALID`; TypeError `ERR_OPTION_UNKNOWN`. `takeSegment` rejects
 * with the client's errors; with RangeError `ERR_OPTION_INVALID` if there is no such row, and
 * `ERR_SEGMENT_OVERFLOW` if too few numbers are left; with GraupelError `ERR_STORE_INVALID` if the row has no
 * usable `step` or `max_id`; `ERR_STORE_UNSAFE` on a table without transactions, or a connection without
 * `autocommit`; and `ERR_STORE_UNAVAILABLE` if the server is read-only, or a right or the table is missing.
 * @example
 * const pool = mysql.createPool(process.env.MYSQL_URL) // of mysql2/promise
 * const numbers = await createSegmentGenerator({ store: leafAllocStore(pool), name: 'orders' })
 * numbers.next() >= 0n // true
 * numbers.close()
 * await pool.end()
 */
export function leafAllocStore(client: MysqlPool, options: LeafAllocOptions = {}): LeafAllocStore {
  const { table } = readTable(options, rows, "{ table: 'leaf_alloc' }")
  const what = `the table '${table}' of Leaf`
  const { ask, transact } = clientOf(client, what)
  const advice = {
    missingTable: "set the table's name, and its database in the pool's options",
    missingRight: 'grant the user SELECT and UPDATE on it',
  }
  let home: string | undefined

  /**
   * Checks the table once. Returns its name with the database that the first call has found. A later
   * connection may have another database, after USE.
   */
  async function checkedTable(signal: AbortSignal | undefined): Promise<string> {
    if (home !== undefined) return home
    const ofTable = (name: string) => `${name}.table_schema = DATABASE() AND ${name}.table_name = '${table}'`
    const { rows } = await ask(
      `SELECT ${state}, t.table_name, t.engine, e.transactions, c.data_type, DATABASE() FROM (SELECT 1) AS one LEFT JOIN information_schema.tables AS t ON ${ofTable('t')} LEFT JOIN information_schema.engines AS e ON e.engine = t.engine LEFT JOIN information_schema.columns AS c ON ${ofTable('c')} AND c.column_name = 'max_id'`,
      signal,
    )
    const [name, engine, transactions, type, database] = rows[0] as (string | null)[]
    if (name === null) {
      const text = `${what} is not in the database of the pool, or its user may not see it; ${advice.missingTable}`
      throw new GraupelError('ERR_STORE_UNAVAILABLE', text)
    }
    if (transactions !== 'YES') {
      const found = engine === null ? 'no table of its own' : `of the engine ${engine}, which has no transactions`
      throw new GraupelError(
        'ERR_STORE_UNSAFE',
        `${what} is ${found}, so two processes may take the same numbers; make it one of InnoDB: ALTER TABLE ${table} ENGINE=InnoDB`,
      )
    }
    // In a column of another type, without strict mode, a sum that is too large becomes the type's largest
    // number again and again.
    if (type !== 'bigint') {
      throw new GraupelError(
        'ERR_STORE_INVALID',
        `max_id of ${what} is of the type ${type}; change it: ALTER TABLE ${table} MODIFY max_id BIGINT NOT NULL DEFAULT 1`,
      )
    }
    home ??= `\`${(database as string).replaceAll('`', '``')}\`.\`${table}\``
    return home
  }

  function noRow(tag: string): RangeError {
    return rangeError(
      'ERR_OPTION_INVALID',
      `${what} has no row with the biz_tag ${show(tag)}; insert a row, such as\nINSERT INTO ${table} (biz_tag, max_id, step) VALUES ('${tag.replaceAll("'", "''")}', 1, 2000)`,
    )
  }

  /** Reads the row after the UPDATE. The row is locked, so nothing has changed it since. */
  function segmentOf(rows: readonly (string | null)[][], tag: string, given: number | undefined) {
    if (rows.length > 1) {
      throw invalid(`${what} has ${rows.length} rows with the biz_tag ${show(tag)}; make biz_tag its primary key`)
    }
    const [found, maxId, step] = rows[0] as (string | null)[]
    if (typeof found !== 'string') throw noRow(tag)
    const count = given ?? Number(step)
    if (!Number.isSafeInteger(count) || count < 1) {
      throw invalid(`${what} has the step ${step} for the biz_tag ${show(tag)}; set a step from 1 to 2^53 - 1`)
    }
    // If a column is NULL, the sum is NULL as well.
    if (typeof maxId !== 'string') {
      throw invalid(`${what} has no max_id for the biz_tag ${show(tag)}; set max_id to 0 or more`)
    }
    const end = BigInt(maxId)
    const first = end - BigInt(count)
    if (first < 0n) {
      throw invalid(`${what} has the max_id ${first} for the biz_tag ${show(tag)}; set max_id to 0 or more`)
    }
    if (end > maxMaxId) throw overflow(what, tag)
    return { first, count }
  }

  async function take(tag: string, count: number | undefined, signal: AbortSignal | undefined) {
    // The first comparison uses the index, and the column's collation, in which `orders` may equal `ORDERS`.
    // The second one compares the bytes, because Leaf looks a key up in memory, where only equal texts are
    // equal.
    const text = literal(tag)
    const where = `biz_tag = _utf8mb4 ${text} AND CAST(CONVERT(biz_tag USING utf8mb4) AS BINARY) = ${text}`
    for (;;) {
      try {
        const at = await checkedTable(signal)
        return await transact(async (run) => {
          const { affectedRows } = await run(`UPDATE ${at} SET max_id = max_id + ${count ?? 'step'} WHERE ${where}`)
          const columns = 'biz_tag, max_id, step'
          const { rows } = await run(`SELECT ${state}, ${columns} FROM (SELECT 1) AS one LEFT JOIN ${at} ON ${where}`)
          const segment = segmentOf(rows, tag, count)
          if (affectedRows > 0) return segment
          throw new GraupelError(
            'ERR_STORE_UNAVAILABLE',
            `${what} got its row with the biz_tag ${show(tag)} at this moment; try again`,
          )
        }, signal)
      } catch (error) {
        const { errno } = toldBy(error)
        if (rolledBack.includes(errno)) continue
        if (errno === notComparable) throw noRow(tag)
        throw outOfRange.includes(errno) ? overflow(what, tag, error) : explained(error, what, advice)
      }
    }
  }

  return {
    name: 'leaf_alloc',
    async takeSegment(tag, count, signal) {
      readRow('biz_tag', tag, { read: text, most: maxTagLength, isRequired: true })
      readRow('count', count, { read: whole, least: 1 })
      // Clients do not end a call when the signal is aborted.
      return untilAborted(take(tag, count, signal), signal)
    },
  }
}

function invalid(text: string): GraupelError {
  return new GraupelError('ERR_STORE_INVALID', text)
}

function overflow(what: string, tag: string, cause?: unknown): RangeError {
  const text = `max_id of ${what} cannot grow by the step for the biz_tag ${show(tag)}: numbers end at 2^63 - 1; use another biz_tag`
  return Object.assign(rangeError('ERR_SEGMENT_OVERFLOW', text), cause !== undefined && { cause })
}
