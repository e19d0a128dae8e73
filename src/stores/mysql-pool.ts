import { GraupelError, show } from '../core/errors.js'
import { onAbort } from '../core/timing.js'
import { clientError, outliveErrors } from './options.js'

/** A pool of mysql2 with promises or callbacks, or a pool of mariadb with promises. */
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
  /** The last status of the connection, in mariadb. */
  readonly info?: { readonly status: number } | null
}
interface Question {
  readonly sql: string
  // biome-ignore lint/suspicious/noExplicitAny: the clients have types of their own for a column
  readonly typeCast: (column: any) => any
}

/** The result of a statement: rows of texts, or a change. */
export interface Answer {
  readonly rows: readonly (string | null)[][]
  readonly affectedRows: number
  /** The argument of LAST_INSERT_ID. */
  readonly insertId: bigint
}

/** The difference between the two clients. */
interface Dialect {
  /** Whether a connection is closed when its call is aborted. */
  readonly closesOnAbort: boolean
  /** Runs a statement. `status` is the server's status; a SELECT has none. */
  run(connection: Connection, question: Question): Promise<{ readonly result: unknown; readonly status: unknown }>
}

const mysql2: Dialect = {
  // The connection may be dead, and would hold a place of the pool for ever.
  closesOnAbort: true,
  async run(connection, question) {
    const [result] = (await connection.query(question)) as [unknown]
    return { result, status: Object(result).serverStatus }
  },
}

const mariadb: Dialect = {
  // To end the statement, the client would open another connection. If this connection breaks, a rejection
  // that nothing can catch ends the process (3.5.4).
  closesOnAbort: false,
  async run(connection, question) {
    const result = await connection.query(question)
    return { result, status: connection.info?.status }
  },
}

/** The first columns of every SELECT. They show whether the connection may be used. */
export const state = '@@autocommit, @@read_only, @@innodb_read_only'
const stateColumns = 3

/**
 * Flags of the server's status, which comes with every statement but SELECT: a transaction is open;
 * statements are committed.
 */
const inTransaction = 1
const autocommit = 2

// Made when it is first needed: jsdom has no TextDecoder, and all entries share the file of this module.
let decoder: InstanceType<typeof TextDecoder> | undefined

// Options of the pool must not change rows and numbers: each column is read from the bytes that the server
// has sent.
const plain = {
  rowsAsArray: true,
  nestTables: false,
  metaAsArray: false,
  namedPlaceholders: false,
  insertIdAsNumber: false,
  supportBigNumbers: false,
  typeCast(column: { buffer(): Uint8Array | null }) {
    const bytes = column.buffer()
    decoder ??= new TextDecoder('utf-8', { ignoreBOM: true })
    return bytes === null ? null : decoder.decode(bytes)
  },
}

/** Runs a statement on a connection, and refuses the answer if the connection must not be used. */
type Ask = (sql: string) => Promise<Answer>

/** The statements of a pool: each on a connection of its own, or several in one transaction. */
interface MysqlClient {
  /** @param verify - Throws if the connection must not be used. The connection is then closed. */
  ask(sql: string, signal?: AbortSignal, verify?: (answer: Answer) => void): Promise<Answer>
  /**
   * Runs `work` in a transaction, and commits it. After a failure or an abort it closes the connection, which
   * rolls the transaction back.
   */
  transact<T>(work: (ask: Ask) => Promise<T>, signal?: AbortSignal): Promise<T>
  /**
   * Runs a statement that would commit an open transaction, such as CREATE TABLE, on a connection that has
   * none.
   */
  define(sql: string): Promise<Answer>
}

/** Finds a transaction that was left open, which the next statement would commit. */
const beforeCommit = 'DO 0'

/**
 * Makes the statements of a pool. It closes a connection with an open transaction. This rolls the statement
 * back, which the next user of the connection might otherwise commit, and releases the locks.
 *
 * @param store - The name of the store, for messages.
 * @throws TypeError `ERR_OPTION_INVALID`
 */
