import { GraupelError } from '../errors.js'
import { fateOf, type ProcessIdentity, thisProcess } from './process.js'

// The table of processes in a page, and the page's word: docs/state-file.md describes every byte, native/core/users.h
// writes them.

const tableAt = 3072
const entryBytes = 16
const wordAt = 3968
const highTickAt = 3976
const lastAt = 3992
const pageBytes = 16_384
/** In place of the word: these slots are counted in another page, which is gone; or the page has just been made. */
const sealed = 0xffff_ffff_ffff_ffffn
const notBegun = 0n
/** In place of a pid: there were more processes than entries. */
const tooMany = 0xffff_ffff

/** What a page tells to those who do not map it. */
export interface PageContents {
  /** The first slot that was not issued; `undefined` where that is not known. */
  readonly word: bigint | undefined
  /** Where that is not known, what it is at least; 0 where nothing was issued. */
  readonly last: bigint
  /** The latest tick that the clock has shown to a process that reserved. */
  readonly highTick: number
  /** Processes that may have it mapped still; `undefined` where there are more than the page has room to name. */
  readonly users: readonly ProcessIdentity[] | undefined
}

/** @returns `undefined` where there is no page. */
export function readPage(path: string): PageContents | undefined {
  const { readFileSync } = process.getBuiltinModule('node:fs')
  let bytes: Buffer
  try {
    bytes = readFileSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  // A page that is being made has another name, so one of this name is whole, or damaged.
  if (bytes.length !== pageBytes) {
    throw new GraupelError(
      'ERR_STATE_CORRUPT',
      `the page ${path}, in which processes share a state, is damaged: it has ${bytes.length} bytes and not ${pageBytes}; it is not started afresh, because it is not known what was issued: use another node, or delete it once the clock has certainly passed the last id`,
    )
  }
  const { bootId } = thisProcess()
  const users: ProcessIdentity[] = []
  let isFull = false
  for (let at = tableAt; at < wordAt; at += entryBytes) {
    const pid = bytes.readUInt32LE(at)
    if (pid === tooMany) isFull = true
    if (pid === 0 || pid === tooMany) continue
    const user = {
      pid,
      pidNamespace: bytes.readUInt32LE(at + 4),
      startTime: Number(bytes.readBigUInt64LE(at + 8)),
      bootId,
    }
    if (fateOf(user) !== 'gone') users.push(user)
  }
  const word = bytes.readBigUInt64LE(wordAt)
  return {
    word: word === sealed || word === notBegun ? undefined : word,
    // Above it where it is sealed, as in `BeginningOf` of `native/core/state.h`.
    last: bytes.readBigUInt64LE(lastAt) + (word === sealed ? 1n : 0n),
    highTick: Number(bytes.readBigUInt64LE(highTickAt)),
    users: isFull ? undefined : users,
  }
}
