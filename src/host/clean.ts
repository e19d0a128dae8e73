import { type BigIntStats, lstatSync, statSync, unlinkSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import type { GraupelError } from '../core/errors.js'
import { cleanClaims } from './clean-claims.js'
import { pagesFolder } from './folder.js'
import { isBroken, lastTimeMs } from './list.js'
import { isHashedPageName } from './name.js'
import { type Broken, pagesIn } from './pages.js'
import { failed, readState, type State, unreadable } from './read.js'
import { isDayOld, type Removal, removeFile, removeLeftovers, tooYoung, unreadableReason, unsafe } from './removal.js'
import { type Mappings, mappings, named, usersOf } from './users.js'

/** Removes from a folder of pages what is not needed any more. @throws GraupelError `ERR_STATE_UNAVAILABLE` */
export async function cleanFolder(folder: string, nowMs: number): Promise<Removal[]> {
  const found = await pagesIn(folder)
  const users = mappings()
  const removals: Removal[] = []
  // One by one, so that each is looked at again just before it is removed.
  for (const page of found) {
    const removal = await cleanOne(page, users, nowMs)
    if (removal !== undefined) removals.push(removal)
  }
  return [...removals, ...cleanClaims(folder, nowMs), ...removeLeftovers(folder, nowMs)]
}

/**
 * Removes one page, however late its last id is. Where it cannot be seen which processes have it open, its last id has to
 * lie a day back.
 *
 * @returns What the page said.
 * @throws GraupelError `ERR_STATE_UNSAFE`, `ERR_STATE_UNAVAILABLE`, `ERR_STATE_CORRUPT`, `ERR_STATE_MISMATCH`
 */
export async function removePage(path: string, nowMs: number): Promise<State | Broken> {
  const users = usersOf('page', plainFileAt(path))
  // Read when no process has it open any more.
  const found = await pageAt(path)
  if (users === undefined && !isDayOld(found, nowMs)) {
    throw unsafe(
      `who has ${path} open cannot be seen on this system, and its last id is not known to lie a day in the past; stop all processes that use its node, and delete it`,
    )
  }
  if (users !== undefined && users.length > 0) throw unsafe(`${path} is open by ${named(users)}; stop them first`)
  try {
    unlinkSync(path)
  } catch (error) {
    throw failed(path, 'removed', error, 'run this as its owner, when no process has it open')
  }
  return found
}

/** `undefined` where another process was faster. */
async function cleanOne(
  found: State | Broken,
  users: Mappings | undefined,
  nowMs: number,
): Promise<Removal | undefined> {
  const reason = keptBecause(found, users, nowMs) ?? (await changeOf(found))
  if (reason !== undefined) return { found, isRemoved: false, reason }
  return removeFile({ found, isRemoved: true, reason: isDayOld(found, nowMs) ? 'more than a day old' : 'no id' })
}

function keptBecause(found: State | Broken, mapped: Mappings | undefined, nowMs: number): string | undefined {
  if (isBroken(found)) return unreadableReason(found.error)
  const { stored, stats } = found
  if (stored.kind === 'file') return 'a state file'
  const users = mapped?.of(stats)
  if (users?.length) return `open by ${users.map(({ pid }) => pid).join(', ')}`
  if (stored.isSealed) return 'sealed'
  const reason = tooYoung(found, nowMs)
  if (reason !== undefined) return reason
  return users === undefined && lastTimeMs(found) === undefined ? 'no id, perhaps open' : undefined
}

/** What has become of it since it was read: a process may have opened it, made ids, and ended. */
async function changeOf(found: State | Broken): Promise<string | undefined> {
  try {
    const again = await readState(found.path)
    return 'stored' in found && found.stored.word === again.stored.word ? undefined : 'in use'
  } catch (error) {
    return (error as GraupelError).code
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

/** The page at a path; or the file in the place of a page, if that is none or damaged. */
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
