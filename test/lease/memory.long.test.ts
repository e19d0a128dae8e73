import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { repository } from '../support/documents.ts'
import { engines } from '../support/engines.js'

/**
 * Acquires and releases leases, each with a generator that is not closed, and prints the bytes of the heap
 * that each lease keeps.
 */
const program = `
  import { createGenerator } from 'graupel'
  import { acquireLease } from 'graupel/lease'
  import { memoryStore } from 'graupel/stores'
  const store = memoryStore()
  async function leases(count) {
    for (let i = 0; i < count; i++) {
      const lease = await acquireLease({ store, node: 3 })
      createGenerator({ lease }).next()
      await lease.release()
    }
    // Twice, because the first collection may leave objects with finalizers.
    for (let i = 0; i < 2; i++) {
      gc()
      await new Promise(setImmediate)
    }
    return process.memoryUsage().heapUsed
  }
  // The first leases compile the functions.
  const before = await leases(500)
  console.log((await leases(1500) - before) / 1500)
`

it.each(engines)('a process on the %s engine keeps no lease that is over', async (engine) => {
  const words = ['--expose-gc', '--input-type=module', '-e', program]
  const env = { ...process.env, GRAUPEL_ENGINE: engine }
  const { stdout } = await promisify(execFile)(process.execPath, words, { cwd: repository, env })
  // A state of the js engine has 1 400 bytes. The rest is what V8 keeps by itself.
  expect(Number(stdout)).toBeLessThan(800)
})
