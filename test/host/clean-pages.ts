import { closeSync, constants, fstatSync, openSync, readdirSync, readSync, rmSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'

// Pages outlive the processes that made them, which is what they are for; those of the tests would stay until the host is
// restarted. docs/state-file.md has the format.

const keyLengthAt = 72
const textAt = 96
const headerBytes = 3968
/** The words of a key before the namespace: whose clock it is, and the bits of the layout and the node. */
const wordsBeforeNamespace = 8

/** Where the pages of this user are, or undefined where they are no files. */
export function pageFolder(): string | undefined {
  if (process.platform === 'win32') return undefined
  const parent = process.platform === 'linux' ? '/dev/shm' : tmpdir()
  return join(parent, `graupel-${userInfo().uid}`)
}

/** The pages whose namespace begins so, by their paths. */
export function pagesOf(namespace: string): string[] {
  const folder = pageFolder()
  if (folder === undefined) return []
  return namesIn(folder)
    .filter((name) => name.endsWith('.page'))
    .map((name) => join(folder, name))
    .filter((path) => namespaceOf(path)?.startsWith(namespace))
}

/** Deletes them. Whoever has one open goes on with it for a tick at the most, and makes another one. */
export function deletePages(namespace: string): number {
  const paths = pagesOf(namespace)
  for (const path of paths) rmSync(path, { force: true })
  for (const path of claimsOf(namespace)) rmSync(path, { recursive: true, force: true })
  return paths.length
}

/** The claims of the js engine whose namespace begins so: folders, by their paths. */
export function claimsOf(namespace: string): string[] {
  const folder = pageFolder()
  if (folder === undefined) return []
  return namesIn(folder)
    .filter((name) => name.endsWith('.claim'))
    .map((name) => join(folder, name))
    .filter((path) =>
      namesIn(path).some((step) => {
        // A step may go while this looks.
        const text = headOf(join(path, step)).toString()
        return /^\{.*\}$/s.test(text.trim()) && namespaceIn(JSON.parse(text).key).startsWith(namespace)
      }),
    )
}

/** Vitest's global set-up: when all tests are over, nothing of them is left in memory. */
export default function setUp(): () => void {
  return () => {
    deletePages('test ')
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    // Nobody has made a page yet.
    return []
  }
}

function namespaceOf(path: string): string | undefined {
  const bytes = headOf(path)
  if (bytes.length < textAt) return undefined
  return namespaceIn(bytes.toString('utf8', textAt, textAt + bytes.readUInt32LE(keyLengthAt)))
}

function namespaceIn(key: string): string {
  return key.split(' ').slice(wordsBeforeNamespace).join(' ')
}

/** The bytes of a plain file, as far as a header goes; none of anything else. */
function headOf(path: string): Buffer {
  let fd: number
  try {
    // Whatever somebody has put there under such a name, this waits for nobody: a pipe would have to have a writer.
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
  } catch {
    // Deleted by somebody else meanwhile, a link, or not to be read by us: then it is none of ours.
    return Buffer.alloc(0)
  }
  try {
    if (!fstatSync(fd).isFile()) return Buffer.alloc(0)
    const bytes = Buffer.alloc(headerBytes)
    return bytes.subarray(0, readSync(fd, bytes))
  } finally {
    closeSync(fd)
  }
}
