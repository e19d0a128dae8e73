import { GraupelError } from '../core/errors.js'
import { type Identity, idsText } from './key.js'

// Errors of pages, state files and claims, for faults of the native engine and for src/host. docs/errors.md
// has more remedies.

/** The format of pages and state files that this version of the package reads and writes. */
export const stateFormat = 1

/**
 * The file of a state, as messages name it. A header that cannot be read does not tell pages from state
 * files.
 */
export type StateKind = 'page' | 'state file' | 'page or state file' | 'claim'

/** The error for a state whose bytes are wrong. */
export function damagedState(kind: StateKind, path: string, detail: string): GraupelError {
  return new GraupelError(
    'ERR_STATE_CORRUPT',
    `the ${kind} ${path} is damaged: ${detail}; delete it once the clock has certainly passed its last id`,
  )
}

/** The error for a state of another version of graupel. */
export function otherFormat(kind: StateKind, path: string, format: number): GraupelError {
  return new GraupelError(
    'ERR_STATE_MISMATCH',
    `the ${kind} ${path} has format ${format}, and this version of graupel reads format ${stateFormat}; use one version of graupel for all processes of a node`,
  )
}

/** The error for a state of other ids. @param wanted - The ids of the generator, if they are known. */
export function ofOtherIds(
  kind: 'page' | 'state file',
  path: string,
  found: Identity,
  wanted: Identity | undefined,
): GraupelError {
  const remedy = kind === 'page' ? 'use another namespace' : 'use another path'
  const text = `the ${kind} ${path} is for ${textOf(found)}, and not for ${textOf(wanted)}; ${remedy}`
  return new GraupelError('ERR_STATE_MISMATCH', text)
}

/** The error for a page that other users could change. */
export function unsafePage(path: string, detail: string): GraupelError {
  return new GraupelError(
    'ERR_STATE_UNSAFE',
    `the page ${path} is ${detail}, and a page has to be a plain file of this user alone (mode 0600, no links); remove it`,
  )
}

/** The error for a folder of pages, or of a claim, that other users could change. */
export function unsafeFolder(path: string, detail: string): GraupelError {
  return new GraupelError(
    'ERR_STATE_UNSAFE',
    `the folder ${path} is ${detail}, and it has to be a folder of this user alone (mode 0700, no link); remove it, or set GRAUPEL_STATE_FOLDER to another folder for all processes of this user`,
  )
}

/** The error if `createGenerator` would wait for the next tick longer than `openTimeoutMs`. */
export function tooEarly(kind: StateKind, path: string, waitMs: number): GraupelError {
  const retryAfterMs = Math.ceil(waitMs)
  return new GraupelError(
    'ERR_STATE_UNAVAILABLE',
    `the ${kind} ${path} has no slot before the next tick, in ${retryAfterMs} ms (never, if the clock stands still), and createGenerator waits for at most openTimeoutMs; try again after retryAfterMs, or raise openTimeoutMs`,
    { retryAfterMs },
  )
}

function textOf(ids: Identity | undefined): string {
  return ids === undefined ? 'the ids of this generator' : idsText(ids.key, ids.description)
}
