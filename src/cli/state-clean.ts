import { type BigIntStats, lstatSync, readdirSync, statSync, unlinkSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { pagesFolder } from '../host/folder.js'
import { GraupelError } from '../index.js'
import { type Paint, printable } from './paint.js'
import { headedTable, jsonLine, lastTimeMs, listCells, listHead, plainFound } from './state-list.js'
import { type Found, pagesIn } from './state-memory.js'
import { failed, readState, unreadable } from './state-read.js'
import { type Mappings, mappings, type User, usersOf } from './state-users.js'
import { howFar } from './time.js'

// docs/state-file.md says why it is safe to forget what lies a day back.
const dayMs = 24 * 3_600_000
const hourMs = 3_600_000

/** What became of a page or of what a crash left behind, and why. */
interface Fate {
  readonly found: Found | { readonly path: string }
  readonly isRemoved: boolean
  readonly reason: string
}

/** `graupel state --clean`: removes what nothing needs from a folder of pages, and says what it removed and kept. */
export async function cleanedFolder(folder: string, isJson: boolean, paint: Paint): Promise<string> {
  const nowMs = Date.now()
  const found = await pagesIn(folder)
  const users = mappings()
  const fates: Fate[] = []
  const note = (fate: Fate | undefined) => fate !== undefined && fates.push(fate)
  // One by one, so that each is looked at again just before it is removed.
  for (const page of found) note(await cleaned(page, users, nowMs))
  for (const path of leftIn(folder)) note(cleanedLeftover(path, nowMs))
  if (isJson) return fates.map((fate) => jsonLine(plainFate(fate, nowMs))).join('')
  if (fates.length === 0) return `There is no page in ${printable(folder)}: nothing to remove.\n`
  const rows = fates.map(({ found, isRemoved, reason }) => [
    isRemoved ? 'removed' : 'kept',
    printable(reason),
    ...('stored' in found || 'error' in found ? listCells(found) : ['', '', '', '']),
    printable(found.path),
  ])
  return headedTable(['', 'because', ...listHead, 'page'], rows, paint)
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
  if (isJson) return jsonLine(plainFate({ found, isRemoved: true, reason: 'asked for' }, nowMs))
  const [layout, node, namespace] = listCells(found)
  const ids = 'error' in found ? '' : ` of layout ${layout}, node ${node}, namespace ${namespace}`
  return `Removed ${printable(path)}${ids}.\nForgotten: ${forgotten(found, nowMs)}.\n`
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
  const { stored, ids, stats } = found
  if (stored.kind === 'file') return 'a state file'
  const users = mapped?.of(stats)
  if (users?.length) return `open by ${users.map(({ pid }) => pid).join(', ')}`
  if (stored.isSealed) return 'sealed'
  if (ids.clock === 'injected') return 'injected clock'
  const timeMs = lastTimeMs(found)
  if (timeMs !== undefined && !isDayOld(found, nowMs)) return timeMs > nowMs ? 'ahead of the clock' : 'not a day old'
  return users === undefined && timeMs === undefined ? 'no id, perhaps open' : undefined
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

/** By the clock of the system, which is not that of a test or a simulation. */
function isDayOld(found: Found, nowMs: number): boolean {
  if ('error' in found || found.ids.clock === 'injected') return false
  const timeMs = lastTimeMs(found)
  return timeMs !== undefined && timeMs < nowMs - dayMs
}

/** What was being made under a name with a dot, perhaps by a process that ended over it. */
function leftIn(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => /^\..*\.new$/s.test(name))
      .map((name) => join(folder, name))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw unreadable(folder, error)
  }
}

function cleanedLeftover(path: string, nowMs: number): Fate | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats === undefined) return undefined
  if (stats.mtimeMs >= nowMs - hourMs) return { found: { path }, isRemoved: false, reason: 'being made' }
  return removed({ found: { path }, isRemoved: true, reason: 'left over' })
}

/** Removes it; keeps it where the system does not let it go, as Windows does what is open. */
function removed(fate: Fate): Fate | undefined {
  try {
    unlinkSync(fate.found.path)
    return fate
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException
    return code === 'ENOENT' ? undefined : { ...fate, isRemoved: false, reason: `cannot be removed: ${code}` }
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

function unsafe(message: string): GraupelError {
  return new GraupelError('ERR_STATE_UNSAFE', message)
}

function named(users: readonly User[]): string {
  return users.map(({ pid, command }) => (command === '' ? String(pid) : `${pid} (${command})`)).join(', ')
}

function forgotten(found: Found, nowMs: number): string {
  const timeMs = lastTimeMs(found)
  if (timeMs !== undefined) return `ids up to ${new Date(timeMs).toISOString()}, ${howFar(timeMs, nowMs)} the clock`
  if ('error' in found) return 'its last id, which is not known, as it is damaged or of another version'
  if (found.stored.kind === 'page' && found.stored.isSealed) return 'that its ids are counted in another page'
  return 'nothing, as it has no id'
}

function plainFate({ found, isRemoved, reason }: Fate, nowMs: number) {
  const isPage = 'stored' in found || 'error' in found
  const timeMs = isPage ? lastTimeMs(found) : undefined
  const aheadMs = timeMs === undefined ? null : timeMs - nowMs
  return { isRemoved, reason, ...(isPage ? plainFound(found) : found), aheadMs }
}
