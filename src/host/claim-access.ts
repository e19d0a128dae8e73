import { GraupelError } from '../core/errors.js'
import type { Claimant, ClaimClock } from '../state/claims.js'
import { type Identity, layoutNameIn } from '../state/key.js'
import type { Link } from './claim-chain.js'
import { checkFolder, claimIn, ownFolder, pagesFolder } from './folder.js'
import { fateOf, isThisProcess } from './process.js'
import { hasCode, permissionFor } from './system.js'

// Decides which process may make the next link of a claim. Whether another process runs decides only whether
// this process is refused: docs/state-proof.md, section "Claims", has the argument.

/** How often a change of a claim is tried. It fails only if another process has changed the claim. */
const maxTries = 100

interface KnownClaim {
  readonly path: string
  /** The user who made the claim. */
  readonly user: number | undefined
}

/** The path of each claim when it was first used. The process may act for another user later. */
const knownClaims = new Map<string, KnownClaim>()

/** {@link Claims.pathOf} */
export function claimPath(key: string): string {
  return knownClaim(key).path
}

/** Tries a change of this user's claim of a key until it succeeds. */
export function withClaim<T>({ key }: Claimant, change: (path: string) => T | undefined): T {
  const { path, user } = knownClaim(key)
  checkUser(path, user)
  return changeClaim(path, change, () => ownFolder(folderOf(path)))
}

/**
 * Tries a change of the claim at a path until `change` returns a value, because no other process was
 * faster.
 *
 * @param prepare - Makes or checks the folder of claims.
 */
export function changeClaim<T>(path: string, change: (path: string) => T | undefined, prepare = () => {}): T {
  try {
    prepare()
    for (let tries = 0; tries < maxTries; tries++) {
      try {
        checkFolder(path)
        const changed = change(path)
        if (changed !== undefined) return changed
      } catch (error) {
        // ENOENT: the claim was removed meanwhile.
        if (!hasCode(error, 'ENOENT')) throw error
      }
    }
  } catch (cause) {
    if (cause instanceof GraupelError) throw cause
    const remedy =
      permissionFor(cause, folderOf(path)) ?? 'set GRAUPEL_STATE_FOLDER to a folder that exists and can be written'
    const { message } = cause as Error
    throw new GraupelError(
      'ERR_STATE_UNAVAILABLE',
      `the claim ${path}, by which this process keeps its node on the js engine, cannot be used: ${message}; ${remedy}`,
      { cause },
    )
  }
  throw new GraupelError(
    'ERR_STATE_UNAVAILABLE',
    `the claim ${path} cannot be changed, because other processes changed it at each of ${maxTries} attempts; try again`,
  )
}

/** Whether a link says that the claimant holds the claim. */
export function isHolder({ owner }: Claimant, says: Link): boolean {
  return says.use === 'counts' && says.owner === owner
}

/**
 * Refuses a claimant if the process of a link may run. The refusal only informs the user: ids differ without
 * it.
 *
 * @throws GraupelError `ERR_STATE_UNREACHABLE`
 */
export function checkFree({ description }: Identity, clock: ClaimClock, path: string, says: Link): void {
  if (says.use !== 'counts') return
  const fate = fateOf(says)
  if (fate === 'gone') return
  // This container cannot see whether the process runs. The process makes no id before it has seen the next
  // link.
  if (fate === 'unknown' && BigInt(says.ceiling) <= clock.nowSlot()) return
  const layout = layoutNameIn(description)
  throw new GraupelError(
    'ERR_STATE_UNREACHABLE',
    isThisProcess(says)
      ? `the js engine counts this node of layout '${layout}' in another thread of this process, which shares no memory with this thread; give each thread a node of its own`
      : fate === 'unknown'
        ? `the js engine counts this node of layout '${layout}' in process ${says.pid} of another container; use the native engine in all processes of a node, or delete ${path} if that container is gone for good`
        : `the js engine counts this node of layout '${layout}' in process ${says.pid}; use the native engine in all processes of a node, or give each process a node of its own`,
  )
}

function knownClaim(key: string): KnownClaim {
  let known = knownClaims.get(key)
  if (known === undefined) {
    known = { path: claimIn(pagesFolder(), key), user: process.geteuid?.() }
    knownClaims.set(key, known)
  }
  return known
}

function checkUser(path: string, user: number | undefined): void {
  const userNow = process.geteuid?.()
  if (userNow === user) return
  throw new GraupelError(
    'ERR_STATE_UNAVAILABLE',
    `the claim ${path} belongs to user ${user}, and this process now acts for user ${userNow}, who may not write it; create generators after the change of user`,
  )
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'))
}
