import type { BigIntStats } from 'node:fs'
import { GraupelError } from '../core/errors.js'
import { hasCode } from './attempt.js'
import { rightsOfOthers } from './folder.js'

// Node's own modules are taken from the process: platform/node.ts says why.

export interface Contents {
  readonly bytes: Buffer
  readonly stats: BigIntStats
}

/**
 * Reads a file, up to `maxBytes`, without waiting for the writer of a pipe.
 *
 * @param check - Looks at the file before it is read, and may throw.
 * @param flags - More flags of open(2).
 * @throws what the system says
 */
export function readContents(path: string, maxBytes: number, check: (stats: BigIntStats) => void, flags = 0): Contents {
  const { closeSync, constants, fstatSync, openSync, readSync } = process.getBuiltinModule('node:fs')
  // Windows does not have the flag, nor pipes in folders.
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | flags)
  try {
    const stats = fstatSync(file, { bigint: true })
    check(stats)
    const bytes = Buffer.alloc(maxBytes)
    let length = 0
    for (let count = -1; count !== 0 && length < maxBytes; length += count) {
      count = readSync(file, bytes, length, maxBytes - length, length)
    }
    return { bytes: bytes.subarray(0, length), stats }
  } finally {
    closeSync(file)
  }
}

/**
 * Reads a file that has to be a plain file of this user's alone, as `SharedFile::Open` of native/host/shared_file.h has it.
 *
 * @param what - Names the file in messages.
 * @throws GraupelError `ERR_STATE_UNSAFE`; what the system says, such as `ENOENT`
 */
export function readOwnFile(path: string, what: string, maxBytes: number): Buffer {
  const unsafe = (detail: string) =>
    new GraupelError(
      'ERR_STATE_UNSAFE',
      `${what} ${path} is ${detail}; it has to be a plain file of this user's alone (mode 0600, no links): remove it, or find out who put it there`,
    )
  const check = (stats: BigIntStats) => {
    if (stats.isDirectory()) throw unsafe('a folder')
    if (!stats.isFile()) throw unsafe('not a plain file')
    if (stats.nlink > 1n) throw unsafe('a file with another name, by a hard link')
    const rights = rightsOfOthers(stats)
    if (rights !== undefined) throw unsafe(rights)
  }
  try {
    return readContents(path, maxBytes, check, process.getBuiltinModule('node:fs').constants.O_NOFOLLOW ?? 0).bytes
  } catch (cause) {
    if (hasCode(cause, 'ELOOP')) throw unsafe('a symbolic link')
    if (hasCode(cause, 'ENXIO')) throw unsafe('not a plain file')
    throw cause
  }
}
