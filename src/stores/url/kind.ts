import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { GraupelError } from '../../core/errors.js'
import type { LeafAllocStore } from '../leaf-alloc.js'
import type { Store, StoreOptions } from '../store.js'
import type { StoreUrl } from './url.js'

/** A store that is open, by a client of ours. */
export interface Opened {
  readonly store: Store & { setup?(): Promise<void> }
  /** Set if Leaf runs on the database. */
  leafAlloc?(table: string | undefined): LeafAllocStore
  close(): unknown
}

/** The options of a store that may be set beside the URL. */
export interface Names extends StoreOptions {
  readonly prefix?: string
  readonly table?: string
}

export interface OpenOptions {
  readonly names: Names
  /** A file that is not there is made. */
  readonly mayMake: boolean
}

/** A package that can talk to a store. */
export interface Client {
  /** The package, by the name that `npm install` takes; `undefined` if the store only needs `fetch`. */
  readonly name: string | undefined
  /**
   * Connects, once: where that fails, nothing goes on trying. Later it connects again by itself. Errors that the client tells by
   * events are heard, because they would end the process.
   *
   * @param loaded - What `require` of the package returns; `undefined` where there is none.
   */
  // biome-ignore lint/suspicious/noExplicitAny: the packages are the user's, and their types are not here
  open(loaded: any, url: StoreUrl, options: OpenOptions): Promise<Opened>
}

/** A kind of store, by the schemes of its URLs. */
export interface StoreKind {
  readonly schemes: readonly string[]
  /** The option that sets the prefix of its names. */
  readonly named: keyof Names
  /** Whether an error of its clients says that the table is not there; for databases that have one. */
  readonly isTableMissing?: (error: { readonly code?: unknown; readonly message?: unknown }) => boolean
  /** In the order in which they are tried; the first is recommended. */
  readonly clients: readonly [Client, ...Client[]]
}

/** How long a client may take to connect. */
export const connectMs = 3000
/** Between two attempts of a client that was connected. */
export const reconnectMs = 200

/** For events that are told as errors of calls, too. */
export const ignore = (): void => {}

/** This module, or the one that it is bundled into. CommonJS has no `import.meta.url`. */
const here = import.meta.url ?? __filename

/**
 * The first client of a kind of store that is installed: for the program that asks, because the clients are the user's, and else where
 * graupel itself is.
 *
 * @param asker - A folder or a file of that program.
 *
 * @throws GraupelError `ERR_STORE_UNAVAILABLE` where there is none that can be loaded.
 */
export function loadClient({ schemes, clients }: StoreKind, asker: string | URL): { client: Client; loaded: unknown } {
  const places = [asker, here].map((place) => createRequire(place))
  const broken: string[] = []
  for (const require of places) {
    for (const client of clients) {
      const { name } = client
      if (name === undefined) return { client, loaded: undefined }
      try {
        return { client, loaded: require(name) }
      } catch (error) {
        if (!isAbsent(error as NodeJS.ErrnoException, name)) {
          broken.push(`${name} is installed, but cannot be loaded: ${(error as Error).message.split('\n')[0]}; `)
        }
      }
    }
  }
  const [first, ...others] = clients.map(({ name }) => name).filter((name) => name?.startsWith('node:') === false)
  const or = others.length === 0 ? '' : ` (${others.join(' or ')} will do, too)`
  throw new GraupelError(
    'ERR_STORE_UNAVAILABLE',
    `${broken[0] ?? ''}no client for ${schemes[0]} can be loaded from ${folderOf(asker)}; run: npm install ${first}${or}`,
  )
}

/** Whether the package is not there; and not one that it needs. */
function isAbsent({ code, message }: NodeJS.ErrnoException, name: string): boolean {
  if (code === 'ERR_UNKNOWN_BUILTIN_MODULE') return true
  return code === 'MODULE_NOT_FOUND' && message.startsWith(`Cannot find module '${name}'`)
}

function folderOf(asker: string | URL): string {
  return dirname(/^file:/.test(`${asker}`) ? fileURLToPath(asker) : `${asker}`)
}
