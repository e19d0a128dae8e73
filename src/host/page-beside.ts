import type { BigIntStats } from 'node:fs'
import { GraupelError } from '../core/errors.js'
import type { Claimant, ClaimClock } from '../state/claims.js'
import { damagedState, ofOtherIds, unsafePage } from '../state/errors.js'
import { layoutNameIn } from '../state/key.js'
import { rightsOfOthers } from './folder.js'
import { hasSoundCounter, magic, maxBytes, type PageUser, parseState, usersIn } from './format.js'
import { thisProcess } from './process.js'
import { hasCode, readContents } from './system.js'

/**
 * Finds the first slot that a page beside a claim leaves to the js engine; `undefined` if there is no page,
 * or the page has not begun. A process continues above the page's word only if the page's table of processes
 * is empty, whether they run or not.
 *
 * @throws GraupelError `ERR_STATE_UNREACHABLE` if the table is not empty; `ERR_STATE_CORRUPT`,
 * `ERR_STATE_MISMATCH`, `ERR_STATE_UNSAFE`, `ERR_STATE_UNAVAILABLE` as the native engine
 */
export function freePage(claimant: Claimant, clock: ClaimClock, path: string): bigint | undefined {
  let bytes: Buffer
  try {
    bytes = readPage(path)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
  if (bytes.toString('latin1', 0, magic.length) !== magic) throw damagedState('page', path, 'it does not begin as one')
  const page = parseState(path, bytes)
  if (page.kind !== 'page') throw damagedState('page', path, 'it is a state file and not a page')
  if (page.key !== claimant.key) throw ofOtherIds('page', path, page, claimant)
  if (!hasSoundCounter(page, clock)) throw damagedState('page', path, 'its numbers do not fit the layout')
  const { users, hasMore } = usersIn(bytes)
  if (users.length > 0 || hasMore) throw inUse(claimant, path, users)
  const { word, isSealed, last, highTick } = page
  if (!isSealed && word !== 0n) return word
  // As BeginningOf() of native/core/succession.h: above a sealed page, and after each tick that a clock has
  // shown.
  if (last === 0n) return undefined
  const beginning = isSealed ? last + 1n : last
  const next = clock.slotAfter(Number(highTick))
  return next > beginning ? next : beginning
}

/**
 * Reads a page, which has to be a plain file of this user alone, as `SharedFile::Open` of
 * `native/host/shared_file.h` demands.
 *
 * @throws GraupelError `ERR_STATE_UNSAFE`; errors of the system, such as `ENOENT`
 */
function readPage(path: string): Buffer {
  const check = (stats: BigIntStats) => {
    if (stats.isDirectory()) throw unsafePage(path, 'a folder')
    if (!stats.isFile()) throw unsafePage(path, 'not a plain file')
    if (stats.nlink > 1n) throw unsafePage(path, 'a file with another name, by a hard link')
    const rights = rightsOfOthers(stats)
    if (rights !== undefined) throw unsafePage(path, rights)
  }
  try {
    return readContents(path, maxBytes, check, process.getBuiltinModule('node:fs').constants.O_NOFOLLOW ?? 0).bytes
  } catch (cause) {
    if (hasCode(cause, 'ELOOP')) throw unsafePage(path, 'a symbolic link')
    if (hasCode(cause, 'ENXIO')) throw unsafePage(path, 'not a plain file')
    throw cause
  }
}

function inUse({ description }: Claimant, path: string, [user]: readonly PageUser[]): GraupelError {
  const layout = layoutNameIn(description)
  return new GraupelError(
    'ERR_STATE_UNREACHABLE',
    user === undefined
      ? `more processes than the page ${path} can list use this node of layout '${layout}' by the native engine; use the native engine in all processes of a node`
      : `${nameOf(user)} used this node of layout '${layout}' by the native engine in the page ${path}, and runs or was killed; use the native engine in all processes of a node, or, if none runs, forget the page by 'graupel state ${path} --clean'`,
  )
}

function nameOf({ pid, pidNamespace }: PageUser): string {
  const { pidNamespace: own } = thisProcess()
  return `process ${pid}${pidNamespace === own ? '' : ' of another pid namespace'}`
}
