import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pagesFolder } from '../../src/host/folder.js'

/**
 * Global set-up: pages and claims of the tests are in a folder of this run, which is removed at its end. They would
 * otherwise stay until the system is restarted.
 */
export default function setUp(): () => void {
  const folder = mkdtempSync(join(dirname(pagesFolder()), 'graupel-tests-'))
  // As /dev/shm is: the folder below it belongs to one user, this one to all.
  chmodSync(folder, 0o1777)
  // The workers and what they start inherit it.
  process.env['GRAUPEL_STATE_FOLDER'] = folder
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
}
