import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { GraupelError } from '../../core/errors.js'
import type { LeafAllocStore } from '../leaf-alloc.js'
import type { Store, StoreOptions } from '../store.js'
import type { StoreUrl } from './url.js'

/** An open store, and the client that this module made for it. */
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
  /** Whether a missing file is made. */
  readonly mayMake: boolean
}

/** A package that can talk to a store. */
export interface Client {
  /** The package, by the name that `npm install` takes; `undefined` if the store only needs `fetch`. */
  readonly name: string | undefined
  /**
   * Connects once: a client that cannot connect does not try again. A connected client connects again by itself. Errors that the
   * client emits as events are handled, because they would end the process.
   *
   * @param loaded - The result of `require` of the package; `undefined` if there is no package.
   */
  // biome-ignore lint/suspicious/noExplicitAny: the packages are the user's, and their types are not here
  open(loaded: any, url: StoreUrl, options: OpenOptions): Promise<Opened>
}

/** A kind of store, by the schemes of its URLs. */
export interface StoreKind {
  readonly schemes: readonly string[]
  /** The option that sets the prefix of its names. */
  readonly named: keyof Names
  /** Whether an error of its clients means that the table is missing. Set for databases with tables. */
  readonly isTableMissing?: (error: { readonly code?: unknown; readonly message?: unknown }) => boolean
  /** The clients in the order in which they are tried. The first client is recommended. */
  readonly clients: readonly [Client, ...Client[]]
}

/** How long a client may take to connect. */
export const connectMs = 3000
/** The pause between two attempts of a client that was connected. */
export const reconnectMs = 200

/** The listener of errors that a call also reports. */
export const ignore = (): void => {}

/** The file of this module, or of the bundle that contains it. CommonJS has no `import.meta.url`. */
const here = import.meta.url ?? __filename

/**
 * Loads the first installed client of a kind of store. Looks beside the calling program first, because the user installs the
 * clients, and then beside graupel itself.
 *
 * @param asker - A folder or a file of that program.
 *
 * @throws GraupelError `ERR_STORE_UNAVAILABLE` if no client can be loaded.
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

/** Returns whether the package itself is missing, and not a package that it needs. */
function isAbsent({ code, message }: NodeJS.ErrnoException, name: string): boolean {
  if (code === 'ERR_UNKNOWN_BUILTIN_MODULE') return true
  return code === 'MODULE_NOT_FOUND' && message.startsWith(`Cannot find module '${name}'`)
}

function folderOf(asker: string | URL): string {
  return dirname(/^file:/.test(`${asker}`) ? fileURLToPath(asker) : `${asker}`)
}
