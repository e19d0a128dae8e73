import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { engines } from '../support/engines.js'
import { proveThreads } from './workers.js'

proveThreads({ each: 50_000, terminations: 1, rounds: 2 })

describe('a process whose main thread does not import the package', () => {
  /**
   * Runs two workers one after the other at the same time of the clock. Each prints the sequence number of
   * its first id.
   */
  const script = (engine: string) => `
    const { Worker } = require('node:worker_threads')
    const code = \`
      import('graupel').then(({ createGenerator }) => {
        const now = 1700000000000
        const ids = createGenerator({ engine: '${engine}', node: 1, clock: () => now })
        console.log(ids.decode(ids.take(10)[0]).sequence)
      }, console.error)
    \`
    const run = () => new Promise((resolve, reject) => new Worker(code, { eval: true }).on('error', reject).on('exit', resolve))
    run().then(run).catch((error) => console.log(error.code))
  `
  const output = (engine: string) =>
    execFileSync(process.execPath, ['-e', script(engine)], {
      encoding: 'utf8',
      cwd: new URL('../..', import.meta.url),
    }).trim()

  it.runIf(engines.includes('native'))('still has one state on the native engine, which stays loaded', () => {
    expect(output('native').split('\n')).toEqual(['0', '10'])
  })

  it('is refused by the js engine in its workers, because they could not see one another', () => {
    expect(output('js')).toContain('ERR_STATE_UNREACHABLE')
  })
})
