import { statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { platform } from '#platform'
import { GraupelError } from '../../core/errors.js'
import { endWithin, onAbort } from '../../core/timing.js'
import type { LeafAllocStore } from '../leaf-alloc.js'
import type { Store, StoreOptions } from '../store.js'
import type { StoreUrl } from './url.js'

/** An open store, and the client that this module made for it. */
export interface Opened {
  readonly store: Store & { setup?(): Promise<void> }
  /** The name of the table, if the URL has it. */
  readonly table?: string
  /** Set if Leaf runs on the database. */
  leafAlloc?(table: string | undefined): LeafAllocStore
  /** Names what is damaged. Set if the store has checksums. */
  damage?(): Promise<string[]>
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
  /** Loads another package from where the client was looked for; `undefined` if it is not installed. */
  readonly beside: (name: string) => unknown
}

/** A package that can talk to a store. */
export interface Client {
  /** The package, by the name that `npm install` takes; `undefined` if the store only needs `fetch`. */
  readonly name: string | undefined
  /**
   * Connects once: a client that cannot connect does not try again. A connected client connects again by
   * itself. Errors that the client emits as events are handled, because they would end the process.
   *
   * @param loaded - The result of `require` of the package; `undefined` if there is no package.
   */
  // biome-ignore lint/suspicious/noExplicitAny: the packages are the user's, and their types are not here
  open(loaded: any, url: StoreUrl, options: OpenOptions): Promise<Opened>
  /** The client waits for ever on a connection that has gone silent, and has no option against that. */
  readonly staysSilent?: true
}

/** A kind of store, by the schemes of its URLs. */
export interface StoreKind {
  readonly schemes: readonly string[]
  /** The option that sets the prefix of its names. */
  readonly named: keyof Names
  /** Whether an error of its clients means that the table is missing. Set for databases with tables. */
  readonly isTableMissing?: (error: {
    readonly code?: unknown
    readonly message?: unknown
    readonly name?: unknown
  }) => boolean
  /** The clients in the order in which they are tried. The first client is recommended. */
  readonly clients: readonly [Client, ...Client[]]
}

/** How long a client may take to connect. */
export const connectMs = 3000
/** The pause between two attempts of a client that was connected. */
export const reconnectMs = 200

/**
 * How long a connection may leave a call without an answer before it is closed. Networks forget connections
 * without a word, and TCP notices that after a quarter of an hour.
 */
export const silentMs = 3000

/** The listener of errors that a call also reports. */
export const ignore = (): void => {}

/** Asks the store for its time, so that a fault is reported at once. */
export async function opened(store: Store): Promise<Opened> {
  await within(connectMs, async (signal) => store.nowMs?.(signal))
  return { store, close: ignore }
}

/** Runs work that needs a client, and closes the client if the work fails. */
export async function orClosed<T>(close: () => unknown, work: () => Promise<T> | T): Promise<T> {
  try {
    return await work()
  } catch (error) {
    // Not waited for, and without its own error: the error of the work says more.
    Promise.resolve().then(close).catch(ignore)
    throw error
  }
}

/** Waits for work for a time. Its signal is aborted then, and by the signal that is given. */
export function within<T>(ms: number, work: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T> {
  return endWithin(platform, ms, signal, work, () => new Error(`no answer within ${ms / 1000} s`))
}

/** The file of this module, or of the bundle that contains it. CommonJS has no `import.meta.url`. */
const here = import.meta.url ?? __filename

/**
 * Loads the first installed client of a kind of store. Looks beside the calling program first, because the
 * user installs the clients, and then beside graupel itself.
 *
 * @param asker - A folder or a file of that program.
 * @param remedy - The end of the message of the error.
 * @throws GraupelError `ERR_STORE_UNAVAILABLE` if no client can be loaded.
 */
export function loadClient(
  { schemes, clients }: StoreKind,
  asker: string | URL,
  remedy = '',
): { client: Client; loaded: unknown } {
  const file = fileOf(asker)
  const broken: string[] = []
  for (const require of placesOf(file)) {
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
    `${broken[0] ?? ''}no client for ${schemes[0]} can be loaded from ${dirname(file)}; run: npm install ${first}${or}; if it is installed, deploy it, too${remedy}`,
  )
}

function placesOf(file: string): NodeJS.Require[] {
  return [file, here].map((place) => createRequire(place))
}

/** Loads a package from the places of {@link loadClient}; `undefined` if it is not installed. */
export function loadBeside(name: string, asker: string | URL): unknown {
  for (const require of placesOf(fileOf(asker))) {
    try {
      return require(name)
    } catch (error) {
      if (!isAbsent(error as NodeJS.ErrnoException, name)) throw error
    }
  }
  return undefined
}

/** Returns whether the package itself is missing, and not a package that it needs. */
function isAbsent({ code, message }: NodeJS.ErrnoException, name: string): boolean {
  if (code === 'ERR_UNKNOWN_BUILTIN_MODULE') return true
  return code === 'MODULE_NOT_FOUND' && message.startsWith(`Cannot find module '${name}'`)
}

/** The functions of a store that ask its server. */
const calls = ['read', 'list', 'write', 'nowMs', 'incarnation', 'place', 'advice', 'add', 'remove', 'setup'] as const

/** A client is replaced if a call is given up, and the client has answered nothing for this time. */
const replacedAfterMs = 1000

/**
 * Replaces a client that has gone silent, or mixes answers up, by a new one. No call is repeated: its caller
 * finds out whether it was done.
 *
 * @param open - Opens the store with a new client.
 */
export function replacing(first: Opened, open: () => Promise<Opened>): Opened {
  let current: Promise<Opened> | undefined = Promise.resolve(first)
  let answeredMs = platform.monotonicMs()
  /**
   * When the first call after the last answer began, except calls that failed. One call may be given up
   * earlier than a client.
   */
  let waitingMs: number | undefined
  let isClosed = false
  const dropped = (opening: Promise<Opened>) => {
    if (isClosed || current !== opening) return
    current = undefined
    waitingMs = undefined
    opening.then(({ close }) => close()).catch(ignore)
  }
  const call = async (name: (typeof calls)[number], ...words: unknown[]) => {
    const begunMs = platform.monotonicMs()
    waitingMs ??= begunMs
    current ??= open()
    const used = current
    const signal = words.find((word): word is AbortSignal => word instanceof AbortSignal)
    const stop = onAbort(signal, () => {
      const sinceMs = waitingMs ?? Math.max(answeredMs, begunMs)
      if (platform.monotonicMs() - sinceMs >= replacedAfterMs) dropped(used)
    })
    try {
      const { store } = await used.catch((error) => {
        dropped(used)
        throw error
      })
      const answer = await (store[name] as (...words: unknown[]) => unknown)(...words)
      // An error is no answer: a driver that finds no server may say so every few seconds.
      answeredMs = platform.monotonicMs()
      waitingMs = undefined
      return answer
    } catch (error) {
      // The call has failed before it was given up, so it says nothing about silence.
      if (waitingMs === begunMs && signal?.aborted !== true) waitingMs = undefined
      if (Object(error).code !== 'ERR_STORE_INVALID') throw error
      // The client has given the answer to another call, and may do so from now on.
      dropped(used)
      throw new Error('its client gave an answer that is not the answer to this call, and was replaced', {
        cause: error,
      })
    } finally {
      stop()
    }
  }
  const present = calls.filter((name) => first.store[name] !== undefined)
  const functions = present.map((name) => [name, (...words: unknown[]) => call(name, ...words)])
  return {
    ...first,
    store: { ...first.store, ...Object.fromEntries(functions) },
    async close() {
      isClosed = true
      // A call that comes later gets the error of a closed client, and opens no other client.
      current ??= Promise.resolve(first)
      await (await current).close()
    },
  }
}

/** Names a file in a folder: `createRequire` takes a folder without a slash at its end for a file. */
function fileOf(asker: string | URL): string {
  const path = /^file:/.test(`${asker}`) ? fileURLToPath(asker) : `${asker}`
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ? join(path, 'package.json') : path
}
