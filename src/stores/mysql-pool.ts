import { GraupelError, show } from '../core/errors.js'
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
interface Answer {
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

const decoder = /* @__PURE__ */ new TextDecoder('utf-8', { ignoreBOM: true })

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

/** Runs a statement on a connection, and refuses its answer where the connection must not be used. */
type Ask = (sql: string) => Promise<Answer>

/** How a pool runs statements: each on a connection of its own, or all that belong together in one transaction. */
interface MysqlClient {
  ask(sql: string, signal?: AbortSignal): Promise<Answer>
  /**
   * Commits what `work` has done once it has ended well. Where that is not known, because anything before or of it has failed or was
   * aborted, the connection is closed, which takes back what was not committed.
   */
  transact<T>(work: (ask: Ask) => Promise<T>, signal?: AbortSignal): Promise<T>
}

/**
 * The statements of a pool. A connection that has a transaction open is closed: that takes back what the statement has changed, which
 * would else be kept, or not, by what runs there next, and it frees the records that are locked.
 *
 * @param store - What messages call the store.
 * @throws TypeError `ERR_OPTION_INVALID`
 */
export function clientOf(client: MysqlPool, store = "the store 'mysql'"): MysqlClient {
  const what = 'a pool of mysql2, or one with promises of mariadb'
  const given = client as Partial<CallbackPool & PromisePool & { batch: unknown }> | null | undefined
  const pool = typeof given?.promise === 'function' ? given.promise() : given
  // Those of the package mysql, which knows no promises, have no execute().
  if (typeof pool?.getConnection !== 'function' || typeof pool.execute !== 'function') {
    throw clientError('MySQL', client, what)
  }
  const { getConnection } = pool as PromisePool
  const isMariadb = 'batch' in pool

  /** @param work - Is given how to run a statement, which leaves a transaction open or none, and how to close the connection. */
  async function onConnection<T>(
    signal: AbortSignal | undefined,
    work: (ask: (sql: string, isWithin: boolean) => Promise<Answer>, abandon: () => void) => Promise<T>,
  ): Promise<T> {
    signal?.throwIfAborted()
    const connection = await getConnection.call(pool)
    // That of mariadb/callback has promised nothing.
    if (typeof connection?.query !== 'function') throw clientError('MySQL', client, what)
    let isUsable = true
    const abandon = () => {
      if (!isUsable) return
      isUsable = false
      connection.destroy()
    }
    try {
      // The connection may be dead for ever, and hold a place of the pool. That of mariadb would make another one to end the
      // statement, and where that one breaks, too, the process ends by a rejection that nothing can catch (3.5.4).
      if (!isMariadb) signal?.addEventListener('abort', abandon)
      return await work(async (sql, isWithin) => {
        signal?.throwIfAborted()
        const found = await connection.query({ sql, ...plain })
        const result = isMariadb ? found : (found as unknown[])[0]
        try {
          return Array.isArray(result) ? ofRows(result, store) : ofChange(result, connection, isWithin)
        } catch (error) {
          abandon()
          throw error
        }
      }, abandon)
    } finally {
      signal?.removeEventListener('abort', abandon)
      if (isUsable) await connection.release()
    }
  }

  return {
    ask: (sql, signal) => onConnection(signal, (ask) => ask(sql, false)),
    transact: (work, signal) =>
      onConnection(signal, async (ask, abandon) => {
        // A transaction that was left open is found out here, where START TRANSACTION would commit it.
        await ask('DO 0', false)
        try {
          await ask('START TRANSACTION', true)
          const result = await work((sql) => ask(sql, true))
          // In full, because `completion_type` may say that a COMMIT begins another transaction.
          await ask('COMMIT AND NO CHAIN NO RELEASE', false)
          return result
        } catch (error) {
          abandon()
          throw error
        }
      }),
  }
}

function ofRows(found: readonly (string | null)[][], store: string): Answer {
  if (found.length === 0) throw new Error("the client answered no row, where the server's state has to be")
  const [commits, ...readOnly] = (found[0] as (string | null)[]).slice(0, stateColumns)
  if (!isOn(commits)) throw notCommitted('autocommit is off')
  if (readOnly.some(isOn)) {
    throw new GraupelError(
      'ERR_STORE_UNAVAILABLE',
      `the server of ${store} is read-only, as replicas are, and its rows may be old; let the pool connect to the primary, also for reads`,
    )
  }
  return { rows: found.map((row) => row.slice(stateColumns)), affectedRows: 0, insertId: 0n }
}

/** @param isWithin - Whether a transaction has to be open behind it; none may be, else. */
function ofChange(result: unknown, { info }: Connection, isWithin: boolean): Answer {
  type Change = { affectedRows: number | string; insertId: number | string | bigint; serverStatus?: number }
  const { affectedRows, insertId, serverStatus = info?.status } = Object(result) as Change
  if (typeof serverStatus !== 'number')
    throw new Error(`the client answered ${show(result)}, without the server's status`)
  if ((serverStatus & autocommit) === 0) throw notCommitted('autocommit is off')
  const isOpen = (serverStatus & inTransaction) !== 0
  if (isOpen && !isWithin) throw notCommitted('a transaction was left open')
  if (isWithin && !isOpen) {
    throw new GraupelError(
      'ERR_STORE_UNSAFE',
      'a transaction that was begun is not open, so its statements are committed one by one, or not at all; let nothing between the pool and its server take transactions apart',
    )
  }
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

/**
 * A text as SQL has its bytes: what ends a quoted one depends on `sql_mode`, what its letters mean on the connection's character
 * set, and parameters on the options of clients.
 */
export function literal(text: string): string {
  const digits = Array.from(new TextEncoder().encode(text), (byte) => byte.toString(16).padStart(2, '0'))
  return `X'${digits.join('')}'`
}
