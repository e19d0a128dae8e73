// Run by `npm start`: the main job, done by the real command line. Makes a handful of ids and takes some apart.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { engineInfo } from '../dist/index.js'

const program = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))

/**
 * Shows a command and runs it.
 *
 * @param {string[]} words
 * @param {'inherit' | 'pipe'} stdout - Where its output goes: through, so that it may be coloured, or back to here.
 */
function graupel(words, stdout) {
  console.log(`$ graupel ${words.join(' ')}`)
  const {
    status,
    signal,
    error,
    stdout: output,
  } = spawnSync(process.execPath, [program, ...words], {
    encoding: 'utf8',
    stdio: ['ignore', stdout, 'inherit'],
  })
  if (error !== undefined) throw error
  if (status !== 0) {
    console.error(`graupel ${words[0]} ended with ${signal ?? status}`)
    process.exit(status || 1)
  }
  return output ?? ''
}

const ids = graupel(['next', '-n', '5', '--node', '378'], 'pipe')
console.log(ids)
const [first = ''] = ids.split('\n')
graupel(['inspect', first, '--layout', 'twitter'], 'inherit')
console.log()
graupel(['inspect', '175928847299117063', '--layout', 'discord'], 'inherit')

const { kind, file, reason } = engineInfo()
console.log(`\nEngine: ${kind} (${file ?? reason})`)
