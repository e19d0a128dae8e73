import { GraupelError, rangeError, show } from '../core/errors.js'
import { unsafeFolder } from '../state/errors.js'
import { hasCode, permissionFor, tryTo } from './system.js'

// The folder of a user's pages and claims, and their names in it. Node's own modules are taken from the
// process: platform/node.ts says why.

const variable = 'GRAUPEL_STATE_FOLDER'

/**
 * Returns the folder of a user's pages. Processes with different folders share no pages, so the folder
 * depends only on the user, the system, and a variable that an operator sets for all processes of the user.
 *
 * `native/platform/posix/memory_folder_posix.cc` and `memory_folder_win.cc` have the same rule, because each
 * side works without the other: the js engine and the command line need no addon, and the addon asks macOS by
 * a call for which Node starts a program. `both-folders.test.ts` and `user-namespace.test.ts` of `test/host`
 * compare the two.
 *
 * @param uid - The user's id, as this process sees it; by default the id of this process's user. Windows has
 * no ids.
 * @throws RangeError `ERR_OPTION_INVALID` if the variable is not an absolute path; GraupelError
 * `ERR_STATE_UNAVAILABLE` if the system does not name the user's temporary folder.
 */
export function pagesFolder(uid?: number | bigint): string {
  const chosen = chosenFolder()
  try {
    if (process.platform === 'win32') return `${chosen ?? windowsFolder()}\\graupel`
    return `${chosen ?? posixFolder()}/graupel-${numberOf(uid ?? process.geteuid?.())}`
  } catch (cause) {
    const remedy = permissionFor(cause, '/dev/shm')
    if (remedy === undefined) throw cause
    const { message } = cause as Error
    throw new GraupelError('ERR_STATE_UNAVAILABLE', `the user's folder of nodes is not known: ${message}; ${remedy}`, {
      cause,
    })
  }
}

/**
 * Returns the parent of the folder of pages, if an operator has set one.
 *
 * @throws RangeError `ERR_OPTION_INVALID` if it is not an absolute path.
 */
export function chosenFolder(): string | undefined {
  const path = process.env[variable]
  if (path === undefined || path === '') return undefined
  // On Windows a path without a drive is on the current drive.
  const isAbsolute = process.platform === 'win32' ? /^([a-z]:[\\/]|[\\/]{2})/i.test(path) : path.startsWith('/')
  if (isAbsolute) return path
  throw rangeError(
    'ERR_OPTION_INVALID',
    `GRAUPEL_STATE_FOLDER is ${show(path)}, and a relative path leads each process elsewhere; set it to an absolute path, the same for all processes of the user`,
  )
}

/**
 * Returns the number in the name of a user's folder: the user's id outside of this process's user namespace
 * (`unshare -Ur`), so that both sides have one folder. Each line of the map has the first id inside, the
 * first id outside, and a count (user_namespaces(7)). The map leads one level up; the system does not show
 * the levels above.
 */
function numberOf(uid: number | bigint | undefined): number | bigint | undefined {
  if (process.platform !== 'linux') return uid
  const { readFileSync } = process.getBuiltinModule('node:fs')
  const map = tryTo(() => readFileSync('/proc/self/uid_map', 'utf8')) ?? ''
  for (const line of map.split('\n')) {
    const [inside = 0, outside = 0, count = 0] = line.trim().split(/\s+/).map(Number)
    const distance = Number(uid) - inside
    if (distance >= 0 && distance < count) return outside + distance
  }
  return uid
}

/** Returns the parent of the folder of pages if no operator has set it. */
export function posixFolder(): string {
  if (process.platform === 'darwin') return darwinFolder()
  if (process.platform !== 'linux') return '/tmp'
  const { statSync } = process.getBuiltinModule('node:fs')
  return statSync('/dev/shm', { throwIfNoEntry: false })?.isDirectory() ? '/dev/shm' : '/tmp'
}

/**
 * Asks confstr(3), which Node does not have, by a program. TMPDIR usually has the same value, but may have
 * any.
 */
