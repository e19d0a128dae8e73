import { type Claimant, type ClaimClock, type Claimed, countedNatively } from '../engine/claims.js'
import { GraupelError } from '../errors.js'
import { pagesFolder } from './folder.js'
import { nameOf } from './name.js'
import { ownFolder } from './own-folder.js'
import { type PageContents, readPage } from './page-users.js'
import { fateOf, isThisProcess, type ProcessIdentity, thisProcess } from './process.js'

// The claim of a key is a folder beside the key's page, and in it one file for each step of its history, named 1, 2, 3 and
// so on. A file is complete before it has its name, and never changes; the one with the highest number counts. Each names
// a process and a ceiling: that process makes no id from the ceiling on before the next step is there. A step is made by
// link(2), which gives a name to one file only: of two processes that make step 4 at once, one fails, and looks again.
// docs/state-file.md has the argument, section "Claims".

const format = 1
/** Each time that this one has to look again, another one has made a step. */
const maxAttempts = 100
const pauseMs = 5
const sleeper = new Int32Array(new SharedArrayBuffer(4))

/**
 * What a step says of its process: it counts the key; it has given it back, and the ceiling is the first slot that it did
 * not issue; or it makes a page of the claim at this moment.
 */
type Use = 'counts' | 'released' | 'hands over'

interface Step extends Claimant, ProcessIdentity {
  readonly format: number
  /** In decimal, because JSON has no integers of 64 bits. */
  readonly ceiling: string
  readonly use: Use
}

interface Latest {
  readonly number: number
  readonly says: Step
}

/** {@link Claims.take} */
export function takeClaim(claimant: Claimant, clock: ClaimClock): Claimed | typeof countedNatively {
  return withClaim(claimant, clock, (place, latest) => {
    const isOwn = latest !== undefined && isHolder(claimant, latest.says)
    const before = latest === undefined ? undefined : BigInt(latest.says.ceiling)
    const ceiling = clock.ceilingFrom(before ?? 0n)
    const step = makeStep(claimant, place, latest?.number, ceiling, 'counts')
    if (step === undefined) return undefined
    // The claim first and then the page; native engines do it the other way round, so of two at once one sees the other.
    const page = isOwn ? undefined : readPage(place.replace(/claim$/, 'page'))
    if (page !== undefined && page.users?.length !== 0) {
      remove(place, [step])
      if (page.users?.every(isThisProcess)) return countedNatively
      throw unreachable(claimant, 'native', page.users?.[0])
    }
    remove(
      place,
      stepsIn(place).filter((other) => other < step),
    )
    return { step, isOwn, floor: highest(before, page && beginningOf(page, clock)), ceiling }
  })
}

/** {@link Claims.exists} */
export function claimExists(key: string): boolean {
  return process.getBuiltinModule('node:fs').existsSync(claimPath(key))
}

/** {@link Claims.isHeld} */
export function isClaimHeld({ key }: Claimant, step: number): boolean {
  const { statSync } = process.getBuiltinModule('node:fs')
  try {
    return statSync(`${claimPath(key)}/${step}`, { throwIfNoEntry: false }) !== undefined
  } catch {
    // To have no right to look any more is no deletion.
    return true
  }
}

/** {@link Claims.release} */
export function releaseClaim(claimant: Claimant, word: bigint): void {
  // What fails leaves the ceiling, from where it is safe to go on.
  attempt(() => {
    const place = claimPath(claimant.key)
    const latest = latestStep(place)
    if (latest === undefined || !isHolder(claimant, latest.says)) return
    const step = makeStep(claimant, place, latest.number, word, 'released')
    if (step !== undefined)
      remove(
        place,
        stepsIn(place).filter((other) => other < step),
      )
  })
}

/** {@link Claims.handOver} */
export function handOver<T>(claimant: Claimant, clock: ClaimClock, open: (floor: bigint) => T): T {
  return withClaim(claimant, clock, (place, latest) => {
    const floor = BigInt(latest?.says.ceiling ?? 0)
    const isOwn = latest !== undefined && isHolder(claimant, latest.says)
    // So that no other process takes the claim up before the page is there.
    const step = makeStep(claimant, place, latest?.number, floor, 'hands over')
    if (step === undefined) return undefined
    let use: Use | undefined = isOwn ? 'counts' : 'released'
    try {
      // Where this process has counted, its own memory knows better than the ceiling.
      const opened = open(isOwn ? 0n : floor)
      use = undefined
      return opened
    } finally {
      if (use !== undefined) makeStep(claimant, place, step, floor, use)
      else
        remove(
          place,
          stepsIn(place).filter((other) => other <= step),
        )
    }
  })
}

/** Where a claim was at first: this process may have become another user's meanwhile. */
const folders = new Map<string, string>()

