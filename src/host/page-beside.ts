import type { Claimant, ClaimClock } from '../engine/claims.js'
import { idsText } from '../engine/key.js'
import { GraupelError } from '../errors.js'
import { holderText, unreachable } from './claim-access.js'
import { damaged, hasSoundCounter, maxBytes, type PageUser, parseState, usersIn } from './format.js'
import { readOwnPage } from './own-file.js'
import { fateOf, thisProcess } from './process.js'

/**
 * The first slot that a page beside a claim leaves to the js engine; `undefined` if there is no page, or none was begun.
 *
 * A process continues above the page's word only if the page's table of processes is empty. Whether a process of the table
 * was killed only decides what the error says.
 *
 * @throws GraupelError `ERR_STATE_UNREACHABLE` if the table is not empty; `ERR_STATE_CORRUPT`, `ERR_STATE_MISMATCH`,
 * `ERR_STATE_UNSAFE`, `ERR_STATE_UNAVAILABLE` as the native engine
 */
export function freePage(claimant: Claimant, clock: ClaimClock, path: string): bigint | undefined {
  const bytes = readOwnPage(path, maxBytes)
  if (bytes === undefined) return undefined
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

function inUse(claimant: Claimant, path: string, users: readonly PageUser[]): GraupelError {
  const { bootId } = thisProcess()
  const alive = users.find((user) => fateOf({ ...user, startTime: 0, bootId }) !== 'gone')
  if (alive !== undefined) return unreachable(claimant, `the native engine in ${holderText(alive)}`)
  const [user] = users
  return new GraupelError(
    'ERR_STATE_UNREACHABLE',
    `${user === undefined ? 'more processes than its table can name' : `process ${user.pid}, which was killed,`} had the page ${path} of this node open, so the js engine does not know that nobody counts in it; use the native engine, or stop all processes of the node and forget the page by 'graupel state ${path} --clean'`,
  )
}
