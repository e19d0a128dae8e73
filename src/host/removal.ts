import { lstatSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { GraupelError } from '../core/errors.js'
import { hasCode } from './attempt.js'
import { isBroken, type Listed, lastTimeMs } from './list.js'
import { isUnfinishedName } from './name.js'
import { namesIn } from './read.js'

// The rules by which pages and claims are removed. docs/state-proof.md says why it is safe to forget what lies a day back.

const dayMs = 24 * 3_600_000
const hourMs = 3_600_000

/** What became of a page, of a claim, or of a file that a crash left behind, and why. */
export interface Removal {
  readonly found: Listed | { readonly path: string }
  readonly isRemoved: boolean
  readonly reason: string
}

/** By the clock of the system, which is not that of a test or a simulation. */
export function isDayOld(found: Listed, nowMs: number): boolean {
  if (isBroken(found) || found.ids.clock === 'injected') return false
  const timeMs = lastTimeMs(found)
  return timeMs !== undefined && timeMs < nowMs - dayMs
}

/** Why the last id, if there is one, is still needed. */
export function tooYoung(found: Listed, nowMs: number): string | undefined {
  if (isBroken(found)) return undefined
  if (found.ids.clock === 'injected') return 'injected clock'
  const timeMs = lastTimeMs(found)
  if (timeMs === undefined || isDayOld(found, nowMs)) return undefined
  return timeMs > nowMs ? 'ahead of the clock' : 'not a day old'
}

/** Why a page or claim that cannot be read is kept: it is not known what would be forgotten. */
export function unreadableReason({ code }: GraupelError): string {
  return code === 'ERR_STATE_CORRUPT' ? 'damaged' : code
}

/** The error for a page or a claim that is not to be removed. */
export function unsafe(message: string): GraupelError {
  return new GraupelError('ERR_STATE_UNSAFE', message)
}

/** The reason to keep it, where the system does not let it go, as Windows does with open files. */
export function notRemoved(error: unknown): string {
  return `cannot be removed: ${(error as NodeJS.ErrnoException).code ?? 'unknown'}`
}

/** Removes the file, if the system lets it go; `undefined` where another process was faster. */
export function removeFile(removal: Removal): Removal | undefined {
  try {
    // A claim that was being made is a folder.
    rmSync(removal.found.path, { recursive: true })
    return removal
  } catch (error) {
    return hasCode(error, 'ENOENT') ? undefined : { ...removal, isRemoved: false, reason: notRemoved(error) }
  }
}

/** Removes unfinished files that are older than an hour: their processes have ended while they made them. */
export function removeLeftovers(folder: string, nowMs: number): Removal[] {
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
