// Makes some ids by the command line, and takes some apart (`npm start`).
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { engineInfo } from 'graupel'

const program = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))

/**
 * Shows a command, runs it, and returns its output. Output that is passed through may be coloured, and is not
 * returned.
 */
function graupel(words: string[], stdout: 'inherit' | 'pipe'): string {
  console.log(`$ graupel ${words.join(' ')}`)
  const stdio = ['ignore', stdout, 'inherit'] as const
  const done = spawnSync(process.execPath, [program, ...words], { encoding: 'utf8', stdio: [...stdio] })
  if (done.error !== undefined) throw done.error
  if (done.status !== 0) {
    console.error(`graupel ${words[0]} ended with ${done.signal ?? done.status}`)
    process.exit(done.status || 1)
  }
  return done.stdout ?? ''
}

const ids = graupel(['next', '-n', '5', '--node', '378'], 'pipe')
console.log(ids)
const [first = ''] = ids.split('\n')
graupel(['inspect', first, '--layout', 'twitter'], 'inherit')
console.log()
graupel(['inspect', '175928847299117063', '--layout', 'discord'], 'inherit')

const { kind, file, reason } = engineInfo()
console.log(`\nEngine: ${kind} (${file ?? reason})`)
