import { type BigIntStats, lstatSync, statSync, unlinkSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { pagesFolder } from '../host/folder.js'
import type { GraupelError } from '../index.js'
import { type Paint, printable } from './paint.js'
import { cleanedClaims } from './state-clean-claims.js'
import { type Fate, isDayOld, isListed, notRemoved, plainFate, removedText, tooYoung, unsafe } from './state-fate.js'
import { headedTable, jsonLine, lastTimeMs, listCells, listHead } from './state-list.js'
import { type Found, pagesIn } from './state-memory.js'
import { failed, namesIn, readState, unreadable } from './state-read.js'
import { type Mappings, mappings, named, usersOf } from './state-users.js'

const hourMs = 3_600_000

/** `graupel state --clean`: removes what nothing needs from a folder of pages, and says what it removed and kept. */
export async function cleanedFolder(folder: string, isJson: boolean, paint: Paint): Promise<string> {
  const nowMs = Date.now()
  const found = await pagesIn(folder)
  const users = mappings()
  const fates: Fate[] = []
  const note = (fate: Fate | undefined) => fate !== undefined && fates.push(fate)
  // One by one, so that each is looked at again just before it is removed.
  for (const page of found) note(await cleaned(page, users, nowMs))
  fates.push(...cleanedClaims(folder, (claim) => cleanedLeftovers(claim, nowMs), nowMs))
  fates.push(...cleanedLeftovers(folder, nowMs))
  if (isJson) return fates.map((fate) => jsonLine(plainFate(fate, nowMs))).join('')
  if (fates.length === 0) return `There is no page and no claim in ${printable(folder)}: nothing to remove.\n`
  const rows = fates.map(({ found, isRemoved, reason }) => [
    isRemoved ? 'removed' : 'kept',
    printable(reason),
    ...(isListed(found) ? listCells(found) : ['', '', '', '']),
    printable(found.path),
  ])
  return headedTable(['', 'because', ...listHead, 'path'], rows, paint)
}

/**
 * `graupel state PATH --clean`: removes one page, whatever its last id is, and says what is forgotten by that.
 *
 * @throws GraupelError `ERR_STATE_UNSAFE`, `ERR_STATE_UNAVAILABLE`, `ERR_STATE_CORRUPT`, `ERR_STATE_MISMATCH`
 */
export async function cleanedPage(path: string, isJson: boolean): Promise<string> {
  const nowMs = Date.now()
  const users = usersOf('page', plainFileAt(path))
  // What it says is read when no process has it open any more.
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
  return removedText(found, isJson, nowMs)
}

/** Undefined where another process was faster. */
async function cleaned(found: Found, users: Mappings | undefined, nowMs: number): Promise<Fate | undefined> {
  const reason = keptBecause(found, users, nowMs) ?? (await changeOf(found))
  if (reason !== undefined) return { found, isRemoved: false, reason }
  return removed({ found, isRemoved: true, reason: isDayOld(found, nowMs) ? 'more than a day old' : 'no id' })
}

function keptBecause(found: Found, mapped: Mappings | undefined, nowMs: number): string | undefined {
  // What it would forget is not known.
  if ('error' in found) return found.error.code === 'ERR_STATE_CORRUPT' ? 'damaged' : found.error.code
  const { stored, stats } = found
  if (stored.kind === 'file') return 'a state file'
  const users = mapped?.of(stats)
  if (users?.length) return `open by ${users.map(({ pid }) => pid).join(', ')}`
  if (stored.isSealed) return 'sealed'
  const reason = tooYoung(found, nowMs)
  if (reason !== undefined) return reason
  return users === undefined && lastTimeMs(found) === undefined ? 'no id, perhaps open' : undefined
}

/** What has become of it since it was read: a process may have come to it, made ids, and gone. */
async function changeOf(found: Found): Promise<string | undefined> {
  try {
    const again = await readState(found.path)
    return 'stored' in found && found.stored.word === again.stored.word ? undefined : 'in use'
  } catch (error) {
    return (error as GraupelError).code
  }
}

/** What was being made under a name with a dot, perhaps by a process that ended over it. */
function cleanedLeftovers(folder: string, nowMs: number): Fate[] {
  return namesIn(folder)
    .filter((name) => /^\..*\.new$/s.test(name))
    .flatMap((name) => cleanedLeftover(join(folder, name), nowMs) ?? [])
}

function cleanedLeftover(path: string, nowMs: number): Fate | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats === undefined) return undefined
  if (stats.mtimeMs >= nowMs - hourMs) return { found: { path }, isRemoved: false, reason: 'being made' }
  return removed({ found: { path }, isRemoved: true, reason: 'left over' })
}

/** Removes it, if the system lets it go. */
function removed(fate: Fate): Fate | undefined {
  try {
    unlinkSync(fate.found.path)
    return fate
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    return { ...fate, isRemoved: false, reason: notRemoved(error) }
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

/** A page, or what has the place of one, whatever is in it. */
async function pageAt(path: string): Promise<Found> {
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
  if (!/^[0-9a-f]{32}\.page$/.test(basename(path))) return false
  const [own, given] = [pagesFolder(), dirname(path)].map((folder) =>
    statSync(folder, { bigint: true, throwIfNoEntry: false }),
  )
  return own !== undefined && own.dev === given?.dev && own.ino === given.ino
}
