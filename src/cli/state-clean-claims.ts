import { existsSync, rmdirSync } from 'node:fs'
import { forgetClaim } from '../host/claim.js'
import type { GraupelError } from '../index.js'
import { printable } from './paint.js'
import { type Claim, claimAt, claimPathsIn, isClaimAt, readClaim } from './state-claim.js'
import { type Fate, isDayOld, notRemoved, removedText, tooYoung, unsafe } from './state-fate.js'
import { lastTimeMs } from './state-list.js'
import { failed, readState } from './state-read.js'
import { named, userOf } from './state-users.js'

/** `graupel state --clean`, of the claims in a folder of pages; `leftovers` removes what a crash left in one of them. */
export function cleanedClaims(folder: string, leftovers: (folder: string) => Fate[], nowMs: number): Fate[] {
  return claimPathsIn(folder).flatMap((path) => {
    const left = isClaimAt(path) ? leftovers(path) : []
    const fate = cleaned(path, nowMs)
    return fate === undefined ? left : [...left, fate]
  })
}

/**
 * `graupel state PATH --clean`, of a claim: removes it, whatever its last id is, and says what is forgotten by that.
 *
 * @throws GraupelError `ERR_STATE_UNSAFE`, `ERR_STATE_UNAVAILABLE`, `ERR_STATE_CORRUPT`
 */
export async function cleanedClaim(path: string, isJson: boolean): Promise<string> {
  const nowMs = Date.now()
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
  return removedText(claim, isJson, nowMs) + (isJson ? '' : await pageBeside(path))
}

/** Undefined where another process was faster. */
function cleaned(path: string, nowMs: number): Fate | undefined {
  let claim: Claim | undefined
  try {
    claim = readClaim(path)
  } catch (cause) {
    const error = cause as GraupelError
    // What it would forget is not known.
    const reason = error.code === 'ERR_STATE_CORRUPT' ? 'damaged' : error.code
    return { found: { path, error }, isRemoved: false, reason }
  }
  if (claim === undefined) return cleanedEmpty(path)
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
function cleanedEmpty(path: string): Fate | undefined {
  try {
    rmdirSync(path)
    return { found: { path }, isRemoved: true, reason: 'empty' }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    return { found: { path }, isRemoved: false, reason: notRemoved(error) }
  }
}

/** The js engine takes up the page of a node, too, so a wrong time may be in both. */
async function pageBeside(path: string): Promise<string> {
  try {
    const page = await readState(path.replace(/claim$/, 'page'))
    const timeMs = lastTimeMs(page)
    if (timeMs === undefined) return ''
    return `Still remembered: ids up to ${new Date(timeMs).toISOString()}, by ${printable(page.path)}.\n`
  } catch {
    return ''
  }
}
