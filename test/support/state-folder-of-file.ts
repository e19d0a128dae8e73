import { chmodSync, mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach } from 'vitest'
import { throwIfServerIsGone } from './gone-servers.ts'

// Runs before each test file, in the process of that file. Two files run at once, and many start processes of
// node 7, of which the js engine allows one.
const folder = mkdtempSync(join(String(process.env['GRAUPEL_STATE_FOLDER']), 'file-'))
chmodSync(folder, 0o1777)
process.env['GRAUPEL_STATE_FOLDER'] = folder

beforeEach(throwIfServerIsGone)
