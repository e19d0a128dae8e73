import { GraupelError } from '../core/errors.js'
import type { Store, StoreEntry } from './store.js'

/** A store in a SQL database, whose tables have to be made once. */
export interface SqlStore extends Store {
  /** The statements that `setup()` runs. A user who may create tables can run them in its place. */
  readonly ddl: string
  /** Makes the tables where they are not there. Any number of processes may call it at once. */
  setup(): Promise<void>
}

/** A row of the records; statements with another result have it as `value`. */
export interface Row {
  readonly key: string
  readonly value: string
  readonly version: string
}

/** A plain object of the three: clients give rows of their own classes, or without a prototype. */
export function entryOf({ key, value, version }: Row): StoreEntry {
  return { key, value, version }
}

/** The first key behind those of a folder: keys are ASCII, where '0' follows '/'. The index finds the range between the two. */
export function endOf(folder: string): string {
  return `${folder.slice(0, -1)}0`
}

/** A table's name as it stands in SQL, which is the same in all of them: a word such as `order` needs the quotes. */
export function quoted(table: string): string {
  return `"${table}"`
}

/** The error where the tables are not there. */
export function noTable(store: string, ddl: string, cause: unknown): GraupelError {
  return new GraupelError(
    'ERR_STORE_UNAVAILABLE',
    `the store '${store}' has no table (${(cause as Error).message}); await its setup() once, or run\n${ddl}`,
    { cause },
  )
}
