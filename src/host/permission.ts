import { hasCode } from './attempt.js'

/** The flags of Node's permission model, by what the error calls the permission. */
const flags: Readonly<Record<string, string>> = {
  FileSystemRead: '--allow-fs-read',
  FileSystemWrite: '--allow-fs-write',
  ChildProcess: '--allow-child-process',
}

/**
 * Names the flag that Node has to be started with, so that its permission model (`--permission`) allows what it has refused.
 *
 * @param error - What a call has thrown.
 * @param folder - A folder with everything that the caller is about to use. Without it the flag is for the refused path alone, and
 * the next path would need a flag of its own.
 * @returns A flag such as `--allow-fs-write=/dev/shm/graupel-0/*`; `undefined` for every other error.
 */
export function permissionFor(error: unknown, folder?: string): string | undefined {
  if (!hasCode(error, 'ERR_ACCESS_DENIED')) return undefined
  const { permission = '', resource = '' } = error as { permission?: string; resource?: string }
  const flag = Object.hasOwn(flags, permission) ? flags[permission] : undefined
  if (flag === undefined || !permission.startsWith('FileSystem')) return flag
  // A folder that is not there yet is allowed by its name and an asterisk, and not by its name alone. On Windows, Node shows the
  // path as the system takes it.
  const path = folder === undefined ? resource.replace(/^\\\\\?\\/, '') : `${folder}/*`
  return path === '' ? flag : `${flag}=${path}`
}
