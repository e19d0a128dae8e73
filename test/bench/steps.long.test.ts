import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

it.skipIf(process.platform === 'win32')('npm run bench:native takes the core apart into steps', () => {
  const root = fileURLToPath(new URL('../..', import.meta.url))
  const parameters = ['--import', 'tsx', 'bench/native/run.ts', '--quick']
  const { status, stdout, stderr } = spawnSync(process.execPath, parameters, { cwd: root, encoding: 'utf8' })
  expect(status, stderr).toBe(0)
  for (const step of ['read the wall clock', 'an id, with all of this']) expect(stdout).toContain(step)
})
