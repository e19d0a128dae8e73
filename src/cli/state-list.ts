import { quote } from './arguments.js'
import { type Paint, printable, table } from './paint.js'
import { type Found, pagesIn } from './state-memory.js'
import { accountOf, ago, plainState } from './state-show.js'

/** The pages of this user, the latest first: their names are hashes, so nobody could ask for one. */
export async function listed(folder: string, isJson: boolean, paint: Paint): Promise<string> {
  const found = (await pagesIn(folder)).sort((a, b) => lastMs(b) - lastMs(a))
  if (isJson) return found.map((page) => jsonLine(plainFound(page))).join('')
  if (found.length === 0) {
    return `There is no page in ${printable(folder)}: nothing on this host remembers ids of this user.\n`
  }
  return headedTable(
    [...listHead, 'page'],
    found.map((page) => [...listCells(page), printable(page.path)]),
    paint,
  )
}

/** The heads of {@link listCells}. */
export const listHead = ['layout', 'node', 'namespace', 'time of the last id'] as const

/** What a list says of a page beside its path. */
export function listCells(found: Found): string[] {
  if ('error' in found) return ['?', '', '', found.error.code]
  const { ids, stored } = found
  const timeMs = lastTimeMs(found)
  const isSealed = stored.kind === 'page' && stored.isSealed
  const time = timeMs === undefined ? (isSealed ? 'sealed' : 'none') : ago(timeMs)
  const clock = ids.clock === 'injected' ? ', injected clock' : ''
  return [ids.layoutName, String(ids.node), quote(ids.namespace).slice(1, -1), time + clock].map(printable)
}

/** Lines with a head; the nodes are numbers. */
export function headedTable(head: readonly string[], rows: readonly string[][], paint: Paint): string {
  const [headLine, ...lines] = table([head, ...rows], [head.indexOf('node')])
  return [paint('dim', headLine as string), ...lines].map((line) => `${line}\n`).join('')
}

/** As an object for `--json`. */
export function plainFound(found: Found) {
  if ('error' in found) return { path: found.path, error: { code: found.error.code, message: found.error.message } }
  const { openBy: _, ...plain } = plainState(accountOf(found, undefined, undefined))
  return plain
}

/** When the last id was made; `undefined` if there is none, or it is not known. */
export function lastTimeMs(found: Found): number | undefined {
  if ('error' in found) return undefined
  const { lastSlot } = accountOf(found, undefined, undefined)
  return lastSlot === undefined ? undefined : found.ids.timeMs(lastSlot)
}

// JSON leaves some control characters as they are, and in a string each may be written as printable() does.
export function jsonLine(value: unknown): string {
  return `${printable(JSON.stringify(value))}\n`
}

/** Earlier than any Date; not infinite, because a difference of two of them has to be a number. */
const beforeAll = -9e15

function lastMs(found: Found): number {
  return lastTimeMs(found) ?? beforeAll
}
