import { accessSync, constants, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type OpenedStore, openStore } from 'graupel/stores/url'
import { StartError } from './failure.js'
import type { Options } from './options/table.js'

/** Opens the store of the options, or the embedded database. @throws StartError; what `openStore` throws */
export async function storeOf(options: Options): Promise<OpenedStore> {
  const { store, prefix, table, durable } = options
  return openStore(store ?? `sqlite:${databaseIn(options.data)}`, {
    clientsOf: import.meta.url,
    ...(prefix !== undefined && { prefix }),
    ...(table !== undefined && { table }),
    ...(durable !== undefined && { durable }),
  })
}

/** @throws StartError where the folder cannot be written. */
function databaseIn(folder: string): string {
  try {
    // The numbers in it must not be turned back by others.
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    accessSync(folder, constants.W_OK | constants.X_OK)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new StartError(
      'ERR_OPTION_INVALID',
      `data is ${folder}, which cannot be written (${code}); give a folder of your own by --data`,
    )
  }
  return join(folder, 'graupel.db')
}
