import { GraupelError } from '../core/errors.js'
import type { Claimant, ClaimClock } from '../engine/claims.js'
import { layoutNameIn } from '../engine/key.js'
import { hasCode } from './attempt.js'
import { type Latest, latestStep, type Step } from './claim-steps.js'
import { checkFolder, ownFolder, pagesFolder } from './folder.js'
import { claimIn } from './name.js'
import { permissionFor } from './permission.js'
import { fateOf, isThisProcess } from './process.js'

// Which process may make the next step of a claim. Whether another process runs decides only whether this one is refused:
// docs/state-proof.md, section "Claims", has the argument.

/** Attempts to change a claim. An attempt fails only if another process has changed the claim. */
const maxAttempts = 100

interface Place {
  readonly path: string
  /** The user who made the claim. */
  readonly user: number | undefined
}

/** The path of each claim when it was first used. The process may act for another user later. */
const places = new Map<string, Place>()

/** {@link Claims.pathOf} */
export function claimPath(key: string): string {
  return placeOf(key).path
}

/** Attempts a change of this user's claim of a key until it succeeds. */
export function withClaim<T>(
  { key }: Claimant,
  change: (place: string, latest: Latest | undefined) => T | undefined,
): T {
  const { path, user } = placeOf(key)
  checkUser(path, user)
  return changeClaim(path, change, () => ownFolder(folderOf(path)))
}

/**
 * Attempts a change of the claim at a path until it succeeds, which is when `change` returns a value.
 *
 * @param prepare - Makes or checks the folder of claims.
 */
export function changeClaim<T>(
  place: string,
  change: (place: string, latest: Latest | undefined) => T | undefined,
  prepare = () => {},
): T {
  try {
    prepare()
    for (let attempts = 0; attempts < maxAttempts; attempts++) {
      try {
        checkFolder(place)
        const changed = change(place, latestStep(place))
        if (changed !== undefined) return changed
      } catch (error) {
        // The claim was removed meanwhile.
        if (!hasCode(error, 'ENOENT')) throw error
      }
    }
  } catch (cause) {
    if (cause instanceof GraupelError) throw cause
    const flag = permissionFor(cause, folderOf(place))
    const remedy =
      flag === undefined
        ? 'make its folder writable, set GRAUPEL_STATE_FOLDER to one that is,'
        : `start Node with ${flag},`
    throw new GraupelError(
      'ERR_STATE_UNAVAILABLE',
      `the claim ${place}, which keeps other processes of this host away from a node of the js engine, cannot be used: ${(cause as Error).message}; ${remedy} or pass state: 'process' if no other process uses this node`,
      { cause },
    )
  }
  throw new GraupelError(
    'ERR_STATE_UNAVAILABLE',
    `other processes have changed the claim ${place} at each of ${maxAttempts} attempts; try again`,
  )
}

/** Whether a step says that the claimant holds the claim. */
export function isHolder({ owner }: Claimant, says: Step): boolean {
  return says.use === 'counts' && says.owner === owner
}

/**
 * Refuses a claimant if the process of a step may run. The refusal only informs the user: ids differ without it.
 *
 * @throws GraupelError `ERR_STATE_UNREACHABLE`
 */
export function checkFree(claimant: Claimant, clock: ClaimClock, place: string, says: Step): void {
  if (says.use !== 'counts') return
  const fate = fateOf(says)
  if (fate === 'gone') return
  // It cannot be seen from this container whether the process runs. It makes no id before it has seen the next step.
  if (fate === 'unknown' && BigInt(says.ceiling) <= clock.nowSlot()) return
  const who = isThisProcess(says)
    ? 'another thread of this process, which shares no memory with this one'
    : `process ${says.pid}`
  const elsewhere = fate === 'unknown' ? ` in another container (delete ${place} if that one is gone for good)` : ''
  throw new GraupelError(
    'ERR_STATE_UNREACHABLE',
    `this node of layout '${layoutNameIn(claimant.description)}' is counted by the js engine in ${who}${elsewhere}, and processes share a node only if all use the native engine; use it in all of them, give each a node of its own, or pass state: 'process' to say that their ids never meet`,
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

function folderOf(place: string): string {
  return place.slice(0, place.lastIndexOf('/'))
}
