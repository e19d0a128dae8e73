import { GraupelError } from '../core/errors.js'

/**
 * Errors after which nothing was written, and the next attempt sees the write of the other transaction: a
 * deadlock; in MariaDB also a record that has changed since the snapshot of the transaction
 * (innodb_snapshot_isolation).
 */
export const rolledBack: readonly number[] = [1213, 1020]

/** The remedies if the table, or a right to it, is missing. */
interface Advice {
  readonly missingTable: string
  readonly missingRight: string
}

const noSuchTable = 1146
const deniedTable = [1142, 1143]
const wrongUser = "set the right user and password in the pool's options, and grant the user its database"
const wrongDatabase = "set the name of an existing database in the pool's options"
const readOnly = 'let the pool connect to the primary, also for reads'
const refusals: Readonly<Record<number, string>> = {
  1044: wrongUser,
  1045: wrongUser,
  1698: wrongUser,
  1046: wrongDatabase,
  1049: wrongDatabase,
  1290: readOnly,
  1836: readOnly,
}

/**
 * Whether a SELECT has failed because the table is missing, or because the user has no right to it. The
 * server does not tell such a user whether the table is there.
 */
export function isUnseen(error: unknown): boolean {
  const { errno } = toldBy(error)
  return errno === noSuchTable || deniedTable.includes(errno)
}

/** Explains an error that a user has to act on. Returns any other error unchanged. */
export function explained(error: unknown, store: string, { missingTable, missingRight }: Advice): unknown {
  const { errno, text } = toldBy(error)
  const advice = errno === noSuchTable ? missingTable : deniedTable.includes(errno) ? missingRight : refusals[errno]
  if (advice === undefined) return error
  const message = `${store} cannot be used (${text}); ${advice}`
  return new GraupelError('ERR_STORE_UNAVAILABLE', message, { cause: error })
}

/**
 * Reads the server's error. If the pool of mariadb gets no connection, its error has the server's error as
 * its cause. `message` of mariadb also contains the statement; `sqlMessage` does not.
 */
export function toldBy(error: unknown): { errno: number; text: string } {
  type Told = { errno?: number; sqlMessage?: string; message: string; cause?: Told }
  const { errno, sqlMessage, message, cause } = Object(error) as Told
  if (cause?.sqlMessage !== undefined) return toldBy(cause)
  return { errno: Number(errno), text: sqlMessage ?? message }
}
