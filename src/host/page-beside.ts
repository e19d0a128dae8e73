import { GraupelError } from '../core/errors.js'
import type { Claimant, ClaimClock } from '../engine/claims.js'
import { idsText, layoutNameIn } from '../engine/key.js'
import { hasCode } from './attempt.js'
import { damaged, hasSoundCounter, magic, maxBytes, type PageUser, parseState, usersIn } from './format.js'
import { readOwnFile } from './own-file.js'
import { thisProcess } from './process.js'

/**
 * The first slot that a page beside a claim leaves to the js engine; `undefined` if there is no page, or the page has not begun.
 *
 * A process continues above the page's word only if the page's table of processes is empty, whether they run or not.
 *
 * @throws GraupelError `ERR_STATE_UNREACHABLE` if the table is not empty; `ERR_STATE_CORRUPT`, `ERR_STATE_MISMATCH`,
 * `ERR_STATE_UNSAFE`, `ERR_STATE_UNAVAILABLE` as the native engine
 */
export function freePage(claimant: Claimant, clock: ClaimClock, path: string): bigint | undefined {
  let bytes: Buffer
  try {
    bytes = readOwnFile(path, 'the page', maxBytes)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
  if (bytes.toString('latin1', 0, magic.length) !== magic) throw damaged(path, 'it does not begin as a page')
  const page = parseState(path, bytes)
  if (page.kind !== 'page') throw damaged(path, 'it is a state file and not a page')
  if (page.key !== claimant.key) {
    throw new GraupelError(
      'ERR_STATE_MISMATCH',
      `the page ${path} is for ${idsText(page.key, page.description)}, and this generator makes ids of ${idsText(claimant.key, claimant.description)}; use another namespace, or delete the page`,
    )
  }
  if (!hasSoundCounter(page, clock)) throw damaged(path, 'its word is not one that the layout can have')
  const { users, hasMore } = usersIn(bytes)
  if (users.length > 0 || hasMore) throw inUse(claimant, path, users)
  const { word, isSealed, last, highTick } = page
  if (!isSealed && word !== 0n) return word
  // As BeginningOf() of native/core/state.h: above a sealed page, and after each tick that a clock has shown.
  if (last === 0n) return undefined
  const beginning = isSealed ? last + 1n : last
  const next = clock.slotAfter(Number(highTick))
  return next > beginning ? next : beginning
}

function inUse({ description }: Claimant, path: string, [user]: readonly PageUser[]): GraupelError {
  const who = user === undefined ? 'More processes than the page can name' : nameOf(user)
  return new GraupelError(
    'ERR_STATE_UNREACHABLE',
    `${who} had the native engine count this node of layout '${layoutNameIn(description)}' in the page ${path}, and runs or was ended by a signal; use the native engine, give each process a node of its own, pass state: 'process' if their ids never meet, or, if no process of the node runs, forget the page by 'graupel state ${path} --clean'`,
  )
}

function nameOf({ pid, pidNamespace }: PageUser): string {
  const { pidNamespace: own } = thisProcess()
  return `process ${pid}${pidNamespace === own ? '' : ' of another pid namespace'}`
}
