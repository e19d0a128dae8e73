import { join } from 'node:path'
import type { GraupelError } from '../../core/errors.js'
import { isPageName, pagesFolder } from '../../host/folder.js'
import type { StateFile } from '../../host/format.js'
import { bootId } from '../../host/process.js'
import { hasCode } from '../../host/system.js'
import { fileKeyOf } from '../../state/key.js'
import { type Claim, claimPathsIn, readClaim } from './claims.js'
import { namesIn, readState, type State } from './read.js'
import { findUsers, type User } from './users.js'

/** A page or a claim that cannot be read, and why. */
export interface Broken {
  readonly path: string
  readonly error: GraupelError
}

/** An entry of a folder of pages: a page, a claim, or a page or claim that cannot be read. */
export type Listed = State | Claim | Broken

/** Lists the pages and claims in a folder, the latest first. @throws GraupelError `ERR_STATE_UNAVAILABLE` */
export async function statesIn(folder: string): Promise<Listed[]> {
  const found: Listed[] = [...(await pagesIn(folder)), ...claimsIn(folder)]
  return found.sort((a, b) => lastMs(b) - lastMs(a))
}

/** Lists the pages in a folder; none if there is no folder. @throws GraupelError `ERR_STATE_UNAVAILABLE` */
export async function pagesIn(folder: string): Promise<(State | Broken)[]> {
  const paths = namesIn(folder)
    .filter(isPageName)
    .map((name) => join(folder, name))
  // Side by side, because a damaged page is read several times, and an older release may have left many.
  return (await Promise.all(paths.map(pageOrError))).filter((page) => page !== undefined)
}

/** Reads a page. Returns `undefined` if it was deleted since its name was read. */
async function pageOrError(path: string): Promise<State | Broken | undefined> {
  try {
    return await readState(path)
  } catch (error) {
    const { cause } = error as GraupelError
    return cause !== undefined && hasCode(cause, 'ENOENT') ? undefined : { path, error: error as GraupelError }
  }
}

function claimsIn(folder: string): (Claim | Broken)[] {
  return claimPathsIn(folder).flatMap((path): (Claim | Broken)[] => {
    try {
      const claim = readClaim(path)
      return claim === undefined ? [] : [claim]
    } catch (error) {
      return [{ path, error: error as GraupelError }]
    }
  })
}

export function isBroken(found: Listed): found is Broken {
  return 'error' in found
}

export function isClaim(found: Listed): found is Claim {
  return 'latest' in found
}

/**
 * Tells the time of the last id. If the last id of a claim is not known, it is the end of the tick before the
 * ceiling.
 *
 * @returns `undefined` if there is no id, or if the time is not known.
 */
export function lastTimeMs(found: Listed): number | undefined {
  if (isBroken(found)) return undefined
  if (isClaim(found)) return found.timeMs
  const lastSlot = lastSlotOf(found)
  return lastSlot === undefined ? undefined : found.ids.timeMs(lastSlot)
}

const dayMs = 24 * 3_600_000

/**
 * Whether the last id lies more than a day back by the clock of the system, which tests and simulations do
 * not use.
 */
export function isDayOld(found: Listed, nowMs: number): boolean {
  if (isBroken(found) || found.ids.clock === 'injected') return false
  const timeMs = lastTimeMs(found)
  return timeMs !== undefined && timeMs < nowMs - dayMs
}

/** Earlier than any Date; not infinite, because a difference of two times has to be a number. */
const beforeAll = -9e15

function lastMs(found: Listed): number {
  return lastTimeMs(found) ?? beforeAll
}

/** The memory that a state file names. */
export interface Memory {
  /** Whether the page there has the last id; `undefined` if it cannot be told. */
  readonly isLive: boolean | undefined
  /** Whether the file was last used since the start of the system; `undefined` if it cannot be told. */
  readonly isSameBoot: boolean | undefined
  readonly page: State | undefined
  readonly folder: string
}

/** A page or a state file, with its memory and its users. */
export interface Account {
  readonly state: State
  /** Given for a state file. */
  readonly memory: Memory | undefined
  /** The last slot that was given out; `undefined` if there is none, or if it is not known. */
  readonly lastSlot: bigint | undefined
  /** `undefined` if the system does not tell. */
  readonly users: readonly User[] | undefined
}

/** Looks for the memory of a state file, and for the processes that have the file open. */
export async function makeAccount(state: State): Promise<Account> {
  const { stored, stats } = state
  const memory = stored.kind === 'file' ? await findMemory(state, stored) : undefined
  return { state, memory, lastSlot: lastSlotOf(state, memory), users: findUsers(stored.kind, state.path, stats) }
}

/** @param memory - Without it, the last slot of a state file is not known. */
export function lastSlotOf({ stored }: State, memory?: Memory): bigint | undefined {
  const source = memory?.page?.stored ?? stored
  if (source.kind === 'page' ? source.isSealed : memory?.isLive === undefined || !source.isClean) return undefined
  return source.word === 0n ? undefined : source.word - 1n
}

/** Looks for the page whose word is the truth, in place of a state file's ceilings. */
async function findMemory({ stats }: State, file: StateFile): Promise<Memory> {
  // Only its owner can use a file.
  const folder = pagesFolder(process.platform === 'win32' ? undefined : stats.uid)
  const boot = bootId()
  // The file was made, and never used.
  if (file.bootId === '') return { isLive: false, isSameBoot: false, page: undefined, folder }
  if (boot === '') return { isLive: undefined, isSameBoot: undefined, page: undefined, folder }
  if (file.bootId !== boot) return { isLive: false, isSameBoot: false, page: undefined, folder }
  try {
    const page = (await pagesIn(folder)).find((found): found is State => 'stored' in found && isOf(found, file))
    return { isLive: page !== undefined, isSameBoot: true, page, folder }
  } catch {
    return { isLive: undefined, isSameBoot: true, page: undefined, folder }
  }
}

/**
 * Whether a page counts the ids of a file. A folder may outlive a start of the system, so the boot ids may
 * differ.
 */
function isOf({ stored: page }: State, file: StateFile): boolean {
  if (page.kind !== 'page' || page.isSealed || page.lineage !== file.lineage) return false
  return fileKeyOf(page.key) === file.key
}
