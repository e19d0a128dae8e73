import type { Claimant, ClaimClock, Claimed, Claims, Held, PageLink } from '../state/claims.js'
import { damagedState } from '../state/errors.js'
import type { Identity } from '../state/key.js'
import { changeClaim, checkFree, claimPath, isHolder, withClaim } from './claim-access.js'
import { type Latest, latestLink, makeLink, type NewLink, nameAfter, removeChain, removeOlder } from './claim-chain.js'
import { pageBeside } from './folder.js'
import { freePage } from './page-beside.js'
import { hasCode, randomBits, sleep, tryTo } from './system.js'

// The calls that the engines make on the claim of a key. claim-chain.ts reads and makes links;
// claim-access.ts decides which process may make the next link.

/** The claims of this host. */
export const claims: Claims = {
  pathOf: claimPath,
  take: takeClaim,
  isHeld: isClaimHeld,
  release: releaseClaim,
  giveToPage,
  randomBits,
}

function takeClaim(claimant: Claimant, clock: ClaimClock, held: Held, wanted: bigint): Claimed {
  return withClaim(claimant, (path) => {
    const { from, latest, isOwn } = settledLink(path, claimant, held)
    const before = ceilingOf(path, latest, claimant, clock)
    if (!isOwn) mayTake(path, latest, claimant, clock)
    const findFloor = () => (isOwn ? before : highest(before, floorBeside(path, latest, claimant, clock)))
    const floor = findFloor()
    const ceiling = nextCeiling(clock, held, { before, floor, isOwn, wanted })
    const link = makeAndTidy(path, latest, { ids: claimant, owner: claimant.owner, ceiling, use: 'counts' })
    if (link === undefined) return undefined
    try {
      // The page is read again after the link is made. Native processes do the opposite, so one of two
      // processes sees the other.
      return { from, link: shortToken(link), isOwn, floor: highest(floor, findFloor()), ceiling }
    } catch (error) {
      // If leaving the key to the page fails, the link stays, and the next process begins at its ceiling.
      tryTo(() => makeLink(path, link, { ids: claimant, ceiling: highest(before, held.word), use: 'page' }))
      throw error
    }
  })
}

interface Found {
  /** The link that the threads had before the claim was read. */
  readonly from: number
  readonly latest: Latest | undefined
  /** Whether the threads have the latest link. */
  readonly isOwn: boolean
}

/**
 * How often a thread looks whether another thread has raised the floor of its link. Together the pauses take
 * a second.
 */
const maxLooks = 60
const pauseMs = (looks: number) => (looks < 10 ? 1 : 20)

/**
 * Finds the latest link. If another thread has made the link, that thread raises the floor at this moment,
 * unless it was terminated. So this thread waits for the floor.
 */
function settledLink(path: string, claimant: Claimant, held: Held): Found {
  for (let looks = 0; ; looks++) {
    // Read before the claim: a link that another thread makes later is found by its token.
    const from = held.link
    const latest = latestLink(path)
    const isOfProcess = latest !== undefined && isHolder(claimant, latest.says)
    const isOwn = isOfProcess && shortToken(latest) === from
    if (isOwn || !isOfProcess || looks === maxLooks) return { from, latest, isOwn }
    sleep(pauseMs(looks))
  }
}

/** @throws GraupelError `ERR_STATE_UNREACHABLE` if another process may count the key */
function mayTake(path: string, latest: Latest | undefined, claimant: Claimant, clock: ClaimClock): void {
  if (latest !== undefined && !isHolder(claimant, latest.says)) checkFree(claimant, clock, path, latest.says)
}

/** The first slot that processes without a link leave to this process. @throws as `freePage` */
function floorBeside(path: string, latest: Latest | undefined, claimant: Claimant, clock: ClaimClock): bigint {
  const page = freePage(claimant, clock, pageBeside(path))
  if (page !== undefined) return page
  // A claim or page may have been deleted in this tick, and its process may make ids until the tick ends.
  return latest?.says.use === 'released' ? 0n : clock.slotAfter(0)
}

/**
 * The ceiling of the next link. At or above the ceiling that the threads have, which is that of a link that
 * may have been deleted: the threads issue slots below that ceiling, and the next process begins above this
 * one.
 *
 * @param found - The ceiling of the link before, the floor of the next link, and a slot below its ceiling.
 */
