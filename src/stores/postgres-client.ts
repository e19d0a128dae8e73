import { GraupelError } from '../core/errors.js'
import { clientError, outliveErrors } from './options.js'

/**
 * A `Pool` or a connected `Client` of pg, or the result of `postgres()` of postgres.js. A `Client` that is
 * not connected queues all calls.
 */
export type PostgresClient = PgPool | PgClient | PostgresJsClient

interface PgClient {
  query(text: string): Promise<{ rows: unknown[] }>
}
interface PgPool extends PgClient {
  readonly totalCount: number
  connect(done: (error: Error | undefined, connection: PgConnection) => void): unknown
}
interface PgConnection extends PgClient {
  on(event: 'error', listener: () => void): unknown
  removeListener(event: 'error', listener: () => void): unknown
  release(isClosed: boolean): void
}
interface PostgresJsClient {
  unsafe(text: string, values: string[], options: object): PromiseLike<unknown>
}

/** A row whose columns are texts. */
export type TextRow = Readonly<Record<string, string | null>>

/** The statements of a client. Each is sent alone, as one message of text. */
interface PostgresStatements {
  /**
   * Runs a statement that returns the column {@link own} in each row, and at least one row.
   *
   * @param signal - If it is aborted while the call waits for a connection of a pool of pg, nothing is sent.
   * @throws GraupelError `ERR_STORE_UNSAFE` if a transaction was open; the errors of the client; the reason
   * of the signal.
   */
  ask(text: string, signal?: AbortSignal): Promise<TextRow[]>
  /** Runs a statement without rows, such as CREATE TABLE. @throws the errors of the client */
  execute(text: string): Promise<void>
}

/**
 * Whether the statement is its own transaction, and not a part of a transaction that was left open. The two
 * times are those of the messages that began the transaction and the statement, in microseconds. A statement
 * with parameters has several messages, so it would never be its own transaction.
 */
export const isOwn = 'transaction_timestamp() = statement_timestamp()'

/** The column that shows it. */
export const own = `(${isOwn})::text AS own`

/**
 * Makes the statements of a client. A pool of pg closes a connection with an open transaction, which rolls
 * the transaction back. postgres.js has no call that closes one connection.
 *
 * @throws TypeError `ERR_OPTION_INVALID`
 */
export function statementsOf(client: PostgresClient): PostgresStatements {
  const run = runOf(client)
  return {
    ask: (text, signal) => run(text, checked, signal),
    execute: (text) => run(text, () => {}),
  }
}

/**
 * An option of postgres.js that its README does not have: sends no other statement before the answer to this
 * one. Behind PgBouncer 1.18, a statement with parameters that is sent before that answer gets none, and its
 * connection hangs.
 */
const alone = { onexecute: () => false }

/** Runs a statement, and passes its rows to `check` before its connection is used again. */
type Run = <T>(text: string, check: (rows: readonly unknown[]) => T, signal?: AbortSignal) => Promise<T>

function runOf(client: PostgresClient): Run {
  const of = client as Partial<PgPool & PostgresJsClient> | undefined
  // postgres.js has no query(), and is a function.
  if (typeof of?.unsafe === 'function') {
    const sql = client as PostgresJsClient
    return async (text, check) => check([...((await sql.unsafe(text, [], alone)) as Iterable<unknown>)])
  }
  if (typeof of?.query !== 'function') {
    throw clientError('PostgreSQL', client, 'a Pool of pg, or the result of postgres() of postgres.js')
  }
  // A Client has a connect() as well, which returns no connection.
  if (typeof of.connect === 'function' && typeof of.totalCount === 'number') {
    outliveErrors(client)
    return (text, check, signal) => onConnection(client as PgPool, text, check, signal)
  }
  return async (text, check) => check((await (client as PgClient).query(text)).rows)
}

/** Does what the query() of a pool does, and also closes a connection whose rows are refused. */
async function onConnection<T>(
  pool: PgPool,
  text: string,
  check: (rows: readonly unknown[]) => T,
  signal: AbortSignal | undefined,
): Promise<T> {
  // The failed query reports that the connection has ended. Without a listener, the event would end the
  // process.
  const ignore = () => {}
  // By a callback, because a server may send its last error together with the greeting. A promise would run
  // its reaction after that error, when the connection still has no listener.
  const connection = await new Promise<PgConnection>((resolve, reject) => {
    pool.connect((error, given) => {
      if (error) return reject(error)
      given.on('error', ignore)
      resolve(given)
    })
  })
  let isClosed = false
  try {
    // If the call was aborted meanwhile, the connection is unused and stays open.
    signal?.throwIfAborted()
    isClosed = true
    const result = check((await connection.query(text)).rows)
    isClosed = false
    return result
  } finally {
    connection.removeListener('error', ignore)
    connection.release(isClosed)
  }
}

function checked(rows: readonly unknown[]): TextRow[] {
  const [first] = rows as readonly (TextRow | undefined)[]
  if (first === undefined) throw new Error('the client returned no row, but every statement of the store returns a row')
  if (first.own === 'true') return rows as TextRow[]
  throw new GraupelError(
    'ERR_STORE_UNSAFE',
    'a transaction was left open on a connection of the pool, so its writes are not kept, and its reads may be old; end every transaction before its connection is released, and pass a client that sends a statement without parameters as one text',
  )
}

/**
 * Writes a text as its bytes in SQL. A quoted text would depend on `standard_conforming_strings` and
 * `client_encoding` of the connection.
 */
export function literal(text: string): string {
  const digits = Array.from(new TextEncoder().encode(text), (byte) => byte.toString(16).padStart(2, '0'))
  return `convert_from(decode('${digits.join('')}', 'hex'), 'UTF8')`
}
