import { type BigIntStats, readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { GraupelError } from '../core/errors.js'
import { hasCode } from './attempt.js'
import { maxBytes, parseState, type Stored } from './format.js'
import { type Ids, idsOf } from './identity.js'
import { type Contents, readContents } from './own-file.js'

/** A page or a state file that was read. */
export interface State {
  readonly path: string
  readonly stored: Stored
  readonly ids: Ids
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
  try {
    return readContents(path, maxBytes, (stats) => {
      if (stats.isFile()) return
      const what = stats.isDirectory() ? 'a folder' : 'not a plain file'
      throw new GraupelError('ERR_STATE_UNSAFE', `${path} is ${what}; give the path of a page or a state file`)
    })
  } catch (error) {
    throw error instanceof GraupelError ? error : unreadable(path, error)
  }
}
