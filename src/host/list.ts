import { type Claim, claimsIn } from './claims.js'
import { type Broken, lastSlotOf, pagesIn } from './pages.js'
import type { State } from './read.js'

/** What a folder of pages has: a page, a claim, or one that cannot be read. */
export type Listed = State | Claim | Broken

/** The pages and claims in a folder, the latest first. @throws GraupelError `ERR_STATE_UNAVAILABLE` */
export async function statesIn(folder: string): Promise<Listed[]> {
  const found: Listed[] = [...(await pagesIn(folder)), ...claimsIn(folder)]
  return found.sort((a, b) => lastMs(b) - lastMs(a))
}

export function isBroken(found: Listed): found is Broken {
  return 'error' in found
}

export function isClaim(found: Listed): found is Claim {
  return 'latest' in found
}

/** When the last id was made, or, for a claim in use, before when; `undefined` if there is none, or it is not known. */
export function lastTimeMs(found: Listed): number | undefined {
  if (isBroken(found)) return undefined
  if (isClaim(found)) return found.timeMs
  const lastSlot = lastSlotOf(found)
  return lastSlot === undefined ? undefined : found.ids.timeMs(lastSlot)
}

/** Earlier than any Date; not infinite, because a difference of two of them has to be a number. */
const beforeAll = -9e15

function lastMs(found: Listed): number {
  return lastTimeMs(found) ?? beforeAll
}
