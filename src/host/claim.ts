import type { Claimant, ClaimClock, Claimed, Held, PageStep } from '../engine/claims.js'
import { attempt, hasCode } from './attempt.js'
import { changeClaim, checkFree, claimPath, isHolder, withClaim } from './claim-access.js'
import {
  damagedClaim,
  type Latest,
  latestStep,
  makeStep,
  nameAfter,
  removeChain,
  removeOlder,
  type Use,
} from './claim-steps.js'
import { pageBeside } from './name.js'
import { freePage } from './page-beside.js'
import { sleep } from './sleep.js'

// What the engines do with the claim of a key; claim-steps.ts has what a step is, claim-access.ts which process may make one.

/** How often a thread looks whether another one has raised the floor of its step. Together the pauses take a second. */
const maxLooks = 60
const pauseMs = (looks: number) => (looks < 10 ? 1 : 20)

/** {@link Claims.take} */
export function takeClaim(claimant: Claimant, clock: ClaimClock, held: Held): Claimed {
  let looks = 0
  return withClaim(claimant, (place, latest) => {
    const isMine = latest !== undefined && isHolder(claimant, latest.says)
    const isOwn = isMine && latest.number === held.step
    if (isMine && !isOwn && looks < maxLooks) {
      // Another thread has made the step, and raises the floor in this moment, unless the thread was terminated.
      sleep(pauseMs(looks++))
      return undefined
    }
    const before = ceilingOf(place, latest, claimant, clock)
    const floorBeside = () => {
      const page = freePage(claimant, clock, pageBeside(place))
      if (page !== undefined) return page
      // A claim or page may have been deleted in this tick. Its process makes ids until the tick ends.
      return latest?.says.use === 'released' ? 0n : clock.slotAfter(0)
    }
    if (!isOwn) {
      if (latest !== undefined && !isMine) checkFree(claimant, clock, place, latest.says)
      // Checks first, so that a refused attempt leaves no step that a native process would find.
      floorBeside()
      held.step = 0
    }
    // From the word, because several threads raise the ceiling when they meet it.
    const ceiling = isOwn ? highest(before, clock.ceilingFrom(held.word, isOwn)) : clock.ceilingFrom(before, isOwn)
    const step = makeAndTidy(claimant, place, latest, ceiling, 'counts')
    if (step === undefined) return undefined
    if (isOwn) return { step: step.number, isOwn, floor: before, ceiling }
    try {
      // The claim first and then the page. Native processes do it the other way round, so one of two sees the other.
      return { step: step.number, isOwn, floor: highest(before, floorBeside()), ceiling }
    } catch (error) {
      // If this fails, the step stays, and its ceiling is the next floor.
      attempt(() => makeStep(claimant, place, step, before, 'page'))
      throw error
    }
  })
}

/** By key, the name of the claimant's latest step, so that the claim is not read in each tick. */
const stepNames = new Map<string, { readonly number: number; readonly name: string }>()

/** {@link Claims.isHeld} */
export function isClaimHeld(claimant: Claimant, step: number): boolean {
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
    // A process that cannot look, because it has lost the right or a step is damaged, has not lost the claim.
    return true
  }
}

/** {@link Claims.release} */
export function releaseClaim(claimant: Claimant, held: number, word: bigint): void {
  // A failure leaves the ceiling, from which it is safe to go on.
  attempt(() => {
    const place = claimPath(claimant.key)
    const latest = latestStep(place)
    // Another thread that has made a later step may be beyond the word.
    if (latest?.number !== held || !isHolder(claimant, latest.says)) return
    makeAndTidy(claimant, place, latest, word, 'released')
  })
}

/** {@link Claims.giveToPage} */
export function giveToPage(path: string, claimant: Claimant, clock: ClaimClock): PageStep | undefined {
  const given = changeClaim(path, (place, latest) => {
    if (latest === undefined) {
      // A folder without a step keeps the page from being used.
      attempt(() => process.getBuiltinModule('node:fs').rmdirSync(place))
      return { step: undefined }
    }
    if (latest.says.use === 'page') return { step: latest }
    checkFree(claimant, clock, place, latest.says)
    const step = makeAndTidy(claimant, place, latest, ceilingOf(place, latest, claimant, clock), 'page')
    return step && { step }
  })
  const { step } = given
  return step && { name: step.name, next: nameAfter(step), floor: ceilingOf(path, step, claimant, clock) }
}

/**
 * Forgets a claim whose latest step is `latest`.
 *
 * The step made here lets nobody go on from `latest`, and knows of no id, so a process that follows it begins with the next
 * tick. It is safe to remove the claim even if a process takes it at this moment: that process notices within a tick.
 *
 * @returns False if another process was faster.
 */
export function forgetClaim(place: string, latest: Latest): boolean {
  const { key, description } = latest.says
  try {
    if (makeStep({ key, description, owner: '' }, place, latest, 0n, 'page') === undefined) return false
    removeChain(place)
    return true
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false
    throw error
  }
}

function makeAndTidy(
  claimant: Claimant,
  place: string,
  latest: Latest | undefined,
  ceiling: bigint,
  use: Use,
): Latest | undefined {
  const step = makeStep(claimant, place, latest, ceiling, use)
  if (step !== undefined) removeOlder(place, step)
  return step
}

/** @throws GraupelError `ERR_STATE_CORRUPT` if the step is of another key, or its layout has no such slot */
function ceilingOf(place: string, latest: Latest | undefined, { key }: Claimant, { endSlot }: ClaimClock): bigint {
  if (latest === undefined) return 0n
  const { says } = latest
  if (says.key !== key) throw damagedClaim(place, 'is the claim of another key')
  const ceiling = BigInt(says.ceiling)
  if (ceiling <= endSlot) return ceiling
  throw damagedClaim(place, `has the ceiling ${ceiling}, which its layout cannot have`)
}

function highest(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}
