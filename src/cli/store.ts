import { platform } from '#platform'
import { StoreCalls } from '../stores/calls.js'
import type { Store } from '../stores/store.js'
import { kinds, located, openStore, schemes } from '../stores/url/open.js'
import type { Flag } from './arguments.js'

/** The flags that say which store. */
export const storeFlags = {
  store: { value: 'URL', help: `a store, by a URL that begins with ${schemes.join(', ')}` },
  prefix: { value: 'NAME', help: 'what its keys begin with, in a store without tables (graupel)' },
  table: { value: 'NAME', help: 'its table in a SQL database (graupel_store)' },
} as const satisfies Record<string, Flag>

export interface StoreValues {
  readonly store: string
  readonly prefix?: string
  readonly table?: string
}

/** A store that is open, and how it is called and named. */
export interface OpenStore {
  readonly store: Store
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
  const opened = await openStore(url, {
    create: mayMake,
    ...(prefix !== undefined && { prefix }),
    ...(table !== undefined && { table }),
    ...(signal !== undefined && { signal }),
  })
  const { store, shown, hide } = opened
  try {
    return await use({ store, calls: new StoreCalls(store, platform, callMs), shown, hide })
  } catch (error) {
    const failure = located(error, opened)
    if (failure instanceof Error) failure.message = hide(failure.message)
    throw failure
  } finally {
    await opened.close()
  }
}
