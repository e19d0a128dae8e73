import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { GraupelError } from '../core/errors.js'
import { attempt, hasCode } from './attempt.js'
import { type Latest, latestStep } from './claim-steps.js'
import { type Ids, idsOf } from './identity.js'
import { isClaimName } from './name.js'
import type { Broken } from './pages.js'
import { type Fate, fateOf } from './process.js'
import { namesIn, unreadable } from './read.js'

/** A claim of the js engine that was read. */
export interface Claim {
  readonly path: string
  readonly latest: Latest
  readonly ids: Ids
  /** The last slot that was issued; known of a released claim alone, and `undefined` if there is none. */
  readonly lastSlot: bigint | undefined
  /** The time of the last id; the end of the tick before the ceiling, if the last id is not known; `undefined` if there is none. */
  readonly timeMs: number | undefined
  /** The process that may make ids by it; `undefined` if it was given back, or left the key to a page. */
  readonly holder: { readonly pid: number; readonly fate: Fate } | undefined
}

/** The claims in a folder, or what is wrong with them. @throws GraupelError `ERR_STATE_UNAVAILABLE` */
export function claimsIn(folder: string): (Claim | Broken)[] {
  return claimPathsIn(folder).flatMap((path): (Claim | Broken)[] => {
    try {
      const claim = readClaim(path)
      return claim === undefined ? [] : [claim]
    } catch (error) {
      return [{ path, error: error as GraupelError }]
    }
  })
}

export function claimPathsIn(folder: string): string[] {
  return namesIn(folder)
    .filter(isClaimName)
    .map((name) => join(folder, name))
}

/** Whether a path leads to what can be a claim: a folder of such a name. */
export function isClaimAt(path: string): boolean {
  return path.endsWith('.claim') && attempt(() => lstatSync(path).isDirectory()) === true
}

/** The claim at a path. @throws as {@link readClaim}; GraupelError `ERR_STATE_UNAVAILABLE` where it has no step */
export function claimAt(path: string): Claim {
  const claim = readClaim(path)
  if (claim !== undefined) return claim
  throw new GraupelError(
    'ERR_STATE_UNAVAILABLE',
    `${path} has no step: it is being made or removed at this moment, or was left over; try again, and let 'graupel state --clean' remove it`,
  )
}

/**
 * @returns `undefined` where there is no claim, or no step in it: it is being made, or removed, or was left over.
 * @throws GraupelError `ERR_STATE_UNAVAILABLE`, `ERR_STATE_UNSAFE`, `ERR_STATE_CORRUPT`
 */
export function readClaim(path: string): Claim | undefined {
  const latest = latestOf(path)
  if (latest === undefined) return undefined
  const { says } = latest
  const { key, description, use } = says
  const ceiling = BigInt(says.ceiling)
  const ids = idsOf(path, { kind: 'claim', key, description, ceiling })
  const isReleased = use === 'released'
  const lastTickMs = ceiling === 0n ? undefined : ids.timeMs(ceiling - 1n)
  return {
    path,
    latest,
    ids,
    lastSlot: isReleased && ceiling > 0n ? ceiling - 1n : undefined,
    timeMs: isReleased || lastTickMs === undefined ? lastTickMs : lastTickMs + ids.layout.tickMs,
    holder: use === 'counts' ? { pid: says.pid, fate: fateOf(says) } : undefined,
  }
}

function latestOf(path: string): Latest | undefined {
  try {
    if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === false) {
      throw new GraupelError('ERR_STATE_UNSAFE', `${path} is not a folder, as a claim is; find out what put it there`)
    }
    return latestStep(path)
  } catch (error) {
    if (error instanceof GraupelError) throw error
    if (hasCode(error, 'ENOENT')) return undefined
    throw unreadable(path, error)
  }
}
