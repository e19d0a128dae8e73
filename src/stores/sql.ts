import { GraupelError, reasonOf } from '../core/errors.js'
import type { StoreEntry } from './store.js'

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
