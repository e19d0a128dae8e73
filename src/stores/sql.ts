import { GraupelError, reasonOf } from '../core/errors.js'
import type { Store, StoreEntry } from './store.js'

/** A store in a SQL database, whose tables have to be made once. */
export interface SqlStore extends Store {
  /** The statements that `setup()` runs. A user who may create tables can run them instead. */
  readonly ddl: string
  /** Makes the tables that are missing. Any number of processes may call it at once. */
  setup(): Promise<void>
}

/** A row of the table of records. A statement with a single result returns it as `value`. */
export interface Row {
  readonly key: string
  readonly value: string
  readonly version: string
}

/** Makes a plain object of a row. Rows of some clients have a class of their own, or no prototype. */
export function entryOf({ key, value, version }: Row): StoreEntry {
  return { key, value, version }
}

/**
 * Returns the first text after all keys of a folder, so that the index finds their range: in ASCII, '0'
 * follows '/'.
 */
export function endOf(folder: string): string {
  return `${folder.slice(0, -1)}0`
}

/** Quotes the name of a table in standard SQL. A name such as `order` needs the quotes. */
export function quoted(table: string): string {
  return `"${table}"`
}

/** Makes the error of a store whose tables are missing. */
export function noTable(store: string, ddl: string, cause: unknown): GraupelError {
  return new GraupelError(
    'ERR_STORE_UNAVAILABLE',
    `the store '${store}' has no table (${reasonOf(cause)}); await its setup() once, or run\n${ddl}`,
    { cause },
  )
}
