import type { BigIntStats } from 'node:fs'

// Calls of the system that several modules of this folder make. Node's own modules are taken from the
// process: platform/node.ts says why.

/**
 * Returns the result of a call, or `undefined` if the call throws, because another process was faster or has
 * ended.
 */
export function tryTo<T>(call: () => T): T | undefined {
  try {
    return call()
  } catch {
    return undefined
  }
}

/** Whether an error is the system's error of that name, such as `ENOENT`. */
export function hasCode(error: unknown, code: string): boolean {
  return (error as NodeJS.ErrnoException).code === code
}

let sleeper: Int32Array | undefined

/** Blocks this thread. */
export function sleep(ms: number): void {
  sleeper ??= new Int32Array(new SharedArrayBuffer(4))
  Atomics.wait(sleeper, 0, 0, ms)
}

/**
 * Makes 64 random bits. Linux has them in a file: loading Node's `crypto` takes longer than the rest of a
 * claim.
 */
export function randomBits(): bigint {
  // The first and the last eight digits of a UUID of version 4 are random (RFC 9562, section 5.4).
  const [, first, last] = systemUuid()?.match(/^([0-9a-f]{8})-.*([0-9a-f]{8})$/) ?? []
  if (first !== undefined && last !== undefined) return BigInt(`0x${first}${last}`)
  return crypto.getRandomValues(new BigUint64Array(1))[0] as bigint
}

let isSystemUuidRandom: boolean | undefined

/**
 * Reads a fresh UUID of version 4 from the file that Linux has. `undefined` without the file, and if a
 * sandbox has put a constant text in its place.
 */
export function systemUuid(): string | undefined {
  if (isSystemUuidRandom === false || process.platform !== 'linux') return undefined
  const uuid = readUuid()
  isSystemUuidRandom ??= uuid !== readUuid()
  return isSystemUuidRandom ? uuid : undefined
}

const uuidFile = '/proc/sys/kernel/random/uuid'
const version4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

function readUuid(): string | undefined {
  const text = tryTo(() => process.getBuiltinModule('node:fs').readFileSync(uuidFile, 'utf8'))?.trim() ?? ''
  return version4.test(text) ? text : undefined
}

/** The contents of a file, and its metadata when it was opened. */
export interface Contents {
  readonly bytes: Buffer
  readonly stats: BigIntStats
}

/**
 * Reads a file, up to `maxBytes`. Does not wait for the writer of a pipe.
 *
 * @param check - Is called before the file is read, and may throw.
 * @param flags - More flags of open(2).
 * @throws errors of the system
 */
export function readContents(path: string, maxBytes: number, check: (stats: BigIntStats) => void, flags = 0): Contents {
  const { closeSync, constants, fstatSync, openSync, readSync } = process.getBuiltinModule('node:fs')
  // Windows has neither the flag nor pipes in folders.
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

/** The flags of Node's permission model, by the name that the error gives the permission. */
const permissionFlags: Readonly<Record<string, string>> = {
  FileSystemRead: '--allow-fs-read',
  FileSystemWrite: '--allow-fs-write',
  ChildProcess: '--allow-child-process',
}

/**
 * Tells how to start the runtime so that it allows a call that it has refused: Node's permission model
 * (`--permission`), or Deno.
 *
 * @param error - The error of the refused call.
 * @param folder - The folder of all files that the caller is about to use. Without it Node's flag allows the
 * refused path alone, and the next path would need another flag.
 * @returns A remedy such as `start Node with --allow-fs-write=/dev/shm/graupel-0/*`; `undefined` for every
 * other error.
 */
export function permissionFor(error: unknown, folder?: string): string | undefined {
  const flag = nodeFlagFor(error, folder)
  return flag === undefined ? denoPermissionFor(error) : `start Node with ${flag}`
}

/** Tells how to start Deno so that it allows a call that it has refused; `undefined` for other errors. */
export function denoPermissionFor(error: unknown): string | undefined {
  const [, flag] = String((error as Error).message).match(/run again with the (--allow-\w+) flag/) ?? []
  if (flag === undefined) return undefined
  // Deno allows no file below /dev without all permissions.
  const isAll = flag === '--allow-all'
  return `start Deno with ${flag}${isAll ? ', or set GRAUPEL_STATE_FOLDER to a folder that is not below /dev' : ''}`
}

function nodeFlagFor(error: unknown, folder: string | undefined): string | undefined {
  if (!hasCode(error, 'ERR_ACCESS_DENIED')) return undefined
  const { permission = '', resource = '' } = error as { permission?: string; resource?: string }
  const flag = Object.hasOwn(permissionFlags, permission) ? permissionFlags[permission] : undefined
  if (flag === undefined || !permission.startsWith('FileSystem')) return flag
  // A folder that does not exist yet is allowed by its name and an asterisk, not by its name alone. On
  // Windows, Node shows the system's form of the path.
  const path = folder === undefined ? resource.replace(/^\\\\\?\\/, '') : `${folder}/*`
  return path === '' ? flag : `${flag}=${path}`
}
