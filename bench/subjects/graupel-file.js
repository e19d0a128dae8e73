import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { graupel } from './graupel.js'

/** And what it costs that a file remembers it, too. */
export default graupel('native', {
  name: 'graupel-file',
  title: 'graupel native, state in a file',
  state() {
    const folder = mkdtempSync(join(tmpdir(), 'graupel-bench-'))
    process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
    return join(folder, 'ids.state')
  },
  only: ['next'],
})
