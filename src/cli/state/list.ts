import { isBroken, isClaim, type Listed, lastTimeMs, statesIn } from '../../host/list.js'
import type { State } from '../../host/read.js'
import { shorten } from '../arguments.js'
import { type Paint, printable, table } from '../paint.js'
import { ago } from '../rows.js'
import { claimTime, plainClaim } from './claim.js'
import { plainState } from './show.js'

/** The pages and claims of this user: their names are hashes, by which they cannot be asked for. */
export async function listed(folder: string, isJson: boolean, paint: Paint): Promise<string> {
  const found = await statesIn(folder)
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

/** What a list says of a page or a claim beside its path. */
export function listCells(found: Listed): string[] {
  if (isBroken(found)) return ['?', '', '', found.error.code]
  const { ids } = found
  const time = isClaim(found) ? claimTime(found) : pageTime(found)
  const clock = ids.clock === 'injected' ? ', injected clock' : ''
  return [ids.layoutName, String(ids.node), shorten(ids.namespace), time + clock].map(printable)
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
  if (isBroken(found)) return { path: found.path, error: { code: found.error.code, message: found.error.message } }
  return isClaim(found) ? plainClaim(found) : plainState(found)
}

/** A line for `--json`. JSON leaves some control characters as they are, and a string may have each as printable() writes it. */
export function jsonLine(value: unknown): string {
  return `${printable(JSON.stringify(value))}\n`
}
