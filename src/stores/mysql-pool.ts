import { GraupelError, show } from '../errors.js'
import { clientError } from './options.js'

/** A pool of mysql2, with promises or callbacks, or one of mariadb, with promises. */
export type MysqlPool = PromisePool | CallbackPool

interface PromisePool {
  getConnection(): Promise<Connection>
  execute(...words: never): unknown
}
interface CallbackPool {
  /** The same pool with promises, as mysql2 has it. */
  promise(): PromisePool
}
interface Connection {
  query(question: Question): Promise<unknown>
  release(): unknown
  destroy(): void
  /** What the server has last said of the connection, which mariadb keeps here. */
  readonly info?: { readonly status: number } | null
}
interface Question {
  readonly sql: string
  // biome-ignore lint/suspicious/noExplicitAny: the clients have types of their own for a column
  readonly typeCast: (column: any) => any
}

/** What a statement comes to: rows of texts, or what was changed. */
export interface Answer {
  readonly rows: readonly (string | null)[][]
  readonly affectedRows: number
  /** What LAST_INSERT_ID was given. */
  readonly insertId: bigint
}

/** Every SELECT begins with these three, by which a connection is refused that must not be used. */
export const state = '@@autocommit, @@read_only, @@innodb_read_only'
const stateColumns = 3

/** Flags of the server's status, which comes with each statement but SELECT: a transaction is open; each statement is committed. */
const inTransaction = 1
const autocommit = 2

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

// What pools are told of rows and numbers must not reach the store: each column is taken as the bytes that the server has sent.
const plain = {
  rowsAsArray: true,
  nestTables: false,
  metaAsArray: false,
  namedPlaceholders: false,
  insertIdAsNumber: false,
  supportBigNumbers: false,
  typeCast(column: { buffer(): Uint8Array | null }) {
    const bytes = column.buffer()
    return bytes === null ? null : decoder.decode(bytes)
  },
}

/**
 * How a pool runs a statement, each on a connection of its own. One that has a transaction open is closed: that takes back what
 * the statement has changed, which would else be kept, or not, by what runs there next, and it frees the records that are locked.
 *
 * @throws TypeError `ERR_OPTION_INVALID`
 */
export function askOf(client: MysqlPool): (sql: string, signal?: AbortSignal) => Promise<Answer> {
  const what = 'a pool of mysql2, or one with promises of mariadb'
  const given = client as Partial<CallbackPool & PromisePool & { batch: unknown }> | null | undefined
  const pool = typeof given?.promise === 'function' ? given.promise() : given
  // Those of the package mysql, which knows no promises, have no execute().
  if (typeof pool?.getConnection !== 'function' || typeof pool.execute !== 'function') {
    throw clientError('MySQL', client, what)
  }
  const { getConnection } = pool as PromisePool
  const isMariadb = 'batch' in pool
  return async (sql, signal) => {
    signal?.throwIfAborted()
    const connection = await getConnection.call(pool)
    // That of mariadb/callback has promised nothing.
    if (typeof connection?.query !== 'function') throw clientError('MySQL', client, what)
    let isUsable = true
    const abandon = () => {
      isUsable = false
      connection.destroy()
    }
    try {
      signal?.throwIfAborted()
      // The connection may be dead for ever, and hold a place of the pool. That of mariadb would make another one to end the
      // statement, and where that one breaks, too, the process ends by a rejection that nothing can catch (3.5.4).
      if (!isMariadb) signal?.addEventListener('abort', abandon)
      const found = await connection.query({ sql, ...plain })
      const result = isMariadb ? found : (found as unknown[])[0]
      try {
        return Array.isArray(result) ? ofRows(result) : ofChange(result, connection)
      } catch (error) {
        abandon()
        throw error
      }
    } finally {
      signal?.removeEventListener('abort', abandon)
      if (isUsable) await connection.release()
    }
  }
}

function ofRows(found: readonly (string | null)[][]): Answer {
  if (found.length === 0) throw new Error("the client answered no row, where the server's state has to be")
  const [commits, ...readOnly] = (found[0] as (string | null)[]).slice(0, stateColumns)
  if (!isOn(commits)) throw notCommitted('autocommit is off')
  if (readOnly.some(isOn)) {
    throw new GraupelError(
      'ERR_STORE_UNAVAILABLE',
      "the server of the store 'mysql' is read-only, as replicas are, and what it has may be old; let the pool connect to the primary, for what is read, too",
    )
  }
  return { rows: found.map((row) => row.slice(stateColumns)), affectedRows: 0, insertId: 0n }
}

function ofChange(result: unknown, { info }: Connection): Answer {
  type Change = { affectedRows: number | string; insertId: number | string | bigint; serverStatus?: number }
  const { affectedRows, insertId, serverStatus = info?.status } = Object(result) as Change
  if (typeof serverStatus !== 'number')
    throw new Error(`the client answered ${show(result)}, without the server's status`)
  if ((serverStatus & autocommit) === 0) throw notCommitted('autocommit is off')
  if ((serverStatus & inTransaction) !== 0) throw notCommitted('a transaction was left open')
  // The protocol has it without a sign, and mysql2 takes it for one with it.
  return { rows: [], affectedRows: Number(affectedRows), insertId: BigInt.asIntN(64, BigInt(insertId)) }
}

/** Variables are numbers, or words where they have more than two values. */
function isOn(value: string | null | undefined): boolean {
  return value !== '0' && value !== 'OFF'
}

function notCommitted(why: string): GraupelError {
  return new GraupelError(
    'ERR_STORE_UNSAFE',
    `${why} on a connection of the pool, so nothing that it writes is kept, and what it reads may be old; set autocommit = 1, and end every transaction before its connection is released`,
  )
}
