import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { repository } from '../support/documents.ts'

// The time to the first id is mostly that of loading JavaScript. No test measures time, so these tests look
// at what is loaded: the modules of Node, and the size of the files.

/** Returns the modules of Node that a program loads in a process of its own. */
function loadedBy(program: string): string[] {
  const code = `
    const before = new Set(process.moduleLoadList)
    ${program}
    const loaded = process.moduleLoadList.filter((name) => !before.has(name))
    process.stdout.write(JSON.stringify(loaded))
    process.exit()`
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
    cwd: repository,
    encoding: 'utf8',
  })
  expect(stderr).toBe('')
  return (JSON.parse(stdout) as string[]).map((name) => name.replace(/^NativeModule /, ''))
}

const firstId = `
  const { createGenerator } = await import('graupel')
  createGenerator({ node: 7, namespace: 'test start' }).next()`
const leasedId = `
  const { createGenerator } = await import('graupel')
  const { acquireLease } = await import('graupel/lease')
  const { memoryStore } = await import('graupel/stores/memory')
  createGenerator({ lease: await acquireLease({ store: memoryStore() }) }).next()`

/** Each takes a millisecond or more to load. */
const slow = /^(internal\/(perf\/performance|crypto\/\w+)|perf_hooks|crypto|child_process|cluster|v8|vm)$/

it('the first id loads neither perf_hooks nor another slow module of Node', () => {
  const loaded = loadedBy(firstId)
  // Without this module, the program was not looked at.
  expect(loaded).toContain('worker_threads')
  expect(loaded.filter((name) => slow.test(name))).toEqual([])
})

// Elsewhere the versions of records are made by crypto.
it.runIf(process.platform === 'linux')('the first id under a lease loads no crypto either', () => {
  const loaded = loadedBy(leasedId)
  expect(loaded).toContain('worker_threads')
  expect(loaded.filter((name) => slow.test(name))).toEqual([])
})

it.each([
  ['graupel', 220, ['index.js', 'core.js', 'platform/node.js']],
  [
    'graupel/lease with a store',
    340,
    ['index.js', 'core.js', 'platform/node.js', 'lease/index.js', 'shared.js', 'stores/postgres.js'],
  ],
])('the files of %s have at most %i KiB', (_, maxKib, files) => {
  const bytes = files.map((file) => statSync(join(repository, 'dist', file)).size)
  expect(bytes.reduce((sum, one) => sum + one) / 1024).toBeLessThanOrEqual(maxKib)
})
