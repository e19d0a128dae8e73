import { GraupelError } from '../errors.js'

/**
 * Makes a folder that is this user's alone, or checks that it is one; `MemoryFolder` of `native/core` in TypeScript.
 *
 * @throws GraupelError `ERR_STATE_UNSAFE`; what the system says where there is none and none can be made
 */
export function ownFolder(path: string): void {
  const { chmodSync, lstatSync, mkdirSync } = process.getBuiltinModule('node:fs')
  try {
    mkdirSync(path, 0o700)
    // The umask narrows the mode, and may leave none.
    chmodSync(path, 0o700)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  const stats = lstatSync(path)
  const own = process.geteuid?.()
  const mode = stats.mode & 0o7777
  let fault: string | undefined
  if (stats.isSymbolicLink()) fault = 'a symbolic link'
  else if (!stats.isDirectory()) fault = 'not a folder'
  else if (own === undefined) return
  else if (stats.uid !== own) fault = `owned by user ${stats.uid} and not by ${own}`
  else if ((mode & 0o077) !== 0) fault = `open to other users by its mode ${mode.toString(8).padStart(4, '0')}`
  if (fault === undefined) return
  throw new GraupelError(
    'ERR_STATE_UNSAFE',
    `the folder ${path} is ${fault}; it has to be this user's alone (mode 0700, no link): remove it, or set GRAUPEL_STATE_FOLDER to another one for all processes of this user`,
  )
}
