import { type Claimant, type ClaimClock, type Claimed, countedNatively } from '../engine/claims.js'
import { GraupelError } from '../errors.js'
import {
  attempt,
  hasCode,
  type Latest,
  latestStep,
  makeStep,
  removeSteps,
  type Step,
  stepAt,
  type Use,
} from './claim-steps.js'
import { pagesFolder } from './folder.js'
import { nameOf } from './name.js'
import { ownFolder } from './own-folder.js'
import { type PageContents, readPage } from './page-users.js'
import { fateOf, isThisProcess, type ProcessIdentity } from './process.js'

// Who may make the next step of a claim, and when; claim-steps.ts has what a step is. docs/state-file.md has the argument,
// section "Claims".

/** Each time that this one has to look again, another one has made a step. */
const maxAttempts = 100
const pauseMs = 5
const sleeper = new Int32Array(new SharedArrayBuffer(4))

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
  const page = readPage(place.replace(/claim$/, 'page'))
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
    // To have no right to look any more is no deletion.
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
 * Forgets a claim of which `latest` was read, and whose process does not run.
 *
 * No process can take the claim up meanwhile and have it forgotten: the step made here keeps others away, and is the last
 * to go. A process that read an earlier step, and sleeps, finds after its link that the step before its own is gone, or
 * says something else, and begins again. From then on there is no claim, and one that is made where none was known begins
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

/** Where each claim was at first, and whose it is: this process may have become another user's meanwhile. */
const places = new Map<string, { readonly path: string; readonly user: number | undefined }>()

/** {@link Claims.pathOf} */
export function claimPath(key: string): string {
  return placeOf(key).path
}

function placeOf(key: string) {
  let place = places.get(key)
  if (place === undefined) {
    place = { path: `${pagesFolder()}/${nameOf(key)}.claim`, user: process.geteuid?.() }
    places.set(key, place)
  }
  return place
}

/** Attempts a change of a claim that no other process holds, until it is made. */
function withClaim<T>(
  claimant: Claimant,
  clock: ClaimClock,
  change: (place: string, latest: Latest | undefined) => T | undefined,
): T {
  const { path: place, user } = placeOf(claimant.key)
  const userNow = process.geteuid?.()
  if (userNow !== user) {
    throw new GraupelError(
      'ERR_STATE_UNAVAILABLE',
      `the claim ${place} is user ${user}'s, and this process has become user ${userNow}'s, who may not write it; create generators after the change of user, or use the native engine`,
    )
  }
  try {
    ownFolder(place.slice(0, place.lastIndexOf('/')))
    for (let attempts = 0; attempts < maxAttempts; attempts++) {
      try {
        ownFolder(place)
        const latest = latestStep(place)
        const isMoving = latest !== undefined && !isFree(claimant, clock, place, latest.says)
        if (isMoving) Atomics.wait(sleeper, 0, 0, pauseMs)
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

/** Whether the claimant may go on from a step: false while it is made a page. @throws GraupelError `ERR_STATE_UNREACHABLE` */
function isFree(claimant: Claimant, clock: ClaimClock, place: string, says: Step): boolean {
  if (says.use === 'released' || isHolder(claimant, says)) return true
  const fate = fateOf(says)
  if (fate === 'gone') return true
  // Its page may be there at any moment, and who makes that does not look at the claim again.
  if (says.use === 'hands over') return false
  // In a container that cannot be seen, it is either gone, or idle: then it finds the next step before it makes an id.
  if (fate === 'unknown' && BigInt(says.ceiling) <= clock.nowSlot()) return true
  throw unreachable(claimant, 'js', says, fate === 'unknown' ? place : undefined)
}

function isHolder({ token }: Claimant, says: Step): boolean {
  return says.use === 'counts' && says.token === token
}

function unreachable(
  { description }: Claimant,
  engine: 'js' | 'native',
  holder: ProcessIdentity | undefined,
  elsewhere?: string,
): GraupelError {
  const { name } = JSON.parse(description) as { name: string }
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
    `this node of layout '${name}' is counted by the ${engine} engine in ${holders}${where}, and processes cannot share a node with the js engine; use the native engine in all of them, give each a node of its own, or pass state: 'process' to say that their ids never meet`,
  )
}

/** Where to go on from a page that no process has open; `undefined` where it says nothing. */
function beginningOf({ word, last, highTick }: PageContents, clock: ClaimClock): bigint | undefined {
  return word ?? (last === 0n ? undefined : highest(last, clock.slotAfter(highTick)))
}

function highest(...slots: (bigint | undefined)[]): bigint | undefined {
  return slots.reduce((a, b) => (a === undefined || (b !== undefined && b > a) ? b : a), undefined)
}
