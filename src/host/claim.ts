import { type Claimant, type ClaimClock, type Claimed, countedNatively } from '../engine/claims.js'
import { attempt, hasCode } from './attempt.js'
import { claimPath, isHolder, unreachable, withClaim } from './claim-access.js'
import { type Latest, latestStep, makeStep, removeSteps, stepAt, type Use } from './claim-steps.js'
import { pageBeside } from './name.js'
import { type PageContents, readPage } from './page-users.js'
import { isThisProcess } from './process.js'

// What the js engine does with the claim of a key; claim-steps.ts has what a step is, claim-access.ts which process may make
// one.

export { claimPath }

/** {@link Claims.take} */
export function takeClaim(claimant: Claimant, clock: ClaimClock): Claimed | typeof countedNatively {
  return withClaim(claimant, clock, (place, latest) => {
    const isOwn = latest !== undefined && isHolder(claimant, latest.says)
    const look = () => (isOwn ? undefined : freePage(claimant, place))
    // First without a claim, which would be in the way of a native process that starts now.
    if (look() === countedNatively) return countedNatively
    const before = latest === undefined ? undefined : BigInt(latest.says.ceiling)
    const ceiling = clock.ceilingFrom(before ?? 0n, isOwn)
    const step = makeStep(claimant, place, latest, ceiling, 'counts')?.number
    if (step === undefined) return undefined
    let isTaken = false
    try {
      // The claim first and then the page; native engines do it the other way round, so of two at once one sees the other.
      const page = look()
      if (page === countedNatively) return countedNatively
      isTaken = true
      return { step, isOwn, floor: highest(before, page && beginningOf(page, clock)), ceiling }
    } finally {
      if (isTaken) removeSteps(place, step - 1)
      else removeSteps(place, step, step)
    }
  })
}

/** The page beside a claim, if no process has it open. @throws GraupelError `ERR_STATE_UNREACHABLE` where another one has */
function freePage(claimant: Claimant, place: string): PageContents | typeof countedNatively | undefined {
  const page = readPage(pageBeside(place))
  if (page === undefined || page.users?.length === 0) return page
  if (page.users?.every(isThisProcess)) return countedNatively
  throw unreachable(claimant, 'native', page.users?.[0])
}

/** {@link Claims.exists} */
export function claimExists(key: string): boolean {
  return process.getBuiltinModule('node:fs').existsSync(claimPath(key))
}

/** By key, the file in which a step of the claimant was last seen, so that it is read once and not in each tick. */
const seen = new Map<string, string>()

/** {@link Claims.isHeld} */
export function isClaimHeld(claimant: Claimant, step: number): boolean {
  const { statSync } = process.getBuiltinModule('node:fs')
  const place = claimPath(claimant.key)
  try {
    const stats = statSync(`${place}/${step}`, { throwIfNoEntry: false })
    if (stats === undefined) return false
    const file = `${step} ${stats.ino} ${stats.ctimeMs}`
    if (seen.get(claimant.key) === file) return true
    // After a deletion another process begins with the same numbers.
    const says = stepAt(place, step)?.says
    if (says === undefined || !isHolder(claimant, says)) return false
    seen.set(claimant.key, file)
    return true
  } catch {
    // A process that has lost the right to look has not lost the claim.
    return true
  }
}

/** {@link Claims.release} */
export function releaseClaim(claimant: Claimant, held: number, word: bigint): void {
  // What fails leaves the ceiling, from where it is safe to go on.
  attempt(() => {
    const place = claimPath(claimant.key)
    const latest = latestStep(place)
    if (latest === undefined || !isHolder(claimant, latest.says)) return
    // Another thread has taken the key since, and may be beyond the word.
    if (latest.number !== held) return
    const step = makeStep(claimant, place, latest, word, 'released')
    if (step !== undefined) removeSteps(place, latest.number)
  })
}

/** {@link Claims.handOver} */
export function handOver<T>(claimant: Claimant, clock: ClaimClock, open: (floor: bigint) => T): T {
  return withClaim(claimant, clock, (place, latest) => {
    const floor = BigInt(latest?.says.ceiling ?? 0)
    const isOwn = latest !== undefined && isHolder(claimant, latest.says)
    // So that no other process takes the claim up before the page is there.
    const step = makeStep(claimant, place, latest, floor, 'hands over')
    if (step === undefined) return undefined
    let use: Use | undefined = isOwn ? 'counts' : 'released'
    try {
      // Where this process has counted, its own memory knows better than the ceiling.
      const opened = open(isOwn ? 0n : floor)
      use = undefined
      return opened
    } finally {
      if (use !== undefined) makeStep(claimant, place, step, floor, use)
      else removeSteps(place, step.number)
    }
  })
}

/**
 * Forgets a claim whose latest step is `latest`, and whose process does not run.
 *
 * No process can take the claim up meanwhile and have it forgotten: the step made here keeps others away, and is the last
 * to go. A process that read an earlier step, and sleeps, finds after its link that the step before its own is gone, or
 * says something else, and begins again. Afterwards there is no claim, and one that is made where none was known begins
 * with the next tick. If this process ends in between, the next one goes on at the same ceiling.
 *
 * @returns False where another process was faster.
 */
export function forgetClaim(place: string, latest: Latest): boolean {
  const { key, description, ceiling } = latest.says
  try {
    const step = makeStep({ key, description, token: '' }, place, latest, BigInt(ceiling), 'hands over')
    if (step !== undefined) removeSteps(place, step.number)
    return step !== undefined
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return false
    throw error
  }
}

/** Where to go on from a page that no process has open; `undefined` where it says nothing. */
function beginningOf({ word, last, highTick }: PageContents, clock: ClaimClock): bigint | undefined {
  return word ?? (last === 0n ? undefined : highest(last, clock.slotAfter(highTick)))
}

function highest(...slots: (bigint | undefined)[]): bigint | undefined {
  return slots.reduce((a, b) => (a === undefined || (b !== undefined && b > a) ? b : a), undefined)
}
