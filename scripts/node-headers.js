import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * Returns the folder of the headers that came with this Node, so that node-gyp need not download them. Returns nothing if the
 * headers are not in the folder of the installer, or npm is configured with others.
 *
 * @returns {string | undefined}
 */
export function headersOfThisNode() {
  const folder = join(dirname(process.execPath), '..')
  if (process.env['npm_config_nodedir']) return undefined
  try {
    const text = readFileSync(join(folder, 'include/node/node_version.h'), 'utf8')
    const parts = ['MAJOR', 'MINOR', 'PATCH'].map((part) => text.match(`define NODE_${part}_VERSION (\\d+)`)?.[1])
    return parts.join('.') === process.versions.node ? folder : undefined
  } catch {
    return undefined
  }
}
