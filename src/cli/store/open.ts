import { setTimeout as sleep } from 'node:timers/promises'
import { errorCodes, GraupelError } from '../../errors.js'
import { groupsFolder } from '../../lease/group.js'
import { StoreCalls } from '../../stores/calls.js'
import type { Timing } from '../../stores/deadline.js'
import { type Flag, UsageError } from '../arguments.js'
import { consulKind, etcdKind } from './fetched.js'
import type { Names, Opened, StoreKind } from './kind.js'
import { kubernetesKind } from './kubernetes.js'
import { loadClient } from './load.js'
import { mysqlKind } from './mysql.js'
import { postgresKind } from './postgres.js'
import { redisKind } from './redis.js'
import { sqliteKind } from './sqlite.js'
import { StoreUrl } from './url.js'
import { zookeeperKind } from './zookeeper.js'

const kinds: readonly StoreKind[] = [
  redisKind,
  postgresKind,
  mysqlKind,
  etcdKind,
  zookeeperKind,
  consulKind,
  kubernetesKind,
  sqliteKind,
]
const schemes = kinds.flatMap((kind) => kind.schemes)

/** The flags that say which store. */
export const storeFlags = {
  store: { value: 'URL', help: `a store, by a URL that begins with ${schemes.join(', ')}` },
  prefix: { value: 'NAME', help: 'what the names of its keys begin with, where there is no table (graupel)' },
  table: { value: 'NAME', help: 'its table, in a SQL database (graupel_store)' },
} as const satisfies Record<string, Flag>

export interface StoreValues {
  readonly store: string
  readonly prefix?: string
  readonly table?: string
}

/** A store that is open, and how it is called and named. */
export interface OpenStore extends Pick<Opened, 'store'> {
  readonly calls: StoreCalls
  /** Its URL without credentials. */
  readonly shown: string
  /** A message without the credentials of the URL. */
  hide(message: string): string
}

/** For manuals: where clients come from. */
export const clientNotes = [
  'A client of the store has to be installed where the command runs:',
  ...kinds
    .filter(({ clients }) => clients[0].name !== undefined)
    .map(({ schemes, clients }) => `  ${schemes[0]} ${clients.map(({ name }) => name).join(', ')}`),
]

interface How {
  /** Tables, and the file of a database, are made where they are not there. */
  readonly mayMake: boolean
  readonly signal?: AbortSignal
}

/** For clients that keep to no deadline of their own. */
const openMs = 5000
const callMs = 2000
const closeMs = 1000

const timing: Timing = {
  monotonicMs: () => performance.now(),
  later(callback, ms) {
    const timer = setTimeout(callback, ms)
    return () => clearTimeout(timer)
  },
}

/**
 * Opens a store for as long as it is used.
 *
 * @throws UsageError; GraupelError `ERR_STORE_UNAVAILABLE`; what `use` throws. No message has the credentials of the URL.
 */
export async function withStore<T>(values: StoreValues, how: How, use: (open: OpenStore) => Promise<T>): Promise<T> {
  const url = new StoreUrl(values.store)
  const kind = kindOf(url.scheme)
  const names = namesFor(kind, url.scheme, values)
  try {
    const { store, close } = await openStore(url, kind, names, how)
    try {
      const calls = new StoreCalls(store, timing, callMs, Math.random)
      const open = { store, calls, shown: url.shown, hide: (message: string) => url.hide(message) }
      await prepare(open, kind, names, how)
      return await use(open)
    } catch (error) {
      throw located(error, url)
    } finally {
      await within(closeMs, async () => close()).catch(() => {})
    }
  } catch (error) {
    if (error instanceof Error) error.message = url.hide(error.message)
    throw error
  }
}

async function openStore(url: StoreUrl, kind: StoreKind, names: Names, how: How): Promise<Opened> {
  const { client, loaded } = loadClient(kind)
  try {
    return await within(openMs, () => client.open(loaded, url, { names, mayMake: how.mayMake }), how.signal)
  } catch (cause) {
    // What is wrong with a flag.
    if (Object.hasOwn(errorCodes, Object(cause).code)) throw cause
    throw new GraupelError('ERR_STORE_UNAVAILABLE', `${url.shown} cannot be opened: ${reasonOf(cause)}`, { cause })
  }
}

/** Sees to the table of a database that needs one. */
async function prepare({ store, calls, shown }: OpenStore, kind: StoreKind, { table }: Names, how: How): Promise<void> {
  const { isTableMissing } = kind
  if (isTableMissing === undefined) return
  const isThere = async () => {
    try {
      await calls.read(`${groupsFolder}any`, how.signal)
      return true
    } catch (error) {
      if (!isTableMissing(Object((error as Error).cause))) throw error
      return false
    }
  }
  if (await isThere()) return
  if (!how.mayMake) {
    throw new GraupelError(
      'ERR_STORE_UNAVAILABLE',
      `${shown} has no table ${table ?? 'graupel_store'}: no process has had a node by it`,
    )
  }
  try {
    await store.setup?.()
  } catch (error) {
    // Another process may have made it at the same moment.
    if (!(await isThere())) throw new GraupelError('ERR_STORE_UNAVAILABLE', `${shown}: ${reasonOf(error)}`)
  }
}

/** Calls of a store that fail do not say where it is. */
function located(error: unknown, { shown }: StoreUrl): unknown {
  const { code, message } = Object(error)
  if (code === 'ERR_STORE_UNAVAILABLE' && !message.includes(shown)) (error as Error).message = `${shown}: ${message}`
  return error
}

/** @throws UsageError */
function kindOf(scheme: string): StoreKind {
  const kind = kinds.find((kind) => kind.schemes.includes(scheme))
  if (kind !== undefined) return kind
  throw new UsageError('ERR_OPTION_INVALID', `--store begins with ${scheme}; the stores are ${schemes.join(', ')}`)
}

/** @throws UsageError */
function namesFor({ named }: StoreKind, scheme: string, values: StoreValues): Names {
  const other = named === 'table' ? 'prefix' : 'table'
  if (values[other] !== undefined) {
    throw new UsageError('ERR_OPTION_INVALID', `--${other} is not for ${scheme}; give --${named}, or leave it out`)
  }
  const name = values[named]
  return name === undefined ? {} : { [named]: name }
}

/** An error of a client in one line: some have no message, but errors of their own. */
function reasonOf(error: unknown): string {
  const { message, errors, code } = Object(error) as { message?: string; errors?: unknown[]; code?: unknown }
  if (message) return message.trim().replace(/\s+/g, ' ')
  if (errors?.length) return errors.map(reasonOf).join(', ')
  return String(code ?? error)
}

async function within<T>(ms: number, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  const done = new AbortController()
  const signals = signal === undefined ? [done.signal] : [done.signal, signal]
  const late = sleep(ms, undefined, { signal: AbortSignal.any(signals) }).then(() => {
    throw new Error(`no answer within ${ms / 1000} s`)
  })
  late.catch(() => {})
  try {
    return await Promise.race([work(), late])
  } finally {
    done.abort()
  }
}
