import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, it } from 'vitest'
import type { Report } from '../../bench/contract.ts'
import { describeWith } from '../support/needs.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'graupel-bench-'))
afterAll(() => rmSync(folder, { recursive: true }))

describeWith(['redis', 'postgres'], 'npm run bench on real servers', () => {
  // The rows of whole fleets need a machine of their own: beside other tests their leases lapse.
  it.each(['redis-ioredis', 'postgres-pg'])(
    'measures lease-calls of %s',
    (name) => {
      const file = join(folder, `${name}.json`)
      const parameters = ['--quick', '--stores', '--filter', 'lease-calls', '--subject', name, '--json', file]
      const command = ['--import', 'tsx', 'bench/run.ts', ...parameters]
      const { status, stderr } = spawnSync(process.execPath, command, { cwd: root, encoding: 'utf8' })
      expect(status, stderr).toBe(0)
      const { results } = JSON.parse(readFileSync(file, 'utf8')) as Report
      expect(results.map(({ subject }) => subject)).toEqual([name])
      for (const { outcome } of results) expect(outcome?.check?.repeats ?? 0).toBe(0)
    },
    600_000,
  )
})
