import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { Report, Result } from '../../bench/contract.ts'
import { repository } from '../support/documents.ts'

const spread = (median: number) => ({ low: median, median, high: median })

/** Makes a result whose rounds all have the same figure and ratio. */
export function result(workload: string, subject: string, figure: number, ratio: number, more: object = {}): Result {
  return { workload, subject, node: 'v20.0.0', outcome: { figure: spread(figure), ratio: spread(ratio), ...more } }
}

export function reportOf(results: Result[], commit = 'c'): Report {
  const machine = { cpu: 'a', os: 'b', node: 'v20.0.0', v8: '1', commit, engine: 'd', load: '0' }
  return { machine, command: `the run of ${commit}`, quick: false, results }
}

/** Runs the bench with parameters of its command line. */
export function bench(parameters: readonly string[], env: Record<string, string | undefined> = {}) {
  const command = ['--import', 'tsx', 'bench/run.ts', ...parameters]
  return spawnSync(process.execPath, command, { cwd: repository, encoding: 'utf8', env: { ...process.env, ...env } })
}

/** Lets the bench measure with few rounds, and returns its report. */
export function measure(...parameters: string[]): Report {
  const folder = mkdtempSync(join(tmpdir(), 'graupel-bench-'))
  const file = join(folder, 'measured.json')
  const { status, stdout, stderr } = bench(['--quick', '--json', file, ...parameters])
  expect(status, stdout + stderr).toBe(0)
  const report = JSON.parse(readFileSync(file, 'utf8')) as Report
  rmSync(folder, { recursive: true })
  return report
}
