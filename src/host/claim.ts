import type { Claimant, ClaimClock, Claimed, Claims, Held, PageStep } from '../state/claims.js'
import { damagedState } from '../state/errors.js'
import type { Identity } from '../state/key.js'
import { changeClaim, checkFree, claimPath, isHolder, withClaim } from './claim-access.js'
import { type Latest, latestStep, makeStep, type NewStep, nameAfter, removeChain, removeOlder } from './claim-steps.js'
import { pageBeside } from './folder.js'
import { freePage } from './page-beside.js'
import { attempt, hasCode, randomBits, sleep } from './system.js'

// The calls that the engines make on the claim of a key. claim-steps.ts reads and makes steps;
// claim-access.ts decides which process may make the next step.

/** The claims of this host. */
export const claims: Claims = {
  pathOf: claimPath,
  take: takeClaim,
  isHeld: isClaimHeld,
  release: releaseClaim,
  giveToPage,
  randomBits,
}

function takeClaim(claimant: Claimant, clock: ClaimClock, held: Held): Claimed {
  return withClaim(claimant, (path) => {
    const { from, latest, isOwn } = settledStep(path, claimant, held)
    const before = ceilingOf(path, latest, claimant, clock)
    if (!isOwn) mayTake(path, latest, claimant, clock)
    const findFloor = () => (isOwn ? before : highest(before, floorBeside(path, latest, claimant, clock)))
    const floor = findFloor()
    const ceiling = nextCeiling(clock, held, { before, floor, isOwn })
    const step = makeAndTidy(path, latest, { ids: claimant, owner: claimant.owner, ceiling, use: 'counts' })
    if (step === undefined) return undefined
    try {
      // The page is read again after the step is made. Native processes do the opposite, so one of two
      // processes sees the other.
      return { from, step: shortToken(step), isOwn, floor: highest(floor, findFloor()), ceiling }
    } catch (error) {
      // If this fails, the step stays, and its ceiling is the next floor.
      attempt(() => makeStep(path, step, { ids: claimant, ceiling: highest(before, held.word), use: 'page' }))
      throw error
    }
  })
}

interface Found {
  /** The step that the threads had before the claim was read. */
  readonly from: number
  readonly latest: Latest | undefined
  /** Whether the threads have the latest step. */
  readonly isOwn: boolean
}

/**
 * How often a thread looks whether another thread has raised the floor of its step. Together the pauses take
 * a second.
 */
const maxLooks = 60
const pauseMs = (looks: number) => (looks < 10 ? 1 : 20)

/**
 * Finds the latest step. If another thread has made the step, that thread raises the floor at this moment,
 * unless it was terminated. So this thread waits for the floor.
 */