function darwinFolder(): string {
  const { execFileSync } = process.getBuiltinModule('node:child_process')
  try {
    const words = ['DARWIN_USER_TEMP_DIR']
    const text = execFileSync('/usr/bin/getconf', words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
    if (!text.startsWith('/')) throw new Error(`the result is ${show(text)}`)
    return text.trim().replace(/\/+$/, '')
  } catch (cause) {
    throw new GraupelError(
      'ERR_STATE_UNAVAILABLE',
      `the user's temporary folder is not known, because getconf DARWIN_USER_TEMP_DIR failed; set GRAUPEL_STATE_FOLDER to a folder, the same for all processes of the user`,
      { cause },
    )
  }
}

/** Does not read TEMP, TMP and USERPROFILE, because they may differ between processes. */
function windowsFolder(): string {
  return `${process.getBuiltinModule('node:os').userInfo().homedir}\\AppData\\Local\\Temp`
}

/**
 * Makes a folder of this user alone, or checks that an existing folder is; `OwnFolder` of
 * `native/platform/posix/memory_folder_posix.cc` in TypeScript.
 *
 * @throws GraupelError `ERR_STATE_UNSAFE`; errors of the system if there is no folder and it cannot be made
 */
export function ownFolder(path: string): void {
  const { chmodSync, mkdirSync } = process.getBuiltinModule('node:fs')
  try {
    mkdirSync(path, 0o700)
    // The umask narrows the mode, and may leave no rights.
    chmodSync(path, 0o700)
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error
  }
  checkFolder(path)
}

/**
 * Checks that a folder, if there is one, belongs to this user alone. @throws GraupelError `ERR_STATE_UNSAFE`
 */
export function checkFolder(path: string): void {
  const { lstatSync } = process.getBuiltinModule('node:fs')
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats === undefined) return
  const detail = stats.isSymbolicLink()
    ? 'a symbolic link'
    : stats.isDirectory()
      ? rightsOfOthers(stats)
      : 'not a folder'
  if (detail !== undefined) throw unsafeFolder(path, detail)
}

/**
 * How other users could change a file or folder; `undefined` if they cannot, or if modes do not tell
 * (Windows).
 */
export function rightsOfOthers({ uid, mode }: { uid: number | bigint; mode: number | bigint }): string | undefined {
  const own = process.geteuid?.()
  if (own === undefined) return undefined
  if (Number(uid) !== own) return `owned by user ${uid} and not by ${own}`
  const bits = Number(mode) & 0o7777
  return (bits & 0o077) === 0 ? undefined : `open to other users by its mode ${bits.toString(8).padStart(4, '0')}`
}

const prime = 0x100_0000_01b3n
const starts = [0xcbf2_9ce4_8422_2325n, 0x8422_2325_cbf2_9ce4n]

/**
 * The hash of a key, which names its page and its claim; `NameHash` of `native/core/checksum.h` in
 * TypeScript.
 */
export function nameOf(key: string): string {
  const bytes = new TextEncoder().encode(key)
  return starts
    .map((start) => bytes.reduce((hash, byte) => BigInt.asUintN(64, (hash ^ BigInt(byte)) * prime), start))
    .map((hash) => hash.toString(16).padStart(16, '0'))
    .join('')
}

/** The path of a key's claim. */
export function claimIn(folder: string, key: string): string {
  return `${folder}/${nameOf(key)}.claim`
}

/** The path of the page beside a claim. */
export function pageBeside(claim: string): string {
  return claim.replace(/claim$/, 'page')
}

/** The last part of a path. */
export function fileNameIn(path: string): string {
  return path.slice(path.search(/[^/\\]*$/))
}

// A name that begins with a dot belongs to a page or link that is still being made.

export function isPageName(name: string): boolean {
  return /^[^.].*\.page$/s.test(name)
}

/** Whether graupel gives such a name to a page. */
export function isHashedPageName(name: string): boolean {
  return /^[0-9a-f]{32}\.page$/.test(name)
}

export function isClaimName(name: string): boolean {
  return /^[^.].*\.claim$/s.test(name)
}

/** Whether a page, or a link of a claim, has such a name while it is being made. */
export function isUnfinishedName(name: string): boolean {
  return /^\..*\.new$/s.test(name)
}
