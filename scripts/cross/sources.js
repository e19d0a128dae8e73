import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * What binding.gyp says of the addon, for a compiler that gyp does not drive.
 *
 * @param {string} root - Of this repository.
 * @returns {{ sources: string[], defines: string[] }}
 */
export function addon(root) {
  const { targets } = JSON.parse(readFileSync(join(root, 'binding.gyp'), 'utf8'))
  const [{ sources, defines }] = targets
  return { sources, defines }
}
