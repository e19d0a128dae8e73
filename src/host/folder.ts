import { GraupelError, rangeError, show } from '../core/errors.js'
import { unsafeFolder } from '../engine/fault.js'
import { attempt, hasCode } from './attempt.js'
import { permissionFor } from './permission.js'

// Node's own modules are taken from the process: platform/node.ts says why.

const variable = 'GRAUPEL_STATE_FOLDER'

/**
 * Where the pages of a user are. Processes with different folders do not meet, so nothing counts that may differ between
 * those of one user: the variable is what an operator sets for all of them.
 *
 * `native/platform/posix/memory_folder_posix.cc` and `memory_folder_win.cc` have the same rule, because each side works without the other:
 * the js engine and the command line need no addon, and the addon asks macOS by a call where Node starts a program. Tests
 * hold the two together (`both-folders.test.ts` and `user-namespace.test.ts` of `test/host`).
 *
 * @param uid - The user's id, as this process sees it; this process's own where it is not given. Windows has none.
 * @throws RangeError `ERR_OPTION_INVALID` where the variable is not an absolute path; GraupelError
 * `ERR_STATE_UNAVAILABLE` where the system does not name the user's temporary folder.
 */
export function pagesFolder(uid: number | bigint | undefined = process.geteuid?.()): string {
  const chosen = chosenFolder()
  if (process.platform === 'win32') return `${chosen ?? windowsFolder()}\\graupel`
  return `${chosen ?? posixFolder()}/graupel-${numberOf(uid)}`
}

/**
 * The parent of the folder of pages, where an operator has set one.
 *
 * @throws RangeError `ERR_OPTION_INVALID` where that is not an absolute path.
 */
export function chosenFolder(): string | undefined {
  const path = process.env[variable]
  if (path === undefined || path === '') return undefined
  // On Windows a path without a drive is on the current one.
  const isAbsolute = process.platform === 'win32' ? /^([a-z]:[\\/]|[\\/]{2})/i.test(path) : path.startsWith('/')
  if (isAbsolute) return path
  throw rangeError(
    'ERR_OPTION_INVALID',
    `${variable} is ${show(path)}, and a path that is not absolute leads each process elsewhere; set it to an absolute path, the same for all processes of the user`,
  )
}

/**
 * The number in the name of a user's folder: the user's id outside of this process's user namespace (`unshare -Ur`), so that
 * both sides have one folder. Each line of the map is the first id inside, the first id outside, and a count
 * (user_namespaces(7)). The map leads one level up; the system does not show a process the levels above.
 */
function numberOf(uid: number | bigint | undefined): number | bigint | undefined {
  if (process.platform !== 'linux') return uid
  const { readFileSync } = process.getBuiltinModule('node:fs')
  const map = attempt(() => readFileSync('/proc/self/uid_map', 'utf8')) ?? ''
  for (const line of map.split('\n')) {
    const [inside = 0, outside = 0, count = 0] = line.trim().split(/\s+/).map(Number)
    const distance = Number(uid) - inside
    if (distance >= 0 && distance < count) return outside + distance
  }
  return uid
}

function posixFolder(): string {
  if (process.platform === 'darwin') return darwinFolder()
  if (process.platform !== 'linux') return '/tmp'
  const { statSync } = process.getBuiltinModule('node:fs')
  try {
    return statSync('/dev/shm', { throwIfNoEntry: false })?.isDirectory() ? '/dev/shm' : '/tmp'
  } catch (cause) {
    const flag = permissionFor(cause, '/dev/shm')
    if (flag === undefined) throw cause
    throw new GraupelError(
      'ERR_STATE_UNAVAILABLE',
      `the folder /dev/shm cannot be read: Node's permission model refuses it; start Node with ${flag}, set ${variable} to a folder that it may use, or pass state: 'process' if no other process uses this node`,
      { cause },
    )
  }
}

/** By confstr(3), which Node does not have. TMPDIR usually says the same, and may say anything. */
function darwinFolder(): string {
  const { execFileSync } = process.getBuiltinModule('node:child_process')
  try {
    const words = ['DARWIN_USER_TEMP_DIR']
    const text = execFileSync('/usr/bin/getconf', words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
    if (!text.startsWith('/')) throw new Error(`it says ${show(text)}`)
    return text.trim().replace(/\/+$/, '')
  } catch (cause) {
    throw new GraupelError(
      'ERR_STATE_UNAVAILABLE',
      `the user's temporary folder is not known: getconf DARWIN_USER_TEMP_DIR failed; set ${variable} to a folder, the same for all processes of the user`,
      { cause },
    )
  }
}

/** Not by TEMP, TMP or USERPROFILE, which each process may have another of. */
function windowsFolder(): string {
  return `${process.getBuiltinModule('node:os').userInfo().homedir}\\AppData\\Local\\Temp`
}

/**
 * Makes a folder that is this user's alone, or checks that it is one; `OwnFolder` of `native/platform/posix/memory_folder_posix.cc` in TypeScript.
 *
 * @throws GraupelError `ERR_STATE_UNSAFE`; what the system says where there is none and none can be made
 */
export function ownFolder(path: string): void {
  const { chmodSync, mkdirSync } = process.getBuiltinModule('node:fs')
  try {
    mkdirSync(path, 0o700)
    // The umask narrows the mode, and may leave none.
    chmodSync(path, 0o700)
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error
  }
  checkFolder(path)
}

/** Checks that a folder, if there is one, is this user's alone. @throws GraupelError `ERR_STATE_UNSAFE` */
export function checkFolder(path: string): void {
  const { lstatSync } = process.getBuiltinModule('node:fs')
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats === undefined) return
  const detail = stats.isSymbolicLink()
    ? 'a symbolic link'
    : stats.isDirectory()
      ? rightsOfOthers(stats)
      : 'not a folder'
  if (detail !== undefined) throw unsafeFolder(`the folder ${path}`, detail)
}

/** How other users could change a file or folder; `undefined` if they cannot, or where modes do not say it (Windows). */
export function rightsOfOthers({ uid, mode }: { uid: number | bigint; mode: number | bigint }): string | undefined {
  const own = process.geteuid?.()
  if (own === undefined) return undefined
  if (Number(uid) !== own) return `owned by user ${uid} and not by ${own}`
  const bits = Number(mode) & 0o7777
  return (bits & 0o077) === 0 ? undefined : `open to other users by its mode ${bits.toString(8).padStart(4, '0')}`
}
