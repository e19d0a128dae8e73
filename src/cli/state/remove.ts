import { type BigIntStats, lstatSync, statSync, unlinkSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { GraupelError } from '../../core/errors.js'
import { forgetClaim } from '../../host/claim.js'
import { isHashedPageName, pageBeside, pagesFolder } from '../../host/folder.js'
import { type Claim, claimAt } from './claims.js'
import { type Broken, isDayOld, lastTimeMs } from './list.js'
import { readState, reasonIn, type State, unreadable } from './read.js'
import { findUsers, named, userOf } from './users.js'

/**
 * Removes one page, however late its last id is. If the system does not tell which processes have it open,
 * its last id has to lie a day back.
 *
 * @returns The page as it was.
 * @throws GraupelError `ERR_STATE_UNSAFE`, `ERR_STATE_UNAVAILABLE`, `ERR_STATE_CORRUPT`, `ERR_STATE_MISMATCH`
 */
export async function removePage(path: string, nowMs: number): Promise<State | Broken> {
  const users = findUsers('page', path, plainFileAt(path))
  // Read after the users were looked for: a page without users does not change.
  const found = await pageAt(path)
  if (users === undefined && !isDayOld(found, nowMs)) {
    throw unsafe(
      `this system does not tell which processes have ${path} open, and its last id may be less than a day old; stop all processes that use its node, and delete it`,
    )
  }
  if (users !== undefined && users.length > 0) throw unsafe(`${path} is open by ${named(users)}; stop them first`)
  try {
    unlinkSync(path)
  } catch (error) {
    throw notRemovable(path, error)
  }
  return found
}

/**
 * Removes one claim, however late its ceiling is. If it cannot be seen whether its process runs, the ceiling
 * has to lie a day back.
 *
 * @returns The claim as it was.
 * @throws GraupelError `ERR_STATE_UNSAFE`, `ERR_STATE_UNAVAILABLE`, `ERR_STATE_CORRUPT`
 */
export function removeClaim(path: string, nowMs: number): Claim {
  const claim = claimAt(path)
  const { holder, latest } = claim
  if (holder?.fate === 'running') throw unsafe(`${path} is held by ${named([userOf(holder.pid)])}; stop it first`)
  if (holder?.fate === 'unknown' && !isDayOld(claim, nowMs)) {
    throw unsafe(
      `${path} is held by process ${holder.pid} of another container, and whether that process runs cannot be seen; stop all processes that use its node, and delete it`,
    )
  }
  let isForgotten: boolean
  try {
    isForgotten = forgetClaim(path, latest)
  } catch (error) {
    throw notRemovable(path, error)
  }
  if (!isForgotten) throw unsafe(`another process took up ${path} at this moment; stop that process first`)
  return claim
}

/**
 * Finds the page beside a claim, if it remembers ids. The js engine continues from the page, so both may have
 * a wrong time.
 */
export async function rememberedBeside(claim: Claim): Promise<{ path: string; timeMs: number } | undefined> {
  try {
    const page = await readState(pageBeside(claim.path))
    const timeMs = lastTimeMs(page)
    return timeMs === undefined ? undefined : { path: page.path, timeMs }
  } catch {
    return undefined
  }
}

function plainFileAt(path: string): BigIntStats {
  let stats: BigIntStats
  try {
    stats = lstatSync(path, { bigint: true })
  } catch (error) {
    throw unreadable(path, error)
  }
  if (stats.isSymbolicLink()) throw unsafe(`${path} is a symbolic link; give the path of the page itself`)
  return stats
}

/** Reads the page at a path. A file that has the place of a page is returned even if it is damaged. */
async function pageAt(path: string): Promise<State | Broken> {
  try {
    const found = await readState(path)
    if (found.stored.kind === 'page') return found
  } catch (error) {
    const { code } = error as GraupelError
    const isPage = (code === 'ERR_STATE_CORRUPT' || code === 'ERR_STATE_MISMATCH') && hasPlaceOfPage(path)
    if (!isPage) throw error
    return { path, error: error as GraupelError }
  }
  throw unsafe(
    `${path} is a state file, and only pages are removed; delete it yourself once the clock has certainly passed its last id`,
  )
}

function hasPlaceOfPage(path: string): boolean {
  if (!isHashedPageName(basename(path))) return false
  const [own, given] = [pagesFolder(), dirname(path)].map((folder) =>
    statSync(folder, { bigint: true, throwIfNoEntry: false }),
  )
  return own !== undefined && own.dev === given?.dev && own.ino === given.ino
}

/** The error for a page or a claim that may still be needed. */
function unsafe(message: string): GraupelError {
  return new GraupelError('ERR_STATE_UNSAFE', message)
}

function notRemovable(path: string, cause: unknown): GraupelError {
  return new GraupelError(
    'ERR_STATE_UNAVAILABLE',
    `${path} cannot be removed: ${reasonIn(cause)}; run this as its owner, when no process has it open`,
    { cause },
  )
}
