import { GraupelError } from '../errors.js'
import { hasCode } from './attempt.js'
import { counterIn, sizes, usersIn } from './format.js'
import { fateOf, type ProcessIdentity, thisProcess } from './process.js'

/** In place of the word: the page has just been made. */
const notBegun = 0n

/** What a page tells to a process that does not map it. */
export interface PageContents {
  /** The first slot that was not issued; `undefined` where that is not known. */
  readonly word: bigint | undefined
  /** Where that is not known, what it is at least; 0 where nothing was issued. */
  readonly last: bigint
  /** The latest tick that the clock has shown to a process that reserved. */
  readonly highTick: number
  /** Processes that may still have it mapped; `undefined` where there are more than the page has room to name. */
  readonly users: readonly ProcessIdentity[] | undefined
}

/** @returns `undefined` where there is no page. */
export function readPage(path: string): PageContents | undefined {
  const { readFileSync } = process.getBuiltinModule('node:fs')
  let bytes: Buffer
  try {
    bytes = readFileSync(path)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
  // A page that is being made has another name, so one of this name is whole, or damaged.
  if (bytes.length !== sizes.page) {
    throw new GraupelError(
      'ERR_STATE_CORRUPT',
      `the page ${path}, in which processes share a state, is damaged: it has ${bytes.length} bytes and not ${sizes.page}; it is not started afresh, because it is not known what was issued: use another node, or delete it once the clock has certainly passed the last id`,
    )
  }
  const { word, isSealed, last, highTick } = counterIn(bytes)
  const { users, hasMore } = usersIn(bytes)
  const { bootId } = thisProcess()
  return {
    word: isSealed || word === notBegun ? undefined : word,
    // Above it where it is sealed, as in `BeginningOf` of `native/core/state.h`.
    last: last + (isSealed ? 1n : 0n),
    highTick: Number(highTick),
    users: hasMore ? undefined : users.map((user) => ({ ...user, bootId })).filter((user) => fateOf(user) !== 'gone'),
  }
}