function settledStep(path: string, claimant: Claimant, held: Held): Found {
  for (let looks = 0; ; looks++) {
    // Read before the claim: a step that another thread makes later is found by its token.
    const from = held.step
    const latest = latestStep(path)
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

/** The first slot that processes without a step leave to this process. @throws as `freePage` */
function floorBeside(path: string, latest: Latest | undefined, claimant: Claimant, clock: ClaimClock): bigint {
  const page = freePage(claimant, clock, pageBeside(path))
  if (page !== undefined) return page
  // A claim or page may have been deleted in this tick, and its process may make ids until the tick ends.
  return latest?.says.use === 'released' ? 0n : clock.slotAfter(0)
}

/**
 * The ceiling of the next step. At or above the ceiling that the threads have, which is that of a step that
 * may have been deleted: the threads issue slots below that ceiling, and the next process begins above this
 * one.
 *
 * @param found - The ceiling of the step before, and the floor of the next step.
 */
function nextCeiling(
  clock: ClaimClock,
  { word, ceiling }: Held,
  found: { readonly before: bigint; readonly floor: bigint; readonly isOwn: boolean },
): bigint {
  const { before, floor, isOwn } = found
  // An own claim is raised from the word and not from the floor: several threads that meet the ceiling would
  // each raise it again.
  const fresh = clock.ceilingFrom(isOwn ? word : highest(floor, word), isOwn)
  return highest(fresh, highest(before, ceiling))
}

/** The name of the claimant's latest step of each key, so that the claim is not read in each tick. */
const stepNames = new Map<string, { readonly step: number; readonly name: string }>()

function isClaimHeld(claimant: Claimant, step: number): boolean {
  const { statSync } = process.getBuiltinModule('node:fs')
  const path = claimPath(claimant.key)
  try {
    let known = stepNames.get(claimant.key)
    if (known?.step !== step) {
      const latest = latestStep(path)
      if (latest === undefined || shortToken(latest) !== step || !isHolder(claimant, latest.says)) return false
      known = { step, name: latest.name }
      stepNames.set(claimant.key, known)
    }
    return statSync(`${path}/${known.name}`, { throwIfNoEntry: false }) !== undefined
  } catch {
    // A process that cannot look, because it has lost its rights or a step is damaged, has not lost the
    // claim.
    return true
  }
}

function releaseClaim(claimant: Claimant, held: number, word: bigint): void {
  // A failure leaves the ceiling, from which it is safe to continue.
  attempt(() => {
    const path = claimPath(claimant.key)
    const latest = latestStep(path)
    // Another thread that has made a later step may be beyond the word.
    if (latest === undefined || shortToken(latest) !== held || !isHolder(claimant, latest.says)) return
    makeAndTidy(path, latest, { ids: claimant, owner: claimant.owner, ceiling: word, use: 'released' })
  })
}

function giveToPage(path: string, ids: Identity, clock: ClaimClock): PageStep | undefined {
  const given = changeClaim(path, () => {
    const latest = latestStep(path)
    if (latest === undefined) {
      // Even a folder without a step prevents the use of the page.
      attempt(() => process.getBuiltinModule('node:fs').rmdirSync(path))
      return { step: undefined }
    }
    if (latest.says.use === 'page') return { step: latest }
    checkFree(ids, clock, path, latest.says)
    const step = makeAndTidy(path, latest, { ids, ceiling: ceilingOf(path, latest, ids, clock), use: 'page' })
    return step && { step }
  })
  const { step } = given
  return step && { name: step.name, next: nameAfter(step), floor: ceilingOf(path, step, ids, clock) }
}

/**
 * Forgets a claim whose latest step is `latest`.
 *
 * The step made here prevents a process from continuing from `latest`. The step has no ceiling, so its
 * successor begins with the next tick. Removing the claim is safe even if a process takes it at this moment,
 * because that process notices within a tick.
 *
 * @returns False if another process was faster.
 */
export function forgetClaim(path: string, latest: Latest): boolean {
  try {
    if (makeStep(path, latest, { ids: latest.says, ceiling: 0n, use: 'page' }) === undefined) return false
    removeChain(path)
    return true
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false
    throw error
  }
}

function makeAndTidy(path: string, latest: Latest | undefined, fresh: NewStep): Latest | undefined {
  const step = makeStep(path, latest, fresh)
  if (step !== undefined) removeOlder(path, step)
  return step
}

/** @throws GraupelError `ERR_STATE_CORRUPT` if the step is of another key, or its layout has no such slot */
function ceilingOf(path: string, latest: Latest | undefined, { key }: Identity, { endSlot }: ClaimClock): bigint {
  if (latest === undefined) return 0n
  const { says } = latest
  if (says.key !== key) throw damagedState('claim', path, 'it is the claim of another key')
  const ceiling = BigInt(says.ceiling)
  if (ceiling <= endSlot) return ceiling
  throw damagedState('claim', path, `it has the ceiling ${ceiling}, which its layout cannot have`)
}

/** Names a step among the steps of this process: 32 bits of its token, never 0. */
function shortToken({ says }: Latest): number {
  return Number(BigInt.asIntN(32, BigInt(`0x${says.token}`))) || 1
}

function highest(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}
