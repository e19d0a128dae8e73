import { platform } from '#platform'
import { located, StoreCalls } from '../stores/calls.js'
import { prefixRow, tableRow } from '../stores/options.js'
import type { Store } from '../stores/store.js'
import { openStore } from '../stores/url/index.js'
import { StoreUrl } from '../stores/url/url.js'
import { type Flag, flagFor } from './arguments.js'

/** The schemes of `openStore`. A manual does not load the stores to name them. */
export const schemes: readonly string[] = [
  ...['redis:', 'rediss:', 'postgres:', 'postgresql:', 'mysql:', 'mariadb:', 'dynamodb:', 'mongodb:', 'mongodb+srv:'],
  ...['etcd:', 'etcds:', 'zookeeper:', 'zk:', 'consul:', 'consuls:', 'kubernetes:', 'kubernetes+http:'],
  ...['s3:', 'az:', 'gs:', 'sqlite:', 'graupel+http:', 'graupel+https:'],
]

/** The flags that name a store. */
export const storeFlags = {
  store: { value: 'URL', help: `a store, by a URL that begins with ${schemes.join(', ')}` },
  prefix: flagFor(prefixRow, 'NAME', 'the first part of its keys, in a store without tables'),
  table: flagFor(tableRow, 'NAME', 'its table or collection, in a SQL database, DynamoDB or MongoDB'),
} as const satisfies Record<string, Flag>

export interface StoreValues {
  readonly store: string
  readonly prefix?: string
  readonly table?: string
}

/** A store that is open. */
export interface OpenStore {
  readonly store: Store
  readonly calls: StoreCalls
  /** The URL of the store without credentials. */
  readonly shown: string
  /** Returns the message of an error without the credentials of the URL. */
  hide(error: unknown): string
  /** Names what is damaged, by checksums. */
  damage(): Promise<string[]>
}

/** Lines of manuals that name the packages of clients. */
export const clientNotes = [
  'A client of the store has to be installed where the command runs:',
  '  redis: ioredis, redis, @valkey/valkey-glide',
  '  postgres: pg, postgres',
  '  mysql: mysql2, mariadb',
  '  dynamodb: @aws-sdk/client-dynamodb',
  '  mongodb: mongodb',
  '  zookeeper: node-zookeeper-client',
  '  s3: @aws-sdk/client-s3, aws4fetch',
  '  az: @azure/storage-blob',
  '  gs: @google-cloud/storage',
  '  sqlite: libsql, better-sqlite3, node:sqlite',
]

interface How {
  /** Makes the table, or the file of the database, if it does not exist. */
  readonly mayMake: boolean
  readonly signal?: AbortSignal
}

const callMs = 2000

/**
 * Opens a store for as long as it is used.
 *
 * @throws what `openStore` and `use` throw. No message has the credentials of the URL.
 */
export async function withStore<T>(
  { store: url, prefix, table }: StoreValues,
  { mayMake, signal }: How,
  use: (open: OpenStore) => Promise<T>,
): Promise<T> {
  const parsed = new StoreUrl(url)
  const opened = await openStore(url, {
    // By itself the function would advise to set this option, which the command does not have.
    clientsOf: process.cwd(),
    create: mayMake,
    ...(prefix !== undefined && { prefix }),
    ...(table !== undefined && { table }),
    ...(signal !== undefined && { signal }),
  })
  const { store, shown, damage } = opened
  const hide = (error: unknown) => parsed.messageOf(error)
  try {
    return await use({ store, calls: new StoreCalls(store, platform, callMs), shown, hide, damage })
  } catch (error) {
    if (error instanceof Error) error.message = hide(error)
    throw located(error, opened)
  } finally {
    await opened.close()
  }
}
