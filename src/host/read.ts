import { type BigIntStats, closeSync, constants, fstatSync, openSync, readdirSync, readSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { GraupelError } from '../errors.js'
import { hasCode } from './attempt.js'
import { maxBytes, parseState, type Stored } from './format.js'
import { type Ids, idsOf } from './identity.js'

/** A page or a state file that was read. */
export interface State {
  readonly path: string
  readonly stored: Stored
  readonly ids: Ids
  readonly stats: BigIntStats
}

export interface Contents {
  readonly bytes: Buffer
  readonly stats: BigIntStats
}

const maxAttempts = 5

/**
 * Reads a page or a state file. Node has no locks, so a record may be read while it is written: what seems to be damaged is
 * read again.
 *
 * @throws GraupelError `ERR_STATE_UNAVAILABLE`, `ERR_STATE_UNSAFE`, `ERR_STATE_CORRUPT`, `ERR_STATE_MISMATCH`
 */
export async function readState(path: string, read: (path: string) => Contents = contentsOf): Promise<State> {
  for (let attempt = 1; ; attempt++) {
    const { bytes, stats } = read(path)
    try {
      const stored = parseState(path, bytes)
      return { path, stored, ids: idsOf(path, stored), stats }
    } catch (error) {
      if ((error as GraupelError).code !== 'ERR_STATE_CORRUPT' || attempt === maxAttempts) throw error
    }
    await sleep(2)
  }
}

/** The names in a folder; none where there is no folder. @throws GraupelError `ERR_STATE_UNAVAILABLE` */
export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort()
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return []
    throw unreadable(folder, error)
  }
}

/** `ERR_STATE_UNAVAILABLE` with the system's reason. */
export function unreadable(path: string, cause: unknown): GraupelError {
  const remedy = 'give the path of a page, a claim or a state file that you may read, or none for a list of your pages'
  return failed(path, 'read', cause, remedy)
}

/** `ERR_STATE_UNAVAILABLE` for what cannot be `done`, with the system's reason. */
export function failed(path: string, done: 'read' | 'removed', cause: unknown, remedy: string): GraupelError {
  // The path follows the reason.
  const [reason] = (cause as Error).message.split(', ')
  return new GraupelError('ERR_STATE_UNAVAILABLE', `${path} cannot be ${done}: ${reason}; ${remedy}`, { cause })
}

function contentsOf(path: string): Contents {
  let file: number
  try {
    // Without waiting for a writer of a pipe. Windows has neither the flag nor pipes in folders.
    file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  } catch (error) {
    throw unreadable(path, error)
  }
  try {
    const stats = fstatSync(file, { bigint: true })
    if (!stats.isFile()) {
      const what = stats.isDirectory() ? 'a folder' : 'not a plain file'
      throw new GraupelError('ERR_STATE_UNSAFE', `${path} is ${what}; give the path of a page or a state file`)
    }
    const bytes = Buffer.alloc(maxBytes)
    return { bytes: bytes.subarray(0, readAll(file, bytes)), stats }
  } catch (error) {
    throw error instanceof GraupelError ? error : unreadable(path, error)
  } finally {
    closeSync(file)
  }
}

function readAll(file: number, bytes: Buffer): number {
  let length = 0
  for (let count = -1; count !== 0 && length < bytes.length; length += count) {
    count = readSync(file, bytes, length, bytes.length - length, length)
  }
  return length
}
