/** A record of a store. */
export interface StoreEntry {
  /** The key, with its folders. */
  readonly key: string
  /** The text that was written last. */
  readonly value: string
  /** Names the write: no other write of the key, before or after, has this version. */
  readonly version: string
  /** How the store knows that the record is not what was written, such as by a checksum. */
  readonly damage?: string
}

/**
 * A map of texts with compare-and-swap, which is all that leases and segments need of a database.
 * `graupel/stores/NAME` makes a store from the client of your database; `storeContract` of
 * `graupel/stores/testing` tests a store that you write.
 *
 * A key consists of folders and a name, such as `leases/orders/12`, in at most 255 characters of printable
 * ASCII. A value is a text of at most 4 096 characters.
 *
 * A call that fails rejects with an error of any kind. The caller then reads the record, and writes again
 * over its version: only an answered write counts, because a read may show a write that the store loses
 * later.
 *
 * @example
 * const store = memoryStore({ assumeOneProcess: true })
 * const version = await store.write('settings/first', 'one', undefined)
 * await store.write('settings/first', 'two', undefined) // undefined
 * const next = await store.write('settings/first', 'two', version)
 * next !== undefined // true
 */
export interface Store {
  /** The kind of store, for messages and metrics: `redis`. */
  readonly name: string
  /**
   * Whether acknowledged writes are never lost: false with asynchronous replication, and without syncs to the
   * disk.
   */
  readonly durable: boolean
  /** Reads the latest record of a key, never an older record; `undefined` if there is no record. */
  read(key: string, signal?: AbortSignal): Promise<StoreEntry | undefined>
  /**
   * Reads the records whose keys are a folder, which ends with `/`, and one name. They may be older than the
   * latest records.
   */
  list(folder: string, signal?: AbortSignal): Promise<StoreEntry[]>
  /**
   * Writes a value in one step, if the key still has the `expected` version; `undefined` expects that there
   * is no such key. If two writes expect the same version, only one write lands.
   *
   * @returns The new version, or `undefined` if the key has another version.
   */
  write(key: string, value: string, expected: string | undefined, signal?: AbortSignal): Promise<string | undefined>
  /**
   * Reads the store's clock, in milliseconds since 1970. If the store has several servers, `key` says which
   * server is asked: the one that has the key. Required if `durable` is false.
   */
  nowMs?(signal?: AbortSignal, key?: string): Promise<number>
  /**
   * Names the run of the server that has `key`: the text changes with each restart and failover. The keys of
   * a folder have to be on one server at any time, and to be lost together. Required if `durable` is false.
   */
  incarnation?(signal?: AbortSignal, key?: string): Promise<string>
  /** Describes where the records are, for people: the server, and the database, schema, table or prefix. */
  place?(signal?: AbortSignal): Promise<string>
  /** Says what an operator should change about the server, a sentence each. `graupel doctor` prints them. */
  advice?(signal?: AbortSignal): Promise<readonly string[]>
  /** Adds to a number that is 0 at first, in one step, and returns the sum. */
  add?(key: string, count: bigint, signal?: AbortSignal): Promise<bigint>
  /**
   * Removes a record in one step, if the key still has the `expected` version. For scratch records alone: a
   * node or a number whose record is removed is forgotten.
   *
   * @returns Whether the record was removed.
   */
  remove?(key: string, expected: string, signal?: AbortSignal): Promise<boolean>
}

/** A store in a database whose tables have to be made once. */
export interface TableStore extends Store {
  /** The statements that `setup()` runs. A user who may create tables can run them instead. */
  readonly ddl: string
  /** Makes the tables that are missing. Any number of processes may call it at once. */
  setup(): Promise<void>
}

/** The options that every store takes beside its client. */
export interface StoreOptions {
  /**
   * Asserts that acknowledged writes are never lost (`true`), or that they may be lost (`false`). A lease is
   * granted without a wait only if they are never lost.
   *
   * @default what is true for the database as it usually runs
   */
  assumeDurable?: boolean
}