/** {@link Claims.pathOf} */
export function claimPath(key: string): string {
  let folder = folders.get(key)
  if (folder === undefined) {
    folder = `${pagesFolder()}/${nameOf(key)}.claim`
    folders.set(key, folder)
  }
  return folder
}

/** Attempts a change of a claim that no other process holds, until it is made. */
function withClaim<T>(
  claimant: Claimant,
  clock: ClaimClock,
  change: (place: string, latest: Latest | undefined) => T | undefined,
): T {
  const place = claimPath(claimant.key)
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
    `other processes were changing the claim ${place} each time that this one looked; try again`,
  )
}

/** Whether the claimant may go on from a step: false while it is made a page. @throws GraupelError `ERR_STATE_UNREACHABLE` */
function isFree(claimant: Claimant, clock: ClaimClock, place: string, says: Step): boolean {
  if (says.use === 'released' || isHolder(claimant, says)) return true
  const fate = fateOf(says)
  if (fate === 'gone') return true
  if (says.use === 'hands over') return false
  // In a container that cannot be seen, it is either gone, or idle: then it finds the next step before it makes an id.
  if (fate === 'unknown' && BigInt(says.ceiling) <= clock.nowSlot()) return true
  throw unreachable(claimant, 'js', says, fate === 'unknown' ? place : undefined)
}

function isHolder({ token }: Claimant, says: Step): boolean {
  return says.use === 'counts' && says.token === token
}

function latestStep(place: string): Latest | undefined {
  const { readFileSync } = process.getBuiltinModule('node:fs')
  for (;;) {
    const number = Math.max(0, ...stepsIn(place))
    if (number === 0) return undefined
    try {
      return { number, says: parse(place, number, readFileSync(`${place}/${number}`, 'utf8')) }
    } catch (error) {
      // Removed since, because there is a later one.
      if (!hasCode(error, 'ENOENT')) throw error
    }
  }
}

function stepsIn(place: string): number[] {
  const { readdirSync } = process.getBuiltinModule('node:fs')
  return readdirSync(place)
    .filter((name) => /^[1-9]\d*$/.test(name))
    .map(Number)
}

function parse(place: string, number: number, text: string): Step {
  const says = attempt(() => JSON.parse(text) as Step)
  if (says?.format === format && /^\d{1,20}$/.test(says.ceiling) && Number.isInteger(says.pid)) return says
  throw new GraupelError(
    'ERR_STATE_CORRUPT',
    `the claim ${place}/${number} is damaged, or made by another version; it is not started afresh, because it is not known what was issued: use another node, or delete ${place} once the clock has certainly passed the last id`,
  )
}

/**
 * Makes the step that follows `latest`; its number, or `undefined` where another process was faster.
 *
 * A process that sleeps before it links may make a number anew that others have left behind and removed. So a step counts
 * only if it is the highest after it was made, and the one before it is still there.
 */
function makeStep(
  claimant: Claimant,
  place: string,
  latest: number | undefined,
  ceiling: bigint,
  use: Use,
): number | undefined {
  const { linkSync, unlinkSync, writeFileSync } = process.getBuiltinModule('node:fs')
  const { key, description, token } = claimant
  const number = (latest ?? 0) + 1
  const says: Step = { format, key, description, ...thisProcess(), token, ceiling: `${ceiling}`, use }
  const fresh = `${place}/.${number}.${crypto.randomUUID()}.new`
  try {
    writeFileSync(fresh, `${JSON.stringify(says)}\n`, { flag: 'wx', mode: 0o600 })
    linkSync(fresh, `${place}/${number}`)
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return undefined
    throw error
  } finally {
    attempt(() => unlinkSync(fresh))
  }
  const steps = stepsIn(place)
  if (Math.max(...steps) === number && (latest === undefined || steps.includes(latest))) return number
  remove(place, [number])
  return undefined
}

/** Removes steps, and the folder where it is empty then. */
function remove(place: string, steps: readonly number[]): void {
  const { rmdirSync, unlinkSync } = process.getBuiltinModule('node:fs')
  for (const step of steps) attempt(() => unlinkSync(`${place}/${step}`))
  attempt(() => rmdirSync(place))
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

/** The first slot of a page that no process has open. */
function beginningOf({ word, last, highTick }: PageContents, clock: ClaimClock): bigint {
  if (word !== undefined) return word
  const next = clock.slotAfter(highTick)
  return last > next ? last : next
}

function highest(...slots: (bigint | undefined)[]): bigint | undefined {
  return slots.reduce((a, b) => (a === undefined || (b !== undefined && b > a) ? b : a), undefined)
}

function hasCode(error: unknown, code: string): boolean {
  return (error as NodeJS.ErrnoException).code === code
}

/** What may fail because another process has done it, or will do it. */
function attempt<T>(call: () => T): T | undefined {
  try {
    return call()
  } catch {
    return undefined
  }
}
