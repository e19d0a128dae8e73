import { existsSync, lstatSync, rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { GraupelError } from '../../core/errors.js'
import { forgetClaim } from '../../host/claim.js'
import { isUnfinishedName } from '../../host/folder.js'
import { hasCode } from '../../host/system.js'
import { type Claim, claimPathsIn, isClaimAt, readClaim } from './claims.js'
import { type Broken, isBroken, isDayOld, type Listed, lastTimeMs, pagesIn } from './list.js'
import { namesIn, readState, type State } from './read.js'
import { type Mappings, mappings } from './users.js'

// Removes the pages and claims that are no longer needed. docs/state-file.md says why it is safe to forget a
// last id that lies a day back; remove.ts removes a single page or claim.

const hourMs = 3_600_000

/** The outcome for a page, for a claim, or for a file that a crash left behind. */
export interface Removal {
  readonly found: Listed | { readonly path: string }
  readonly isRemoved: boolean
  readonly reason: string
}

/** Cleans a folder of pages. @throws GraupelError `ERR_STATE_UNAVAILABLE` */
export async function cleanFolder(folder: string, nowMs: number): Promise<Removal[]> {
  const found = await pagesIn(folder)
  const users = mappings()
  const removals: Removal[] = []
  // One by one, so that each page is read again just before it is removed.
  for (const page of found) {
    const removal = await cleanPage(page, users, nowMs)
    if (removal !== undefined) removals.push(removal)
  }
  return [...removals, ...cleanClaims(folder, nowMs), ...removeLeftovers(folder, nowMs)]
}

/** @returns `undefined` if another process was faster. */
async function cleanPage(
  found: State | Broken,
  users: Mappings | undefined,
  nowMs: number,
): Promise<Removal | undefined> {
  const reason = reasonToKeep(found, users, nowMs) ?? (await findChange(found))
  if (reason !== undefined) return { found, isRemoved: false, reason }
  return removeFile({ found, isRemoved: true, reason: isDayOld(found, nowMs) ? 'more than a day old' : 'no id' })
}

function reasonToKeep(found: State | Broken, mapped: Mappings | undefined, nowMs: number): string | undefined {
  if (isBroken(found)) return unreadableReason(found.error)
  const { path, stored, stats } = found
  if (stored.kind === 'file') return 'a state file'
  const users = mapped?.of(path, stats)
  if (users?.length) return `open by ${users.map(({ pid }) => pid).join(', ')}`
  if (stored.isSealed) return 'sealed'
  const reason = tooYoung(found, nowMs)
  if (reason !== undefined) return reason
  return users === undefined && lastTimeMs(found) === undefined ? 'no id, perhaps open' : undefined
}

/** The change of a page since it was read: a process may have opened it, made ids, and ended. */
async function findChange(found: State | Broken): Promise<string | undefined> {
  try {
    const again = await readState(found.path)
    return 'stored' in found && found.stored.word === again.stored.word ? undefined : 'in use'
  } catch (error) {
    return (error as GraupelError).code
  }
}

function cleanClaims(folder: string, nowMs: number): Removal[] {
  return claimPathsIn(folder).flatMap((path) => {
    const left = isClaimAt(path) ? removeLeftovers(path, nowMs) : []
    const removal = cleanClaim(path, nowMs)
    return removal === undefined ? left : [...left, removal]
  })
}

/** @returns `undefined` if another process was faster. */
function cleanClaim(path: string, nowMs: number): Removal | undefined {
  let claim: Claim | undefined
  try {
    claim = readClaim(path)
  } catch (cause) {
    const error = cause as GraupelError
    return { found: { path, error }, isRemoved: false, reason: unreadableReason(error) }
  }
  if (claim === undefined) return removeEmpty(path)
  const kept = heldBy(claim) ?? tooYoung(claim, nowMs)
  if (kept !== undefined) return { found: claim, isRemoved: false, reason: kept }
  try {
    if (forgetClaim(path, claim.latest)) {
      return { found: claim, isRemoved: true, reason: claim.timeMs === undefined ? 'no id' : 'more than a day old' }
    }
  } catch (error) {
    return { found: claim, isRemoved: false, reason: notRemoved(error) }
  }
  return existsSync(path) ? { found: claim, isRemoved: false, reason: 'in use' } : undefined
}

function heldBy({ holder }: Claim): string | undefined {
  if (holder === undefined || holder.fate === 'gone') return undefined
  return holder.fate === 'running' ? `held by ${holder.pid}` : 'held in another container'
}

/**
 * Removes the folder of a claim without a link. A process that is about to make a link makes the folder anew.
 */
function removeEmpty(path: string): Removal | undefined {
  try {
    rmdirSync(path)
    return { found: { path }, isRemoved: true, reason: 'empty' }
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    return { found: { path }, isRemoved: false, reason: notRemoved(error) }
  }
}

/** Removes unfinished files that are older than an hour: their processes have ended while they made them. */
function removeLeftovers(folder: string, nowMs: number): Removal[] {
  return namesIn(folder)
    .filter(isUnfinishedName)
    .flatMap((name) => removeLeftover(join(folder, name), nowMs) ?? [])
}

function removeLeftover(path: string, nowMs: number): Removal | undefined {
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats === undefined) return undefined
  if (stats.mtimeMs >= nowMs - hourMs) return { found: { path }, isRemoved: false, reason: 'being made' }
  return removeFile({ found: { path }, isRemoved: true, reason: 'left over' })
}

/**
 * Removes a file, or the folder of a claim that was being made; `undefined` if another process was faster.
 */
function removeFile(removal: Removal): Removal | undefined {
  try {
    rmSync(removal.found.path, { recursive: true })
    return removal
  } catch (error) {
    return hasCode(error, 'ENOENT') ? undefined : { ...removal, isRemoved: false, reason: notRemoved(error) }
  }
}

/** The reason why the last id is still needed; `undefined` if it is not. */
function tooYoung(found: Listed, nowMs: number): string | undefined {
  if (isBroken(found)) return undefined
  if (found.ids.clock === 'injected') return 'injected clock'
  const timeMs = lastTimeMs(found)
  if (timeMs === undefined || isDayOld(found, nowMs)) return undefined
  return timeMs > nowMs ? 'ahead of the clock' : 'not a day old'
}

/** The reason to keep an unreadable page or claim: it is not known which ids would be forgotten. */
function unreadableReason({ code }: GraupelError): string {
  return code === 'ERR_STATE_CORRUPT' ? 'damaged' : code
}

/** The reason to keep a file that the system does not let be removed, as Windows with open files. */
function notRemoved(error: unknown): string {
  return `cannot be removed: ${(error as NodeJS.ErrnoException).code ?? 'unknown'}`
}
