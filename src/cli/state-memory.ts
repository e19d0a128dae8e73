import { join } from 'node:path'
import { pagesFolder } from '../host/folder.js'
import { bootId } from '../host/process.js'
import type { GraupelError } from '../index.js'
import { namesIn, readState, type State } from './state-read.js'

/** What cannot be read, and why. */
export interface Broken {
  readonly path: string
  readonly error: GraupelError
}

/** A page, or what is wrong with it. */
export type Found = State | Broken

/** The pages in a folder; none where there is no folder. @throws GraupelError `ERR_STATE_UNAVAILABLE` */
export async function pagesIn(folder: string): Promise<Found[]> {
  const found: Found[] = []
  // What begins with a dot is being made.
  for (const name of namesIn(folder).filter((name) => /^[^.].*\.page$/s.test(name))) {
    const path = join(folder, name)
    try {
      found.push(await readState(path))
    } catch (error) {
      // Deleted since its name was read.
      const { cause } = error as { cause?: { code?: string } }
      if (cause?.code !== 'ENOENT') found.push({ path, error: error as GraupelError })
    }
  }
  return found
}

/** Where the memory is that a state file speaks of. */
export interface Memory {
  /** Whether the page there has the last id; `undefined` where that cannot be told. */
  readonly isLive: boolean | undefined
  /** Whether the file was used last since the system was started; `undefined` where that cannot be told. */
  readonly isSameBoot: boolean | undefined
  readonly page: State | undefined
  readonly folder: string
}

/** Looks for the page whose word is the truth, in place of a state file's ceilings. */
export async function memoryOf({ stored, stats }: State): Promise<Memory> {
  // Only its owner can use a file.
  const folder = pagesFolder(process.platform === 'win32' ? undefined : stats.uid)
  const boot = bootId()
  // Made, and never used.
  if (stored.bootId === '') return { isLive: false, isSameBoot: false, page: undefined, folder }
  if (boot === '') return { isLive: undefined, isSameBoot: undefined, page: undefined, folder }
  if (stored.bootId !== boot) return { isLive: false, isSameBoot: false, page: undefined, folder }
  try {
    const page = (await pagesIn(folder)).find((found): found is State => 'stored' in found && isOf(found, stored))
    return { isLive: page !== undefined, isSameBoot: true, page, folder }
  } catch {
    return { isLive: undefined, isSameBoot: true, page: undefined, folder }
  }
}

/** Whether a page counts what a file remembers. A page may have an earlier start's identity where its folder outlives that. */
function isOf({ stored: page }: State, file: { readonly lineage: string; readonly key: string }): boolean {
  if (page.kind !== 'page' || page.isSealed || page.lineage !== file.lineage) return false
  return page.key.slice(page.key.indexOf(' ') + 1) === file.key
}