export function clientOf(client: MysqlPool, store = "the store 'mysql'"): MysqlClient {
  const what = 'a pool of mysql2, or a pool of mariadb with promises'
  const given = client as Partial<CallbackPool & PromisePool & { batch: unknown }> | null | undefined
  const pool = typeof given?.promise === 'function' ? given.promise() : given
  // A pool of the package mysql, which knows no promises, has no execute().
  if (typeof pool?.getConnection !== 'function' || typeof pool.execute !== 'function') {
    throw clientError('MySQL', client, what)
  }
  outliveErrors(pool)
  const { getConnection } = pool as PromisePool
  const dialect = 'batch' in pool ? mariadb : mysql2

  /**
   * @param work - Gets a function that runs a statement, `isWithin` a transaction or not, and a function that
   * closes the connection.
   * @param verify - As in `ask`.
   */
  async function onConnection<T>(
    signal: AbortSignal | undefined,
    work: (ask: (sql: string, isWithin: boolean) => Promise<Answer>, abandon: () => void) => Promise<T>,
    verify?: (answer: Answer) => void,
  ): Promise<T> {
    signal?.throwIfAborted()
    const connection = await getConnection.call(pool)
    // The pool of mariadb/callback returns no promise.
    if (typeof connection?.query !== 'function') throw clientError('MySQL', client, what)
    let isUsable = true
    const abandon = () => {
      if (!isUsable) return
      isUsable = false
      connection.destroy()
    }
    // If the call was aborted meanwhile, the connection is unused and stays open.
    const cancel = onAbort(dialect.closesOnAbort && !signal?.aborted ? signal : undefined, abandon)
    try {
      return await work(async (sql, isWithin) => {
        signal?.throwIfAborted()
        const { result, status } = await dialect.run(connection, { sql, ...plain })
        try {
          const answer = Array.isArray(result) ? ofRows(result, store) : ofChange(result, status, isWithin)
          verify?.(answer)
          return answer
        } catch (error) {
          abandon()
          throw error
        }
      }, abandon)
    } finally {
      cancel()
      if (isUsable) await connection.release()
    }
  }

  return {
    ask: (sql, signal, verify) => onConnection(signal, (ask) => ask(sql, false), verify),
    transact: (work, signal) =>
      onConnection(signal, async (ask, abandon) => {
        await ask(beforeCommit, false)
        try {
          await ask('START TRANSACTION', true)
          const result = await work((sql) => ask(sql, true))
          // `completion_type` may let a plain COMMIT begin another transaction.
          await ask('COMMIT AND NO CHAIN NO RELEASE', false)
          return result
        } catch (error) {
          abandon()
          throw error
        }
      }),
    define: (sql) =>
      onConnection(undefined, async (ask) => {
        await ask(beforeCommit, false)
        return ask(sql, false)
      }),
  }
}

function ofRows(found: readonly (string | null)[][], store: string): Answer {
  if (found.length === 0)
    throw new Error("the client returned no row, but every SELECT of the store returns the server's state")
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

/** @param isWithin - Whether a transaction has to be open after the statement. Otherwise none may be open. */
function ofChange(result: unknown, status: unknown, isWithin: boolean): Answer {
  type Change = { affectedRows: number | string; insertId: number | string | bigint }
  const { affectedRows, insertId } = Object(result) as Change
  if (typeof status !== 'number') throw new Error(`the client answered ${show(result)}, without the server's status`)
  if ((status & autocommit) === 0) throw notCommitted('autocommit is off')
  const isOpen = (status & inTransaction) !== 0
  if (isOpen && !isWithin) throw notCommitted('a transaction was left open')
  if (isWithin && !isOpen) {
    throw new GraupelError(
      'ERR_STORE_UNSAFE',
      'a transaction that was begun is not open, so its statements are not committed together; remove the proxy that splits transactions',
    )
  }
  // The id is unsigned in the protocol, but mysql2 reads it as signed.
  return { rows: [], affectedRows: Number(affectedRows), insertId: BigInt.asIntN(64, BigInt(insertId)) }
}

/**
 * Whether a variable of the server is on. Variables are numbers, or words if they have more than two values.
 */
function isOn(value: string | null | undefined): boolean {
  return value !== '0' && value !== 'OFF'
}

function notCommitted(why: string): GraupelError {
  return new GraupelError(
    'ERR_STORE_UNSAFE',
    `${why} on a connection of the pool, so its writes are not kept, and its reads may be old; set autocommit = 1, and end every transaction before its connection is released`,
  )
}

/**
 * Writes a text as its bytes in SQL. A quoted text would depend on `sql_mode` and on the character set of the
 * connection, parameters on the options of the client.
 */
export function literal(text: string): string {
  const digits = Array.from(new TextEncoder().encode(text), (byte) => byte.toString(16).padStart(2, '0'))
  return `X'${digits.join('')}'`
}
