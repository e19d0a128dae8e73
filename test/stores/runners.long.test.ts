import { spawnSync } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { storeContract } from '../../src/stores/testing.js'
import { tool } from '../package/consumer.ts'
import { repository } from '../support/documents.ts'

// The contract in the test runners that authors of stores use.

const folder = realpathSync(mkdtempSync(join(tmpdir(), 'graupel-contract-')))
const entry = (name: string) => JSON.stringify(join(repository, `dist/stores/${name}.cjs`))
const count = storeContract(() => Promise.reject(new Error('not run'))).length

beforeAll(() => {
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n')
  writeFileSync(
    join(folder, 'mine.test.js'),
    `const { memoryStore } = require(${entry('memory')})
    const { storeContract } = require(${entry('testing')})
    const register = globalThis.it ?? require('node:test').it
    const store = memoryStore()
    if (process.env.IS_BROKEN) store.read = async () => undefined
    for (const { name, run } of storeContract(async () => store)) register(name, run)\n`,
  )
})
afterAll(() => rmSync(folder, { recursive: true }))

const runners: [string, string[], RegExp][] = [
  ['node:test', ['--test', '--test-reporter=tap', 'mine.test.js'], /^# pass (\d+)$/m],
  ['Jest', [tool('jest/bin/jest.js'), '--ci', '--watchman=false'], /^Tests:.* (\d+) passed/m],
  ['Vitest', [join(repository, 'node_modules/vitest/vitest.mjs'), 'run', '--globals'], /^ +Tests .*?(\d+) passed/m],
]
it.each(runners)('the contract runs in %s, and fails for a store that breaks it', (_name, words, passed) => {
  const start = (env: Record<string, string>) => {
    const { VITEST: _, NODE_ENV: __, ...rest } = process.env
    const options = { cwd: folder, env: { ...rest, NO_COLOR: '1', ...env }, encoding: 'utf8' } as const
    const { status, stdout, stderr } = spawnSync(process.execPath, words, options)
    return { status, output: stdout + stderr }
  }
  const whole = start({})
  expect(whole.output).toMatch(passed)
  expect(whole.status).toBe(0)
  expect(Number(passed.exec(whole.output)?.[1])).toBe(count)
  const broken = start({ IS_BROKEN: 'yes' })
  expect(broken.status).not.toBe(0)
  expect(broken.output).toContain('and has to be')
})