function nextCeiling(
  clock: ClaimClock,
  { word, ceiling }: Held,
  found: { readonly before: bigint; readonly floor: bigint; readonly isOwn: boolean; readonly wanted: bigint },
): bigint {
  const { before, floor, isOwn, wanted } = found
  // An own claim is raised from the word and not from the floor: several threads that meet the ceiling would
  // each raise it again.
  const from = isOwn ? word : highest(floor, word)
  const fresh = clock.ceilingFrom(highest(from, wanted), isOwn)
  return highest(fresh, highest(before, ceiling))
}

/** The name of the claimant's latest link of each key, so that the claim is not read in each tick. */
const linkNames = new Map<string, { readonly link: number; readonly name: string }>()

function isClaimHeld(claimant: Claimant, link: number): boolean {
  const { statSync } = process.getBuiltinModule('node:fs')
  const path = claimPath(claimant.key)
  try {
    let known = linkNames.get(claimant.key)
    if (known?.link !== link) {
      const latest = latestLink(path)
      if (latest === undefined || shortToken(latest) !== link || !isHolder(claimant, latest.says)) return false
      known = { link, name: latest.name }
      linkNames.set(claimant.key, known)
    }
    return statSync(`${path}/${known.name}`, { throwIfNoEntry: false }) !== undefined
  } catch {
    // A process that cannot look, because it has lost its rights or a link is damaged, has not lost the
    // claim.
    return true
  }
}

function releaseClaim(claimant: Claimant, held: number, word: bigint): void {
  // A failure leaves the ceiling, from which it is safe to continue.
  tryTo(() => {
    const path = claimPath(claimant.key)
    const latest = latestLink(path)
    // Another thread that has made a later link may be beyond the word.
    if (latest === undefined || shortToken(latest) !== held || !isHolder(claimant, latest.says)) return
    makeAndTidy(path, latest, { ids: claimant, owner: claimant.owner, ceiling: word, use: 'released' })
  })
}

function giveToPage(path: string, ids: Identity, clock: ClaimClock): PageLink | undefined {
  const given = changeClaim(path, () => {
    const latest = latestLink(path)
    if (latest === undefined) {
      // Even a folder without a link prevents the use of the page.
      tryTo(() => process.getBuiltinModule('node:fs').rmdirSync(path))
      return { link: undefined }
    }
    if (latest.says.use === 'page') return { link: latest }
    checkFree(ids, clock, path, latest.says)
    const link = makeAndTidy(path, latest, { ids, ceiling: ceilingOf(path, latest, ids, clock), use: 'page' })
    return link && { link }
  })
  const { link } = given
  return link && { claimLink: link.name, claimNext: nameAfter(link), claimFloor: ceilingOf(path, link, ids, clock) }
}

/**
 * Forgets a claim whose latest link is `latest`.
 *
 * The link made here prevents a process from continuing from `latest`. The link has no ceiling, so its
 * successor begins with the next tick. Removing the claim is safe even if a process takes it at this moment,
 * because that process notices within a tick.
 *
 * @returns False if another process was faster.
 */
export function forgetClaim(path: string, latest: Latest): boolean {
  try {
    if (makeLink(path, latest, { ids: latest.says, ceiling: 0n, use: 'page' }) === undefined) return false
    removeChain(path)
    return true
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false
    throw error
  }
}

function makeAndTidy(path: string, latest: Latest | undefined, fresh: NewLink): Latest | undefined {
  const link = makeLink(path, latest, fresh)
  if (link !== undefined) removeOlder(path, link)
  return link
}

/** @throws GraupelError `ERR_STATE_CORRUPT` if the link is of another key, or its layout has no such slot */
function ceilingOf(path: string, latest: Latest | undefined, { key }: Identity, { endSlot }: ClaimClock): bigint {
  if (latest === undefined) return 0n
  const { says } = latest
  if (says.key !== key) throw damagedState('claim', path, 'it is the claim of another key')
  const ceiling = BigInt(says.ceiling)
  if (ceiling <= endSlot) return ceiling
  throw damagedState('claim', path, `it has the ceiling ${ceiling}, which its layout cannot have`)
}

/** Names a link among the links of this process: 32 bits of its token, never 0. */
function shortToken({ says }: Latest): number {
  return Number(BigInt.asIntN(32, BigInt(`0x${says.token}`))) || 1
}

function highest(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}
