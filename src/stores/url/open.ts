import { platform } from '#platform'
import { GraupelError, isGraupelError, rangeError, reasonOf, typeError } from '../../core/errors.js'
import { type Resolved, type Rows, readTable } from '../../core/options.js'
import { showNoUrl } from '../../core/readers.js'
import { abortSignal } from '../../core/signal.js'
import { callWithin, located, StoreCalls } from '../calls.js'
import type { LeafAllocStore } from '../leaf-alloc.js'
import { groupsFolder, numbersFolder } from '../record.js'
import type { Store } from '../store.js'
import {
  ignore,
  loadBeside,
  loadClient,
  type Names,
  type Opened,
  type OpenOptions,
  replacing,
  type StoreKind,
  within,
} from './kind.js'
import { kindOf } from './kinds.js'
import { StoreUrl } from './url.js'

/** The options of {@link openStore}. Every one is checked, and a name that does not exist is refused. */
export interface OpenStoreOptions {
  /** The beginning of the names of the store's keys. Only for a store without tables. @default 'graupel' */
  prefix?: string
  /**
   * The name of the store's table, or of its collection. Only for a SQL database, DynamoDB and MongoDB.
   *
   * @default 'graupel_store'
   */
  table?: string
  /** As in `StoreOptions` of `graupel/stores`. @default what is true for the database as it usually runs */
  assumeDurable?: boolean
  /**
   * A folder or a file of the program whose clients come first, such as `import.meta.url`. @default the
   * current folder
   */
  clientsOf?: string | URL
  /** Whether a missing table, and a missing file of a database, are made. @default true */
  create?: boolean
  /** Cancels the opening, which then rejects with the signal's reason. */
  signal?: AbortSignal
}

const rows = {
  // The function that makes the store reads these by rows of its own.
  prefix: {},
  table: {},
  assumeDurable: {},
  clientsOf: {},
  create: { byDefault: true },
  signal: { read: abortSignal },
} satisfies Rows<OpenStoreOptions>

/** A store that {@link openStore} has opened. */
export interface OpenedStore {
  /** The store. */
  readonly store: Store
  /** Its URL without credentials and parameters, for messages. */
  readonly shown: string
  /** Removes the credentials of the URL, which clients of databases may quote, from a message. */
  hide(message: string): string
  /**
   * Returns Leaf's table in the same database, for `createSegmentGenerator`.
   *
   * @param table - Its name. @default 'leaf_alloc'
   * @throws RangeError `ERR_OPTION_INVALID` if the database is not MySQL or MariaDB.
   */
  leafAlloc(table?: string): LeafAllocStore
  /**
   * Tells whether the store has no record of this package: it is new, or its records are gone, such as on a
   * volume that is not mounted.
   *
   * @throws GraupelError `ERR_STORE_UNAVAILABLE`
   */
  isEmpty(): Promise<boolean>
  /**
   * Reads the whole store, and returns a sentence for each damage. Only records in SQLite have checksums; the
   * list of another store is empty.
   *
   * @throws GraupelError `ERR_STORE_UNAVAILABLE`
   */
  damage(): Promise<string[]>
  /** Closes the client, within a second; it does not reject. Release the leases of the store before. */
  close(): Promise<void>
}

/** Time limits for clients that have no deadlines of their own. */
const openMs = 5000
const callMs = 2000
const closeMs = 1000
/** Time limit for making a table, for which DynamoDB needs up to a minute. */
const setupMs = 70_000
/** Time limit for reading a whole store. */
const damageMs = 60_000

/**
 * Opens the store that a URL names, for programs that are configured by a variable or a file, with the client
 * that is installed. This call loads the client, from the current folder first. It only works in Node.
 *
 * - `redis:` and `rediss:` with ioredis, redis or @valkey/valkey-glide
 * - `postgres:` with pg or postgres
 * - `mysql:` and `mariadb:` with mysql2 or mariadb
 * - `dynamodb:` with @aws-sdk/client-dynamodb
 * - `mongodb:` and `mongodb+srv:` with mongodb
 * - `zookeeper:` with node-zookeeper-client
 * - `s3:` with @aws-sdk/client-s3 or aws4fetch
 * - `az:` with @azure/storage-blob
 * - `gs:` with @google-cloud/storage
 * - `sqlite:` with libsql, better-sqlite3 or node:sqlite
 * - `etcd:`, `consul:`, `kubernetes:`, and `graupel+http:` of a graupel-server, with fetch alone
 *
 * It connects once, within 5 s, and makes a missing table. Later the client connects again
 * by itself.
 *
 * @param url - The store, such as `redis://:password@host:6379`; docs/leases.md shows the URLs of all stores.
 * @param options - None is required; {@link OpenStoreOptions} describes all.
 * @throws TypeError, RangeError `ERR_OPTION_INVALID`, `ERR_OPTION_UNKNOWN`; GraupelError
 * `ERR_STORE_UNAVAILABLE` if no client is installed, or the store does not answer. No message contains the
 * credentials of the URL.
 * @example
 * const { store, close } = await openStore('sqlite:fleet.db')
 * const lease = await acquireLease({ store })
 * await lease.release()
 * await close()
 */
