import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, it } from 'vitest'
import { shortfalls } from '../../bench/bars.ts'
import type { Report, Result } from '../../bench/contract.ts'
import { workloads } from '../../bench/workloads/index.ts'
import { describeWith } from '../support/needs.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'graupel-bench-'))
afterAll(() => rmSync(folder, { recursive: true }))

function measure(...parameters: string[]) {
  const file = join(folder, 'measured.json')
  const command = ['--import', 'tsx', 'bench/run.ts', '--quick', '--json', file, ...parameters]
  const { status, stdout, stderr } = spawnSync(process.execPath, command, { cwd: root, encoding: 'utf8' })
  expect(status, stdout + stderr).toBe(0)
  return (JSON.parse(readFileSync(file, 'utf8')) as Report).results
}

it('the bars of segments are those of the design', () => {
  const spread = (median: number) => ({ low: median, median, high: median })
  const result = (workload: string, subject: string, figure: number, ratio: number): Result => {
    return { workload, subject, node: 'v20.0.0', outcome: { figure: spread(figure), ratio: spread(ratio) } }
  }
  const found = (more: number): Report => ({
    ...{ machine: { cpu: 'a', os: 'b', node: 'v20.0.0', v8: '1', commit: 'c', engine: 'd', load: '0' } },
    ...{ command: 'npm run bench', quick: false },
    results: [
      result('segment-next', 'graupel-segments', 5, 0.4 + more),
      result('segment-next-number', 'graupel-segments', 5, 0.1 + more),
      result('segment-fill', 'graupel-segments', 5, 2 + more),
      result('segment-threads', 'graupel-segments', 1.8 - more, 1),
      ...['redis-ioredis', 'postgres-pg'].map((store) => result('segment-steady', store, 1 + more, 1)),
    ],
  })
  const section = workloads.filter(({ section }) => section === 'Segments')
  expect(shortfalls(found(0), section, [])).toEqual([])
  expect(shortfalls(found(0.01), section, [])).toHaveLength(6)
})

it.each(['segment-fill', 'segment-threads'])('npm run bench checks the numbers of %s', (name) => {
  const results = measure('--filter', name, '--subject', 'segments')
  expect(results.map(({ subject }) => subject)).toEqual(['graupel-segments'])
  expect(results[0]?.outcome?.check).toMatchObject({ repeats: 0, outOfOrder: 0 })
  expect(results[0]?.outcome?.check?.ids).toBeGreaterThan(100_000)
})

describeWith(['redis'], 'npm run bench on a real server', () => {
  it('makes a million numbers a second, and says how long the longest took', () => {
    const results = measure('--stores', '--filter', 'segment-steady', '--subject', 'redis')
    expect(results[0]?.outcome?.check).toMatchObject({ repeats: 0, outOfOrder: 0 })
    expect(results[0]?.outcome?.note).toMatch(/^a step of 1 000 was 16 777 216 after .* the longest next\(\) took /)
  }, 600_000)
})
