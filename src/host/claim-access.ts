import type { Claimant, ClaimClock } from '../engine/claims.js'
import { layoutNameIn } from '../engine/key.js'
import { GraupelError } from '../errors.js'
import { hasCode } from './attempt.js'
import { type Latest, latestStep, type Step } from './claim-steps.js'
import { ownFolder, pagesFolder } from './folder.js'
import { claimIn } from './name.js'
import { fateOf, isThisProcess, type ProcessIdentity } from './process.js'
import { sleep } from './sleep.js'

// Which process may make the next step of a claim, and when. docs/state-file.md has the argument, section "Claims".

/** Each time that a process has to look again, another one has made a step. */
const maxAttempts = 100
const pauseMs = 5

interface Place {
  readonly path: string
  /** The user who made the claim. */
  readonly user: number | undefined
}

/** Where each claim was at first: the process may have become another user's since. */
const places = new Map<string, Place>()

/** {@link Claims.pathOf} */
export function claimPath(key: string): string {
  return placeOf(key).path
}

/** Attempts a change of a claim that no other process holds, until it is made. */
export function withClaim<T>(
  claimant: Claimant,
  clock: ClaimClock,
  change: (place: string, latest: Latest | undefined) => T | undefined,
): T {
  const { path: place, user } = placeOf(claimant.key)
  checkUser(place, user)
  try {
    ownFolder(place.slice(0, place.lastIndexOf('/')))
    for (let attempts = 0; attempts < maxAttempts; attempts++) {
      try {
        ownFolder(place)
        const latest = latestStep(place)
        const isMoving = latest !== undefined && !isFree(claimant, clock, place, latest.says)
        if (isMoving) sleep(pauseMs)
        const changed = isMoving ? undefined : change(place, latest)
        if (changed !== undefined) return changed
      } catch (error) {
        // The folder goes when the claim becomes a page.
        if (!hasCode(error, 'ENOENT')) throw error
      }
    }
  } catch (cause) {
    if (cause instanceof GraupelError) throw cause
    throw new GraupelError(
      'ERR_STATE_UNAVAILABLE',
      `the claim ${place}, which keeps other processes of this host away from a node of the js engine, cannot be written: ${(cause as Error).message}; make its folder writable, set GRAUPEL_STATE_FOLDER to one that is, or pass state: 'process' if no other process uses this node`,
      { cause },
    )
  }
  throw new GraupelError(
    'ERR_STATE_UNAVAILABLE',
    `other processes were changing the claim ${place} each time that this one looked; try again, and if that does not help, a process of another container has ended in the middle of it: delete the claim once the clock has certainly passed the last id`,
  )
}

/** Whether a step says that the claimant has the claim. */
export function isHolder({ token }: Claimant, says: Step): boolean {
  return says.use === 'counts' && says.token === token
}

/**
 * The error for a node that another process counts.
 *
 * @param holder - That process; `undefined` where there are more than a page names.
 * @param elsewhere - The claim, where its process is one of another container.
 */
export function unreachable(
  { description }: Claimant,
  engine: 'js' | 'native',
  holder: ProcessIdentity | undefined,
  elsewhere?: string,
): GraupelError {
  const holders =
    holder === undefined
      ? 'more processes than its page has room to name'
      : isThisProcess(holder)
        ? 'another thread of this process, with which this thread shares no memory,'
        : `process ${holder.pid}`
  const where =
    elsewhere === undefined ? '' : ` in another container (delete ${elsewhere} if that one is gone for good)`
  return new GraupelError(
    'ERR_STATE_UNREACHABLE',
    `this node of layout '${layoutNameIn(description)}' is counted by the ${engine} engine in ${holders}${where}, and processes cannot share a node with the js engine; use the native engine in all of them, give each a node of its own, or pass state: 'process' to say that their ids never meet`,
  )
}

function placeOf(key: string): Place {
  let place = places.get(key)
  if (place === undefined) {
    place = { path: claimIn(pagesFolder(), key), user: process.geteuid?.() }
    places.set(key, place)
  }
  return place
}

function checkUser(place: string, user: number | undefined): void {
  const userNow = process.geteuid?.()
  if (userNow === user) return
  throw new GraupelError(
    'ERR_STATE_UNAVAILABLE',
    `the claim ${place} is user ${user}'s, and this process has become user ${userNow}'s, who may not write it; create generators after the change of user, or use the native engine`,
  )
}

/** Whether the claimant may go on from a step: false while a page is made of the claim. @throws GraupelError `ERR_STATE_UNREACHABLE` */
function isFree(claimant: Claimant, clock: ClaimClock, place: string, says: Step): boolean {
  if (says.use === 'released' || isHolder(claimant, says)) return true
  const fate = fateOf(says)
  if (fate === 'gone') return true
  // Its page may be there at any moment, and the process that makes it does not look at the claim again.
  if (says.use === 'hands over') return false
  // In a container that cannot be seen, it is either gone, or idle: then it finds the next step before it makes an id.
  if (fate === 'unknown' && BigInt(says.ceiling) <= clock.nowSlot()) return true
  throw unreachable(claimant, 'js', says, fate === 'unknown' ? place : undefined)
}
