import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { GraupelError } from '../../core/errors.js'
import { type Latest, latestLink } from '../../host/claim-chain.js'
import { isClaimName } from '../../host/folder.js'
import { type Fate, fateOf } from '../../host/process.js'
import { hasCode, tryTo } from '../../host/system.js'
import { type Ids, namesIn, readIds, unreadable } from './read.js'

/** A claim of the js engine that was read. */
export interface Claim {
  readonly path: string
  readonly latest: Latest
  readonly ids: Ids
  /** The last slot that was issued; `undefined` if there is none, or if the claim is not released. */
  readonly lastSlot: bigint | undefined
  /**
   * The time of the last id, or the end of the tick before the ceiling if the last id is not known;
   * `undefined` if there is none.
   */
  readonly timeMs: number | undefined
  /** The process that may make ids by the claim; `undefined` if the key was given back, or left to a page. */
  readonly holder: { readonly pid: number; readonly fate: Fate } | undefined
}

export function claimPathsIn(folder: string): string[] {
  return namesIn(folder)
    .filter(isClaimName)
    .map((name) => join(folder, name))
}

/** Whether a path leads to a folder with the name of a claim. */
export function isClaimAt(path: string): boolean {
  return path.endsWith('.claim') && tryTo(() => lstatSync(path).isDirectory()) === true
}

/**
 * Reads the claim at a path. @throws as {@link readClaim}; GraupelError `ERR_STATE_UNAVAILABLE` if it has no
 * link
 */
export function claimAt(path: string): Claim {
  const claim = readClaim(path)
  if (claim !== undefined) return claim
  throw new GraupelError(
    'ERR_STATE_UNAVAILABLE',
    `the claim ${path} has no link, because it is being made or removed, or was left over; try again, or remove left over claims by 'graupel state --clean'`,
  )
}

/**
 * Reads a claim.
 *
 * @returns `undefined` if there is no claim, or no link in it, because it is being made or removed, or was
 * left over.
 * @throws GraupelError `ERR_STATE_UNAVAILABLE`, `ERR_STATE_UNSAFE`, `ERR_STATE_CORRUPT`
 */
export function readClaim(path: string): Claim | undefined {
  const latest = readLatest(path)
  if (latest === undefined) return undefined
  const { says } = latest
  const { key, description, use } = says
  const ceiling = BigInt(says.ceiling)
  const ids = readIds(path, { kind: 'claim', key, description, ceiling })
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

function readLatest(path: string): Latest | undefined {
  try {
    if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === false) {
      throw new GraupelError(
        'ERR_STATE_UNSAFE',
        `${path} is not a folder, and a claim has to be a folder; find out which program put it there`,
      )
    }
    return latestLink(path)
  } catch (error) {
    if (error instanceof GraupelError) throw error
    if (hasCode(error, 'ENOENT')) return undefined
    throw unreadable(path, error)
  }
}
