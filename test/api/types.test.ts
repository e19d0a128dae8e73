import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

describe('the types', () => {
  it('allow the lines of test/api/types, and refuse the lines below a directive', () => {
    const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc')
    const config = fileURLToPath(new URL('./types/tsconfig.json', import.meta.url))
    const { status, stdout } = spawnSync(process.execPath, [compiler, '-p', config], { encoding: 'utf8' })
    expect(stdout).toBe('')
    expect(status).toBe(0)
  })
})
