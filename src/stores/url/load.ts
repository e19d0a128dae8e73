import { createRequire } from 'node:module'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { GraupelError } from '../../core/errors.js'
import type { Client, StoreKind } from './kind.js'

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
