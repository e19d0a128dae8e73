import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import { type Latest, latestStep } from '../host/claim-steps.js'
import { type Fate, fateOf } from '../host/process.js'
import { GraupelError } from '../index.js'
import { type Paint, printable, table } from './paint.js'
import { type Ids, idsOf } from './state-ids.js'
import type { Broken } from './state-memory.js'
import { namesIn, unreadable } from './state-read.js'
import { ago, idRows, idsRows, plainIds, plainMoment } from './state-show.js'
import { userOf } from './state-users.js'

/** A claim of the js engine that was read. */
export interface Claim {
  readonly path: string
  readonly latest: Latest
  readonly ids: Ids
  /** The last id; of a released claim alone, and `undefined` if there is none. */
  readonly lastSlot: bigint | undefined
  /** When the last id was made, or before when, where that is not known exactly; `undefined` if there is none. */
  readonly timeMs: number | undefined
  /** The process that may make ids by it; `undefined` where it was given back. */
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
    .filter((name) => /^[^.].*\.claim$/s.test(name))
    .map((name) => join(folder, name))
}

/** Whether a path leads to what can be a claim: a folder of such a name. */
export function isClaimAt(path: string): boolean {
  try {
    return path.endsWith('.claim') && lstatSync(path).isDirectory()
  } catch {
    return false
  }
}

/**
 * Undefined where there is none, or no step in it: it is being made, or removed, or was left over.
 *
 * @throws GraupelError `ERR_STATE_UNAVAILABLE`, `ERR_STATE_UNSAFE`, `ERR_STATE_CORRUPT`
 */
export function readClaim(path: string): Claim | undefined {
  let latest: Latest | undefined
  try {
    if (lstatSync(path, { throwIfNoEntry: false })?.isDirectory() === false) {
      throw new GraupelError('ERR_STATE_UNSAFE', `${path} is not a folder, as a claim is; find out what put it there`)
    }
    latest = latestStep(path)
  } catch (error) {
    if (error instanceof GraupelError) throw error
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw unreadable(path, error)
  }
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
    holder: isReleased ? undefined : { pid: says.pid, fate: fateOf(says) },
  }
}

/** Of one that was asked for. @throws as {@link readClaim}; GraupelError `ERR_STATE_UNAVAILABLE` where it has no step */
export function claimAt(path: string): Claim {
  const claim = readClaim(path)
  if (claim !== undefined) return claim
  throw new GraupelError(
    'ERR_STATE_UNAVAILABLE',
    `${path} has no step: it is being made or removed at this moment, or was left over; try again, and let 'graupel state --clean' remove it`,
  )
}

/** The time of the last id in a list, and who holds the claim. */
export function claimTime({ timeMs, holder }: Claim): string {
  if (holder === undefined) return timeMs === undefined ? 'none' : ago(timeMs)
  const who = { running: `process ${holder.pid}`, gone: 'gone', unknown: 'another container' }[holder.fate]
  return `${timeMs === undefined ? 'none' : `before ${ago(timeMs)}`}, ${who}`
}

/** As an object for `--json`. */
export function plainClaim({ path, latest, ids, lastSlot, timeMs, holder }: Claim) {
  return {
    path,
    kind: 'claim',
    format: latest.says.format,
    ...plainIds(ids),
    lastId: lastSlot === undefined ? null : String(ids.at(lastSlot)),
    ...plainMoment(lastSlot === undefined ? undefined : timeMs),
    clock: ids.clock,
    ceiling: holder === undefined || timeMs === undefined ? null : plainMoment(timeMs),
    use: latest.says.use,
    step: latest.number,
    heldBy: holder ?? null,
  }
}

/** As lines for people. */
export function claimLines({ path, latest, ids, lastSlot, timeMs, holder }: Claim, paint: Paint): string[] {
  const isKnown = holder === undefined || timeMs === undefined
  return table([
    ['claim', printable(path)],
    ['format', String(latest.says.format)],
    ...idsRows(ids, paint),
    ...(lastSlot === undefined ? [['last id', isKnown ? 'none yet' : 'not known']] : idRows(ids, lastSlot)),
    ...(isKnown ? [] : [['ceiling', `ids before ${ago(timeMs)}`]]),
    ['clock', ids.clock === 'real' ? 'real' : 'injected, by a test or a simulation'],
    ['held by', heldBy(holder)],
  ])
}

function heldBy(holder: Claim['holder']): string {
  if (holder === undefined) return 'no process: it was given back'
  const { pid, fate } = holder
  if (fate === 'gone') return `no process: ${pid} is gone`
  if (fate === 'unknown') return `${pid}, of another container, so it cannot be seen whether it runs`
  return `${pid} ${printable(userOf(pid).command)}`
}
