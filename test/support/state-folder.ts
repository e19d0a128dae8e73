import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pagesFolder } from '../../src/host/folder.js'

/**
 * Global set-up. Puts the pages and claims of the tests into a folder of this run, and removes the folder at
 * the end. Otherwise they would stay until the system is restarted.
 */
export default function setUp(): () => void {
  const folder = mkdtempSync(join(dirname(pagesFolder()), 'graupel-tests-'))
  // Like /dev/shm, this folder belongs to all users. The folder below it belongs to one user.
  chmodSync(folder, 0o1777)
  // The workers of vitest, and the processes that they start, inherit the variables.
  process.env['GRAUPEL_STATE_FOLDER'] = folder
  // No process warns if the tests run in a container, also without the NODE_ENV of vitest.
  process.env['GRAUPEL_NODE_UNIQUE'] = '1'
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
}
