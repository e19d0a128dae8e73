import { join } from 'node:path'
import type { GraupelError } from '../core/errors.js'
import { fileKeyOf } from '../engine/key.js'
import { hasCode } from './attempt.js'
import { pagesFolder } from './folder.js'
import type { StateFile } from './format.js'
import { isPageName } from './name.js'
import { bootId } from './process.js'
import { namesIn, readState, type State } from './read.js'
import { type User, usersOf } from './users.js'

/** A page or a claim that cannot be read, and why. */
export interface Broken {
  readonly path: string
  readonly error: GraupelError
}

/** The pages in a folder; none where there is no folder. @throws GraupelError `ERR_STATE_UNAVAILABLE` */
export async function pagesIn(folder: string): Promise<(State | Broken)[]> {
  const found: (State | Broken)[] = []
  for (const name of namesIn(folder).filter(isPageName)) {
    const path = join(folder, name)
    try {
      found.push(await readState(path))
    } catch (error) {
      const { cause } = error as GraupelError
      // Deleted since its name was read.
      if (cause === undefined || !hasCode(cause, 'ENOENT')) found.push({ path, error: error as GraupelError })
    }
  }
  return found
}

/** Where the memory is that a state file names. */
export interface Memory {
  /** Whether the page there has the last id; `undefined` where that cannot be told. */
  readonly isLive: boolean | undefined
  /** Whether the file was used last since the system was started; `undefined` where that cannot be told. */
  readonly isSameBoot: boolean | undefined
  readonly page: State | undefined
  readonly folder: string
}

/** All that is known of a page or a state file. */
export interface Account {
  readonly state: State
  /** Given for a state file. */
  readonly memory: Memory | undefined
  /** The last slot that was given out; `undefined` if there is none, or it is not known. */
  readonly lastSlot: bigint | undefined
  /** `undefined` where the system does not tell. */
  readonly users: readonly User[] | undefined
}

/** Looks for the memory of a state file, and for the processes that have it open. */
export async function accountOf(state: State): Promise<Account> {
  const { stored, stats } = state
  const memory = stored.kind === 'file' ? await memoryOf(state, stored) : undefined
  return { state, memory, lastSlot: lastSlotOf(state, memory), users: usersOf(stored.kind, stats) }
}

/** @param memory - Without it, the last slot of a state file is not known. */
export function lastSlotOf({ stored }: State, memory?: Memory): bigint | undefined {
  const source = memory?.page?.stored ?? stored
  if (source.kind === 'page' ? source.isSealed : memory?.isLive === undefined || !source.isClean) return undefined
  return source.word === 0n ? undefined : source.word - 1n
}

/** Looks for the page whose word is the truth, in place of a state file's ceilings. */
async function memoryOf({ stats }: State, file: StateFile): Promise<Memory> {
  // Only its owner can use a file.
  const folder = pagesFolder(process.platform === 'win32' ? undefined : stats.uid)
  const boot = bootId()
  // Made, and never used.
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

/** Whether a page counts what a file remembers. A page may have an earlier start's identity where its folder outlives that. */
function isOf({ stored: page }: State, file: StateFile): boolean {
  if (page.kind !== 'page' || page.isSealed || page.lineage !== file.lineage) return false
  return fileKeyOf(page.key) === file.key
}
