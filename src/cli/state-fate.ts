import { GraupelError } from '../index.js'
import { printable } from './paint.js'
import type { Page, StateFile } from './state-format.js'
import { jsonLine, type Listed, lastTimeMs, listCells, plainFound } from './state-list.js'
import { howFar } from './time.js'

// docs/state-file.md says why it is safe to forget what lies a day back.
const dayMs = 24 * 3_600_000

/** What became of a page, of a claim, or of what a crash left behind, and why. */
export interface Fate {
  readonly found: Listed | { readonly path: string }
  readonly isRemoved: boolean
  readonly reason: string
}

/** By the clock of the system, which is not that of a test or a simulation. */
export function isDayOld(found: Listed, nowMs: number): boolean {
  if ('error' in found || found.ids.clock === 'injected') return false
  const timeMs = lastTimeMs(found)
  return timeMs !== undefined && timeMs < nowMs - dayMs
}

/** Why the last id, if there is one, is still needed. */
export function tooYoung(found: Listed, nowMs: number): string | undefined {
  if ('error' in found) return undefined
  if (found.ids.clock === 'injected') return 'injected clock'
  const timeMs = lastTimeMs(found)
  if (timeMs === undefined || isDayOld(found, nowMs)) return undefined
  return timeMs > nowMs ? 'ahead of the clock' : 'not a day old'
}

export function isListed(found: Fate['found']): found is Listed {
  return 'error' in found || 'ids' in found
}

/** As an object for `--json`. */
export function plainFate({ found, isRemoved, reason }: Fate, nowMs: number) {
  const isKnown = isListed(found)
  const timeMs = isKnown ? lastTimeMs(found) : undefined
  const aheadMs = timeMs === undefined ? null : timeMs - nowMs
  return { isRemoved, reason, ...(isKnown ? plainFound(found) : found), aheadMs }
}

/** What is said of one that was asked for and is removed. */
export function removedText(found: Listed, isJson: boolean, nowMs: number): string {
  if (isJson) return jsonLine(plainFate({ found, isRemoved: true, reason: 'asked for' }, nowMs))
  const [layout, node, namespace] = listCells(found)
  const ids = 'error' in found ? '' : ` of layout ${layout}, node ${node}, namespace ${namespace}`
  return `Removed ${printable(found.path)}${ids}.\nForgotten: ${forgotten(found, nowMs)}.\n`
}

export function unsafe(message: string): GraupelError {
  return new GraupelError('ERR_STATE_UNSAFE', message)
}

/** The reason to keep it, where the system does not let it go, as Windows does what is open. */
export function notRemoved(error: unknown): string {
  return `cannot be removed: ${(error as NodeJS.ErrnoException).code ?? 'unknown'}`
}

function forgotten(found: Listed, nowMs: number): string {
  if ('error' in found) return 'its last id, which is not known, as it is damaged or of another version'
  const timeMs = lastTimeMs(found)
  const isCeiling = 'latest' in found && found.holder !== undefined
  if (timeMs !== undefined) {
    const time = new Date(timeMs).toISOString()
    return `ids ${isCeiling ? 'before' : 'up to'} ${time}, ${howFar(timeMs, nowMs)} the clock`
  }
  if ('stored' in found && isSealed(found.stored)) return 'that its ids are counted in another page'
  return 'nothing, as it has no id'
}

function isSealed(stored: Page | StateFile): boolean {
  return stored.kind === 'page' && stored.isSealed
}
