import { resolve } from 'node:path'
import { pagesFolder } from '../host/folder.js'
import { type Arguments, helpFlag, type Manual, quote, shorten, UsageError } from './arguments.js'
import { howFar, jsonLine, type Output, type Paint, paintFor, printable, table, timeText } from './output.js'
import { claimAt, isClaimAt } from './state/claims.js'
import { cleanFolder, type Removal } from './state/clean.js'
import { isBroken, isClaim, type Listed, lastTimeMs, makeAccount, statesIn } from './state/list.js'
import { readState, type State } from './state/read.js'
import { rememberedBeside, removeClaim, removePage } from './state/remove.js'
import { accountLines, claimLines, claimTime, plainAccount, plainClaim, plainState } from './state-text.js'

const flags = {
  json: { help: 'print one JSON object a line' },
  clean: { help: 'remove pages and claims that are no longer needed, or the one at PATH' },
  help: helpFlag,
} as const

export const stateManual: Manual<typeof flags> = {
  name: 'state',
  usage: 'graupel state [PATH] [flags]',
  summary: 'Show the last ids in pages, claims and state files, or list them.',
  flags,
  notes: [
    'Without --clean it only reads. The last id is the last one that may exist,',
    'because threads reserve small runs of ids. The js engine has claims instead of',
    'pages. Processes of other containers are not seen. --clean without PATH removes',
    'pages and claims whose last id is more than a day old. With PATH it removes that',
    'page or claim, and says which ids are forgotten. It keeps a page that a process',
    'has open, a claim whose process runs, and all state files.',
  ],
}

/** `graupel state`. */
export async function state({ values, positionals }: Arguments<keyof typeof flags>, output: Output): Promise<void> {
  if (positionals.length > 1) {
    throw new UsageError(
      'ERR_OPTION_INVALID',
      `state takes one path, and ${quote(positionals[1] as string)} is a second; leave it out`,
    )
  }
  const [path] = positionals
  const isJson = values.json !== undefined
  const paint = paintFor(output.isTerminal)
  const isClean = values.clean !== undefined
  await output.write(await makeText(path === undefined ? undefined : resolve(path), isClean, isJson, paint))
}

function makeText(path: string | undefined, isClean: boolean, isJson: boolean, paint: Paint): Promise<string> {
  if (path === undefined) return (isClean ? cleanedFolder : listed)(pagesFolder(), isJson, paint)
  if (isClean) return (isClaimAt(path) ? cleanedClaim : cleanedPage)(path, isJson)
  return shown(path, isJson, paint)
}

async function shown(path: string, isJson: boolean, paint: Paint): Promise<string> {
  if (isClaimAt(path)) {
    const claim = claimAt(path)
    return isJson ? jsonLine(plainClaim(claim)) : indented(claimLines(claim, paint))
  }
  const account = await makeAccount(await readState(path))
  return isJson ? jsonLine(plainAccount(account)) : indented(accountLines(account, paint))
}

function indented(lines: readonly string[]): string {
  return lines.map((line) => `  ${line}\n`).join('')
}

/** Lists the pages and claims of this user, because their names are hashes, which users do not know. */
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

/** The heads of the columns of {@link listCells}. */
const listHead = ['layout', 'node', 'namespace', 'time of the last id'] as const

/** Returns the cells of a list for a page or a claim, without its path. */
function listCells(found: Listed): string[] {
  if (isBroken(found)) return ['?', '', '', found.error.code]
  const { ids } = found
  const time = isClaim(found) ? claimTime(found) : pageTime(found)
  const clock = ids.clock === 'injected' ? ', injected clock' : ''
  return [ids.layoutName, String(ids.node), shorten(ids.namespace), time + clock].map(printable)
}

function pageTime(found: State): string {
  const timeMs = lastTimeMs(found)
  if (timeMs !== undefined) return timeText(timeMs)
  return found.stored.kind === 'page' && found.stored.isSealed ? 'sealed' : 'none'
}

/** Returns rows below a head, with the nodes aligned as numbers. */
function headedTable(head: readonly string[], rows: readonly string[][], paint: Paint): string {
  const [headLine, ...lines] = table([head, ...rows], [head.indexOf('node')])
  return [paint('dim', headLine as string), ...lines].map((line) => `${line}\n`).join('')
}

/** Returns a page or a claim as an object for `--json`. */
function plainFound(found: Listed) {
  if (isBroken(found)) return { path: found.path, error: { code: found.error.code, message: found.error.message } }
  return isClaim(found) ? plainClaim(found) : plainState(found)
}

/**
 * Removes pages and claims that are no longer needed, and returns the list of removed and kept ones (`graupel
 * state --clean`).
 */
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

/**
 * Removes a page, and tells which ids are forgotten (`graupel state PATH --clean`). @throws as {@link
 * removePage}
 */
export async function cleanedPage(path: string, isJson: boolean): Promise<string> {
  const nowMs = Date.now()
  return removedText(await removePage(path, nowMs), isJson, nowMs)
}

/**
 * Removes a claim, and tells which ids are forgotten (`graupel state PATH --clean`). @throws as {@link
 * removeClaim}
 */
async function cleanedClaim(path: string, isJson: boolean): Promise<string> {
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

/** Returns the fate of a page or a claim as an object for `--json`. */
function plainRemoval({ found, isRemoved, reason }: Removal, nowMs: number) {
  const isKnown = isListed(found)
  const timeMs = isKnown ? lastTimeMs(found) : undefined
  const aheadMs = timeMs === undefined ? null : timeMs - nowMs
  return { isRemoved, reason, ...(isKnown ? plainFound(found) : found), aheadMs }
}

/** Returns the text for a page or a claim that the user has removed. */
function removedText(found: Listed, isJson: boolean, nowMs: number): string {
  if (isJson) return jsonLine(plainRemoval({ found, isRemoved: true, reason: 'asked for' }, nowMs))
  const [layout, node, namespace] = listCells(found)
  const ids = isBroken(found) ? '' : ` of layout ${layout}, node ${node}, namespace ${namespace}`
  return `Removed ${printable(found.path)}${ids}.\nForgotten: ${forgotten(found, nowMs)}.\n`
}

function forgotten(found: Listed, nowMs: number): string {
  if (isBroken(found)) return 'its last id, which is not known, because the file is damaged or of another version'
  const timeMs = lastTimeMs(found)
  if (timeMs !== undefined) {
    const isCeiling = isClaim(found) && found.latest.says.use !== 'released'
    const time = new Date(timeMs).toISOString()
    return `ids ${isCeiling ? 'before' : 'up to'} ${time}, ${howFar(timeMs, nowMs)} the clock`
  }
  const isSealed = !isClaim(found) && found.stored.kind === 'page' && found.stored.isSealed
  return isSealed ? 'that its ids are counted in another page' : 'nothing, because it has no id'
}
