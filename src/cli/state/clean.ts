import { cleanFolder, type Removal } from '../../host/clean.js'
import { isBroken, isClaim, type Listed, lastTimeMs } from '../../host/list.js'
import { rememberedBeside, removeClaim, removePage } from '../../host/remove.js'
import { howFar } from '../../inspect/time.js'
import { type Paint, printable } from '../paint.js'
import { headedTable, jsonLine, listCells, listHead, plainFound } from './list.js'

/** `graupel state --clean`: removes what is not needed any more from a folder of pages, and says what it removed and kept. */
export async function cleanedFolder(folder: string, isJson: boolean, paint: Paint): Promise<string> {
  const nowMs = Date.now()
  const removals = await cleanFolder(folder, nowMs)
  if (isJson) return removals.map((removal) => jsonLine(plainRemoval(removal, nowMs))).join('')
  if (removals.length === 0) return `There is no page and no claim in ${printable(folder)}: nothing to remove.\n`
  const rows = removals.map(({ found, isRemoved, reason }) => [
    isRemoved ? 'removed' : 'kept',
    printable(reason),
    ...(isListed(found) ? listCells(found) : ['', '', '', '']),
    printable(found.path),
  ])
  return headedTable(['', 'because', ...listHead, 'path'], rows, paint)
}

/** `graupel state PATH --clean` for a page: removes it, and says what is forgotten. @throws as {@link removePage} */
export async function cleanedPage(path: string, isJson: boolean): Promise<string> {
  const nowMs = Date.now()
  return removedText(await removePage(path, nowMs), isJson, nowMs)
}

/** `graupel state PATH --clean` for a claim: removes it, and says what is forgotten. @throws as {@link removeClaim} */
export async function cleanedClaim(path: string, isJson: boolean): Promise<string> {
  const nowMs = Date.now()
  const claim = removeClaim(path, nowMs)
  const text = removedText(claim, isJson, nowMs)
  const page = isJson ? undefined : await rememberedBeside(claim)
  if (page === undefined) return text
  return `${text}Still remembered: ids up to ${new Date(page.timeMs).toISOString()}, by ${printable(page.path)}.\n`
}

function isListed(found: Removal['found']): found is Listed {
  return 'error' in found || 'ids' in found
}

/** As an object for `--json`. */
function plainRemoval({ found, isRemoved, reason }: Removal, nowMs: number) {
  const isKnown = isListed(found)
  const timeMs = isKnown ? lastTimeMs(found) : undefined
  const aheadMs = timeMs === undefined ? null : timeMs - nowMs
  return { isRemoved, reason, ...(isKnown ? plainFound(found) : found), aheadMs }
}

/** What is said of a page or a claim that was asked for and is removed. */
function removedText(found: Listed, isJson: boolean, nowMs: number): string {
  if (isJson) return jsonLine(plainRemoval({ found, isRemoved: true, reason: 'asked for' }, nowMs))
  const [layout, node, namespace] = listCells(found)
  const ids = isBroken(found) ? '' : ` of layout ${layout}, node ${node}, namespace ${namespace}`
  return `Removed ${printable(found.path)}${ids}.\nForgotten: ${forgotten(found, nowMs)}.\n`
}

function forgotten(found: Listed, nowMs: number): string {
  if (isBroken(found)) return 'its last id, which is not known, as it is damaged or of another version'
  const timeMs = lastTimeMs(found)
  if (timeMs !== undefined) {
    const isCeiling = isClaim(found) && found.latest.says.use !== 'released'
    const time = new Date(timeMs).toISOString()
    return `ids ${isCeiling ? 'before' : 'up to'} ${time}, ${howFar(timeMs, nowMs)} the clock`
  }
  const isSealed = !isClaim(found) && found.stored.kind === 'page' && found.stored.isSealed
  return isSealed ? 'that its ids are counted in another page' : 'nothing, as it has no id'
}
