/** A record of a store. */
export interface StoreEntry {
  /** The key, with its folders. */
  readonly key: string
  /** The text that was written last. */
  readonly value: string
  /** Names this one write: no other write of the key, before or after, has the same. */
  readonly version: string
}

/**
 * A map of texts with compare-and-swap, which is all that leases and segments need of a database. `graupel/stores/NAME` makes one
 * from the client of a database that you have; `storeContract` of `graupel/stores/testing` tests one of your own.
 *
 * Keys are folders and a name, such as `leases/orders/12`, of printable ASCII and at most 255 characters; values are texts of at
 * most 4 096. A function that cannot do what it is asked rejects with an error of any kind: the caller tells from the record
 * whether a write has landed.
 *
 * @example
 * const store = memoryStore()
 * const version = await store.write('settings/first', 'one', undefined)
 * await store.write('settings/first', 'two', undefined) // undefined
 * const next = await store.write('settings/first', 'two', version)
 * next !== undefined // true
 */
export interface Store {
  /** The kind of store, for messages and metrics: `redis`. */
  readonly name: string
  /** Whether no write is ever lost that was acknowledged: false for asynchronous replication, and without syncs to the disk. */
  readonly durable: boolean
  /** The latest record of a key; `undefined` where there is none. Never an older one. */
  read(key: string, signal?: AbortSignal): Promise<StoreEntry | undefined>
  /** The records whose keys are a folder, which ends with `/`, and one name. May be older than the latest ones. */
  list(folder: string, signal?: AbortSignal): Promise<StoreEntry[]>
  /**
   * Writes a value if the key still has a version; `undefined` means that there is no such key. In one step: of two writes that
   * expect the same, one lands.
   *
   * @returns The new version, or `undefined` where the key had another one.
   */
  write(key: string, value: string, expected: string | undefined, signal?: AbortSignal): Promise<string | undefined>
  /** The time of the store's clock, in milliseconds since 1970. Required if `durable` is false. */
  nowMs?(signal?: AbortSignal): Promise<number>
  /** Names the life of the server: another text after each restart and failover. Needed where `durable` is false. */
  incarnation?(signal?: AbortSignal): Promise<string>
  /** Adds to a number that is 0 at first, in one step, and returns the sum. */
  add?(key: string, count: bigint, signal?: AbortSignal): Promise<bigint>
}

/** The options that every store takes beside its client. */
export interface StoreOptions {
  /**
   * Says that no write is ever lost that was acknowledged, or that one may be. Leases are then had without a wait, or with one.
   *
   * @default what is true for the database as it usually runs
   */
  assumeDurable?: boolean
}
