import { chmodSync, mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeEach } from 'vitest'
import { throwIfServerIsGone } from './gone-servers.ts'

// Runs before each test file, in the process of that file. Two files run at once, and many start processes of
// node 7, of which the js engine allows one.
const ofRun = String(process.env['GRAUPEL_STATE_FOLDER'])
const folder = mkdtempSync(join(ofRun, 'file-'))
chmodSync(folder, 0o1777)
process.env['GRAUPEL_STATE_FOLDER'] = folder
// For the next file of this process.
afterAll(() => {
  process.env['GRAUPEL_STATE_FOLDER'] = ofRun
})

beforeEach(throwIfServerIsGone)