export async function openStore(url: string, options: OpenStoreOptions = {}): Promise<OpenedStore> {
  const read = readTable(options, rows, '{ create: false }')
  if (typeof url !== 'string') {
    throw typeError(
      'ERR_OPTION_INVALID',
      `store is ${showNoUrl(url)}; pass the text of a URL, such as 'redis://127.0.0.1'`,
      'store',
    )
  }
  const { clientsOf, create, signal } = read
  const parsed = new StoreUrl(url)
  const kind = kindOf(parsed.scheme)
  const names = namesFor(kind, parsed.scheme, read)
  try {
    const { store, table, leafAlloc, damage, close } = await openClient(
      parsed,
      kind,
      clientsOf,
      { names, mayMake: create, beside: (name) => loadBeside(name, clientsOf ?? process.cwd()) },
      signal,
    )
    const closeInTime = async (): Promise<void> => {
      await within(closeMs, async () => close()).catch(() => {})
    }
    try {
      await prepare(store, parsed, kind, table ?? names.table, create, signal)
    } catch (error) {
      await closeInTime()
      throw located(error, parsed)
    }
    return {
      store,
      shown: parsed.shown,
      hide: (message) => parsed.hide(message),
      leafAlloc(table) {
        if (leafAlloc !== undefined) return leafAlloc(table)
        throw rangeError(
          'ERR_OPTION_INVALID',
          `store begins with ${parsed.scheme}, and Leaf's table is in MySQL; pass a mysql: URL`,
          'store',
        )
      },
      async isEmpty() {
        const calls = new StoreCalls(store, platform, callMs)
        const found = await Promise.all([groupsFolder, numbersFolder].map((folder) => calls.list(folder)))
        return found.every((entries) => entries.length === 0)
      },
      async damage() {
        const call = { call: 'damage', store: store.name }
        return (await callWithin(call, platform, damageMs, undefined, async () => damage?.())) ?? []
      },
      close: closeInTime,
    }
  } catch (error) {
    // The reason of the signal is its owner's, and the message of some reasons cannot be set.
    if (error instanceof Error && error !== signal?.reason) error.message = parsed.messageOf(error)
    throw error
  }
}

async function openClient(
  url: StoreUrl,
  kind: StoreKind,
  clientsOf: string | URL | undefined,
  options: OpenOptions,
  signal: AbortSignal | undefined,
): Promise<Opened> {
  const { client, loaded } =
    clientsOf === undefined
      ? loadClient(kind, process.cwd(), ', or set clientsOf to import.meta.url')
      : loadClient(kind, clientsOf)
  const open = () => client.open(loaded, url, options)
  let opening: Promise<Opened> | undefined
  const begin = () => {
    opening = open()
    return opening
  }
  try {
    const opened = await within(openMs, begin, signal)
    return client.staysSilent ? replacing(opened, open) : opened
  } catch (cause) {
    // The client may still connect, and its caller has gone.
    opening?.then(({ close }) => close()).catch(ignore)
    signal?.throwIfAborted()
    // An error about an option.
    if (isGraupelError(cause)) throw cause
    // The error of `new URL` has the whole URL there, with its password.
    if (cause instanceof TypeError) Reflect.deleteProperty(cause, 'input')
    const reason = reasonOf(cause)
    const remedy = remedyFor(url, reason)
    throw new GraupelError('ERR_STORE_UNAVAILABLE', `${url.shown} cannot be opened: ${reason}${remedy}`, { cause })
  }
}

/** Reasons of clients that have got no answer, or an answer that they cannot read. */
const unanswered =
  /ETIMEDOUT|EPIPE|ECONNRESET|timed? ?out|no answer|closed unexpectedly|terminated unexpectedly|RESP type|wrong version/i

/**
 * Returns what to do about a server that is not there or of another kind, and about TLS that one side lacks;
 * empty for another reason.
 */
function remedyFor({ scheme }: StoreUrl, reason: string): string {
  if (/ECONNREFUSED/.test(reason)) return '; start the server, or correct host and port'
  if (!unanswered.test(reason)) return ''
  const plain = scheme.replace(/^(redis|etcd|consul|graupel\+http)s:$/, '$1:')
  const withTls = scheme === 'redis:' ? ', or write rediss:// if it has TLS' : ''
  if (plain === scheme) return `; no server of this kind answers there: check host and port${withTls}`
  return `; no server of this kind answers there with TLS: check host and port, or write ${plain}// if it has no TLS`
}

/** Makes the missing table of a database, or refuses the database without it. */
async function prepare(
  store: Opened['store'],
  { shown }: StoreUrl,
  { isTableMissing }: StoreKind,
  table: string | undefined,
  mayMake: boolean,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (isTableMissing === undefined) return
  const calls = new StoreCalls(store, platform, callMs)
  const isThere = async () => {
    try {
      await calls.read(`${groupsFolder}any`, signal)
      return true
    } catch (error) {
      signal?.throwIfAborted()
      if (!isTableMissing(Object((error as Error).cause))) throw error
      return false
    }
  }
  if (await isThere()) return
  if (!mayMake) {
    throw new GraupelError(
      'ERR_STORE_UNAVAILABLE',
      `${shown} has no table ${table ?? 'graupel_store'}: no process has had a node by it`,
      { option: 'create' },
    )
  }
  try {
    await within(setupMs, async () => store.setup?.(), signal)
  } catch (error) {
    // Another process may have made the table at the same moment.
    if (!(await isThere()))
      throw new GraupelError('ERR_STORE_UNAVAILABLE', `${shown}: ${reasonOf(error)}`, { cause: error })
  }
}

/** @throws RangeError */
function namesFor(
  { named }: StoreKind,
  scheme: string,
  options: Pick<Resolved<OpenStoreOptions, typeof rows>, keyof Names>,
): Names {
  const other = named === 'table' ? 'prefix' : 'table'
  if (options[other] !== undefined) {
    throw rangeError('ERR_OPTION_INVALID', `${other} is not for ${scheme}; leave it out`, other)
  }
  const { [named]: name, assumeDurable } = options
  return { ...(name !== undefined && { [named]: name }), ...(assumeDurable !== undefined && { assumeDurable }) }
}
