import { existsSync, rmdirSync } from 'node:fs'
import type { GraupelError } from '../core/errors.js'
import { hasCode } from './attempt.js'
import { forgetClaim } from './claim.js'
import { type Claim, claimAt, claimPathsIn, isClaimAt, readClaim } from './claims.js'
import { lastTimeMs } from './list.js'
import { pageBeside } from './name.js'
import { failed, readState } from './read.js'
import { isDayOld, notRemoved, type Removal, removeLeftovers, tooYoung, unreadableReason, unsafe } from './removal.js'
import { named, userOf } from './users.js'

/** Removes from a folder of pages the claims that are not needed any more, and what a crash left in one of them. */
export function cleanClaims(folder: string, nowMs: number): Removal[] {
  return claimPathsIn(folder).flatMap((path) => {
    const left = isClaimAt(path) ? removeLeftovers(path, nowMs) : []
    const removal = cleanOne(path, nowMs)
    return removal === undefined ? left : [...left, removal]
  })
}

/**
 * Removes one claim, however late its ceiling is. Where it cannot be seen whether its process runs, the ceiling has to lie a
 * day back.
 *
 * @returns What the claim said.
 * @throws GraupelError `ERR_STATE_UNSAFE`, `ERR_STATE_UNAVAILABLE`, `ERR_STATE_CORRUPT`
 */
export function removeClaim(path: string, nowMs: number): Claim {
  const claim = claimAt(path)
  const { holder, latest } = claim
  if (holder?.fate === 'running') throw unsafe(`${path} is held by ${named([userOf(holder.pid)])}; stop it first`)
  if (holder?.fate === 'unknown' && !isDayOld(claim, nowMs)) {
    throw unsafe(
      `${path} is held by process ${holder.pid} of another container, and whether that runs cannot be seen; stop all processes that use its node, and delete it`,
    )
  }
  let isForgotten: boolean
  try {
    isForgotten = forgetClaim(path, latest)
  } catch (error) {
    throw failed(path, 'removed', error, 'run this as its owner')
  }
  if (!isForgotten) throw unsafe(`${path} was taken up by another process at this moment; stop that first`)
  return claim
}

/** The page of a claim's key, if it remembers ids: the js engine goes on at its word, so a wrong time may be in both. */
export async function rememberedBeside(claim: Claim): Promise<{ path: string; timeMs: number } | undefined> {
  try {
    const page = await readState(pageBeside(claim.path))
    const timeMs = lastTimeMs(page)
    return timeMs === undefined ? undefined : { path: page.path, timeMs }
  } catch {
    return undefined
  }
}

/** `undefined` where another process was faster. */
function cleanOne(path: string, nowMs: number): Removal | undefined {
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

/** Removes a folder that holds no step. A process that is about to make one in it makes the folder anew. */
function removeEmpty(path: string): Removal | undefined {
  try {
    rmdirSync(path)
    return { found: { path }, isRemoved: true, reason: 'empty' }
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    return { found: { path }, isRemoved: false, reason: notRemoved(error) }
  }
}
