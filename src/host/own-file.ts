import { GraupelError } from '../errors.js'
import { hasCode } from './attempt.js'
import { rightsOfOthers } from './folder.js'

// Node's own modules are taken from the process: platform/node.ts says why.

/**
 * Reads a file that has to be a plain file of this user's alone; `SharedFile::Open` of native/host/shared_file.h in TypeScript.
 *
 * @param what - Names the file in messages.
 * @param maxBytes - Reads no more than that.
 * @returns `undefined` if there is no file.
 * @throws GraupelError `ERR_STATE_UNSAFE`, `ERR_STATE_UNAVAILABLE`
 */
export function readOwnFile(path: string, what: string, maxBytes: number): Buffer | undefined {
  const { closeSync, constants, fstatSync, openSync, readSync } = process.getBuiltinModule('node:fs')
  const unsafe = (detail: string) =>
    new GraupelError(
      'ERR_STATE_UNSAFE',
      `${what} ${path} is ${detail}; it has to be a plain file of this user's alone (mode 0600, no links): remove it, or find out who put it there`,
    )
  let fd: number
  try {
    // Follows no link, and does not wait for the writer of a pipe. Windows has neither flag.
    fd = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0))
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    if (hasCode(error, 'ELOOP')) throw unsafe('a symbolic link')
    if (hasCode(error, 'ENXIO')) throw unsafe('not a plain file')
    throw unreadable(what, path, error)
  }
  try {
    const stats = fstatSync(fd)
    if (stats.isDirectory()) throw unsafe('a folder')
    if (!stats.isFile()) throw unsafe('not a plain file')
    if (stats.nlink > 1) throw unsafe('a file with another name, by a hard link')
    const rights = rightsOfOthers(stats)
    if (rights !== undefined) throw unsafe(rights)
    const bytes = Buffer.alloc(maxBytes)
    let length = 0
    for (let count = -1; count !== 0 && length < maxBytes; length += count) {
      count = readSync(fd, bytes, length, maxBytes - length, length)
    }
    return bytes.subarray(0, length)
  } catch (error) {
    throw error instanceof GraupelError ? error : unreadable(what, path, error)
  } finally {
    closeSync(fd)
  }
}

function unreadable(what: string, path: string, cause: unknown): GraupelError {
  return new GraupelError(
    'ERR_STATE_UNAVAILABLE',
    `${what} ${path} cannot be read: ${(cause as Error).message}; give its owner the right to read it, or pass state: 'process' if no other process uses this node`,
    { cause },
  )
}
