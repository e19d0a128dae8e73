import { quote } from './arguments.js'
import { type Paint, printable, table } from './paint.js'
import { type Claim, claimsIn, claimTime, plainClaim } from './state-claim.js'
import { type Found, pagesIn } from './state-memory.js'
import type { State } from './state-read.js'
import { accountOf, ago, plainState } from './state-show.js'

/** What a list has: a page, a claim, or what is wrong with one. */
export type Listed = Found | Claim

/** The pages and claims of this user, the latest first: their names are hashes, so nobody could ask for one. */
export async function listed(folder: string, isJson: boolean, paint: Paint): Promise<string> {
  const found = [...(await pagesIn(folder)), ...claimsIn(folder)].sort((a, b) => lastMs(b) - lastMs(a))
  if (isJson) return found.map((one) => jsonLine(plainFound(one))).join('')
  if (found.length === 0) {
    return `There is no page and no claim in ${printable(folder)}: nothing on this host remembers ids of this user.\n`
  }
  return headedTable(
    [...listHead, 'path'],
    found.map((one) => [...listCells(one), printable(one.path)]),
    paint,
  )
}

/** The heads of {@link listCells}. */
export const listHead = ['layout', 'node', 'namespace', 'time of the last id'] as const

/** What a list says of it beside its path. */
export function listCells(found: Listed): string[] {
  if ('error' in found) return ['?', '', '', found.error.code]
  const { ids } = found
  const time = 'latest' in found ? claimTime(found) : pageTime(found)
  const clock = ids.clock === 'injected' ? ', injected clock' : ''
  return [ids.layoutName, String(ids.node), quote(ids.namespace).slice(1, -1), time + clock].map(printable)
}

function pageTime(found: State): string {
  const timeMs = lastTimeMs(found)
  if (timeMs !== undefined) return ago(timeMs)
  return found.stored.kind === 'page' && found.stored.isSealed ? 'sealed' : 'none'
}

/** Lines with a head; the nodes are numbers. */
export function headedTable(head: readonly string[], rows: readonly string[][], paint: Paint): string {
  const [headLine, ...lines] = table([head, ...rows], [head.indexOf('node')])
  return [paint('dim', headLine as string), ...lines].map((line) => `${line}\n`).join('')
}

/** As an object for `--json`. */
export function plainFound(found: Listed) {
  if ('error' in found) return { path: found.path, error: { code: found.error.code, message: found.error.message } }
  if ('latest' in found) return plainClaim(found)
  const { openBy: _, ...plain } = plainState(accountOf(found, undefined, undefined))
  return plain
}

/** When the last id was made, or of a claim in use, before when; `undefined` if there is none, or it is not known. */
export function lastTimeMs(found: Listed): number | undefined {
  if ('error' in found) return undefined
  if ('latest' in found) return found.timeMs
  const { lastSlot } = accountOf(found, undefined, undefined)
  return lastSlot === undefined ? undefined : found.ids.timeMs(lastSlot)
}

// JSON leaves some control characters as they are, and in a string each may be written as printable() does.
export function jsonLine(value: unknown): string {
  return `${printable(JSON.stringify(value))}\n`
}

/** Earlier than any Date; not infinite, because a difference of two of them has to be a number. */
const beforeAll = -9e15

function lastMs(found: Listed): number {
  return lastTimeMs(found) ?? beforeAll
}
