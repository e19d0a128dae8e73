import type { Claimant, ClaimClock, Claimed, Claims, Held, PageStep } from '../engine/claims.js'
import type { Identity } from '../engine/key.js'
import { damagedState } from '../engine/state-errors.js'
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

/**
 * How often a thread checks whether another thread has raised the floor of its step. Together the pauses take
 * a second.
 */
const maxLooks = 60
const pauseMs = (looks: number) => (looks < 10 ? 1 : 20)

function takeClaim(claimant: Claimant, clock: ClaimClock, held: Held): Claimed {
  let looks = 0
  return withClaim(claimant, (place, latest) => {
    const isOfProcess = latest !== undefined && isHolder(claimant, latest.says)
    const isOwn = isOfProcess && latest.number === held.step
    if (isOfProcess && !isOwn && looks < maxLooks) {
      // Another thread has made the step, and raises the floor at this moment, unless the thread was
      // terminated.
      sleep(pauseMs(looks++))
      return undefined
    }
    const before = ceilingOf(place, latest, claimant, clock)
    const floorBeside = () => {
      const page = freePage(claimant, clock, pageBeside(place))
      if (page !== undefined) return page
      // A claim or page may have been deleted in this tick, and its process may make ids until the tick ends.
      return latest?.says.use === 'released' ? 0n : clock.slotAfter(0)
    }
    if (!isOwn) {
      if (latest !== undefined && !isOfProcess) checkFree(claimant, clock, place, latest.says)
      // Checked first, so that a refused attempt leaves no step for a native process to find.
      floorBeside()
      held.step = 0
    }
    // From the word and not from `before`: several threads that meet the ceiling would each raise it by a
    // window.
    const ceiling = isOwn ? highest(before, clock.ceilingFrom(held.word, isOwn)) : clock.ceilingFrom(before, isOwn)
    const step = makeAndTidy(place, latest, { ids: claimant, owner: claimant.owner, ceiling, use: 'counts' })
    if (step === undefined) return undefined
    if (isOwn) return { step: step.number, isOwn, floor: before, ceiling }
    try {
      // First the claim is made, then the page is looked for. Native processes do the opposite, so one of two
      // processes sees the other.
      return { step: step.number, isOwn, floor: highest(before, floorBeside()), ceiling }
    } catch (error) {
      // If this fails, the step stays, and its ceiling is the next floor.
      attempt(() => makeStep(place, step, { ids: claimant, ceiling: before, use: 'page' }))
      throw error
    }
  })
}

/** The name of the claimant's latest step of each key, so that the claim is not read in each tick. */
const stepNames = new Map<string, { readonly number: number; readonly name: string }>()

function isClaimHeld(claimant: Claimant, step: number): boolean {
  const { statSync } = process.getBuiltinModule('node:fs')
  const place = claimPath(claimant.key)
  try {
    let known = stepNames.get(claimant.key)
    if (known?.number !== step) {
      const latest = latestStep(place)
      if (latest?.number !== step || !isHolder(claimant, latest.says)) return false
      known = latest
      stepNames.set(claimant.key, { number: step, name: latest.name })
    }
    return statSync(`${place}/${known.name}`, { throwIfNoEntry: false }) !== undefined
  } catch {
    // A process that cannot look, because it has lost its rights or a step is damaged, has not lost the
    // claim.
    return true
  }
}

function releaseClaim(claimant: Claimant, held: number, word: bigint): void {
  // A failure leaves the ceiling, from which it is safe to continue.
  attempt(() => {
    const place = claimPath(claimant.key)
    const latest = latestStep(place)
    // Another thread that has made a later step may be beyond the word.
    if (latest?.number !== held || !isHolder(claimant, latest.says)) return
    makeAndTidy(place, latest, { ids: claimant, owner: claimant.owner, ceiling: word, use: 'released' })
  })
}

function giveToPage(path: string, ids: Identity, clock: ClaimClock): PageStep | undefined {
  const given = changeClaim(path, (place, latest) => {
    if (latest === undefined) {
      // Even a folder without a step prevents the use of the page.
      attempt(() => process.getBuiltinModule('node:fs').rmdirSync(place))
      return { step: undefined }
    }
    if (latest.says.use === 'page') return { step: latest }
    checkFree(ids, clock, place, latest.says)
    const step = makeAndTidy(place, latest, { ids, ceiling: ceilingOf(place, latest, ids, clock), use: 'page' })
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
export function forgetClaim(place: string, latest: Latest): boolean {
  try {
    if (makeStep(place, latest, { ids: latest.says, ceiling: 0n, use: 'page' }) === undefined) return false
    removeChain(place)
    return true
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false
    throw error
  }
}

function makeAndTidy(place: string, latest: Latest | undefined, fresh: NewStep): Latest | undefined {
  const step = makeStep(place, latest, fresh)
  if (step !== undefined) removeOlder(place, step)
  return step
}

/** @throws GraupelError `ERR_STATE_CORRUPT` if the step is of another key, or its layout has no such slot */
function ceilingOf(place: string, latest: Latest | undefined, { key }: Identity, { endSlot }: ClaimClock): bigint {
  if (latest === undefined) return 0n
  const { says } = latest
  if (says.key !== key) throw damagedState('claim', place, 'it is the claim of another key')
  const ceiling = BigInt(says.ceiling)
  if (ceiling <= endSlot) return ceiling
  throw damagedState('claim', place, `it has the ceiling ${ceiling}, which its layout cannot have`)
}

function highest(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}
