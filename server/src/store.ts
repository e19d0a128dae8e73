import { accessSync, closeSync, constants, existsSync, mkdirSync, openSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { type OpenedStore, openStore } from 'graupel/stores/url'
import { exitCodeOf, StartError } from './failure.js'
import { type Options, stateFolder } from './options/table.js'

/** The remedy if the file is sound. Advice to take another folder would make the service repeat numbers. */
const repairDisk =
  'free space on its disk, or repair the disk, and keep the file, because another one counts from the start again'
/** Errors of the disk, which another folder on it has as well. */
const diskErrors: readonly unknown[] = ['ENOSPC', 'EDQUOT', 'EFBIG', 'EIO', 'EROFS']

/** Opens the store of the options, or the embedded database. @throws StartError; what `openStore` throws */
export async function storeOf(options: Options): Promise<OpenedStore> {
  const { store, prefix, table, assumeDurable, data } = options
  const how = { clientsOf: import.meta.url, ...(table !== undefined && { table }) }
  if (store !== undefined) {
    return undamaged(
      await openStore(store, {
        ...how,
        ...(prefix !== undefined && { prefix }),
        ...(assumeDurable !== undefined && { assumeDurable }),
      }),
    )
  }
  const file = databaseIn(data ?? defaultFolder())
  try {
    return await undamaged(await openStore(`sqlite:${file}`, how))
  } catch (error) {
    if (error instanceof StartError || exitCodeOf(error) === 2) throw error
    const { message } = error as Error
    throw new StartError('ERR_DATA_UNAVAILABLE', `${message}; ${remedyFor(message, dirname(file))}`, error)
  }
}

/**
 * Refuses a store with a damaged record. A record whose key is damaged would not be found, and its numbers
 * would begin again.
 */
async function undamaged(opened: OpenedStore): Promise<OpenedStore> {
  const [first, ...others] = await opened.damage()
  if (first === undefined) return opened
  await opened.close()
  const more = others.length === 0 ? '' : `, and ${others.length} more damages`
  const remedy =
    'restore a backup; npx graupel doctor names every damage, and docs/service-operations.md, Damage, says what to do'
  throw new StartError('ERR_DATA_UNAVAILABLE', `${opened.shown}: ${first}${more}; ${remedy}`)
}

function remedyFor(message: string, folder: string): string {
  if (/not a database|malformed/.test(message)) {
    return 'restore the file from a backup, or start anew with another folder as --data'
  }
  if (/locked/.test(message))
    return `end the transaction of another process; npx graupel doctor --data ${folder} names it`
  return repairDisk
}

/** Returns the default of `--data`. @throws StartError if the user has no home directory */
function defaultFolder(): string {
  if (process.env['XDG_STATE_HOME']) return stateFolder('')
  try {
    return stateFolder(homedir())
  } catch (error) {
    throw new StartError(
      'ERR_DATA_UNAVAILABLE',
      'this user has no home directory for the embedded database; give its folder as --data, or a store as --store',
      error,
    )
  }
}

/** Returns the database's file and makes its folder. @throws StartError if the file cannot be written. */
function databaseIn(folder: string): string {
  const file = join(folder, 'graupel.db')
  try {
    // Other users must not turn the numbers in it back. SQLite gives its further files the mode of this file.
    makeFolder(folder)
    accessSync(folder, constants.W_OK | constants.X_OK)
    closeSync(openSync(file, 'a', 0o600))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const remedy = diskErrors.includes(code) ? repairDisk : 'give a folder that this user may write as --data'
    throw new StartError('ERR_DATA_UNAVAILABLE', `${file} cannot be written (${code}); ${remedy}`, error)
  }
  return file
}

/**
 * Makes the folder and its parents. With `recursive`, mkdir never returns for a folder such as /proc, which
 * answers ENOENT (Node 20).
 */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return
  makeFolder(dirname(folder))
  try {
    mkdirSync(folder, 0o700)
  } catch (error) {
    // Another service that starts at the same moment may have made it.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}
