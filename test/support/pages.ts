import { closeSync, constants, fstatSync, openSync, readdirSync, readSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pagesFolder } from '../../src/host/folder.js'
import { headerAt, keyIn } from '../../src/host/format.js'
import { parseKey } from '../../src/state/key.js'

// The pages and claims of a namespace; none on Windows.

/** Returns the paths of the pages whose namespace begins with a text. */
export function pagesOf(namespace: string): string[] {
  return pathsWith('.page').filter((path) => namespaceIn(keyIn(headOf(path)))?.startsWith(namespace))
}

/** Returns the paths of the js engine's claims whose namespace begins with a text. A claim is a folder. */
export function claimsOf(namespace: string): string[] {
  return pathsWith('.claim').filter((path) =>
    namesIn(path).some((link) => {
      // Empty if the link was removed after the folder was listed.
      const text = headOf(join(path, link)).toString()
      return /^\{.*\}$/s.test(text.trim()) && namespaceIn(JSON.parse(text).key)?.startsWith(namespace)
    }),
  )
}

/** Deletes the pages and claims of a namespace. A test relies on it, so it throws if there is none. */
export function deletePages(namespace: string): void {
  if (removeRemains(namespace) === 0) throw new Error(`'${namespace}' has no page and no claim that could be deleted`)
}

/** Deletes the pages and claims whose namespace begins with a text. Returns their number. */
export function removeRemains(namespace: string): number {
  const paths = [...pagesOf(namespace), ...claimsOf(namespace)]
  for (const path of paths) rmSync(path, { recursive: true, force: true })
  return paths.length
}

function pathsWith(ending: string): string[] {
  // A page that is open cannot be deleted there.
  if (process.platform === 'win32') return []
  const folder = pagesFolder()
  return namesIn(folder)
    .filter((name) => name.endsWith(ending))
    .map((name) => join(folder, name))
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    // The folder is made with the first page.
    return []
  }
}

function namespaceIn(key: string | undefined): string | undefined {
  return key === undefined ? undefined : parseKey(key)?.namespace
}

/** The first bytes of a plain file, as many as a header has; none of a file of another kind. */
function headOf(path: string): Buffer {
  let fd: number
  try {
    // Does not wait for the writer of a pipe, and does not follow links.
    fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOFOLLOW ?? 0))
  } catch {
    // Deleted since it was listed, a link, or not readable.
    return Buffer.alloc(0)
  }
  try {
    if (!fstatSync(fd).isFile()) return Buffer.alloc(0)
    const bytes = Buffer.alloc(headerAt.end)
    return bytes.subarray(0, readSync(fd, bytes))
  } finally {
    closeSync(fd)
  }
}
