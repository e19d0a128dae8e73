import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { shortfalls } from '../../bench/bars.ts'
import { missingForLoad } from '../../bench/measure/load.ts'
import { missingForResp } from '../../bench/measure/resp-load.ts'
import { page, pagesOf } from '../../bench/publish.ts'
import { subjects } from '../../bench/subjects.ts'
import { workloads } from '../../bench/workloads/index.ts'
import { describeWith } from '../support/needs.ts'
import { bench, measure, reportOf, result } from './reports.ts'

const folder = mkdtempSync(join(tmpdir(), 'graupel-bench-'))
afterAll(() => rmSync(folder, { recursive: true }))

const section = workloads.filter(({ section }) => section === 'The id service')

function outcomeOf(name: string) {
  return measure('--filter', name).results.find(({ workload }) => workload === name)?.outcome
}

/** Returns a report of figures that are worse than their bars by `more`. */
function worseBy(more: number) {
  return reportOf([
    result('service-one', 'graupel-server', 30_000, 0.8 - more),
    result('service-one-tls', 'graupel-server', 30_000, 0.8 - more),
    result('service-bytes', 'graupel-server', 20 - more, 1),
    result('service-memory', 'graupel-server', 4 + more, 1),
    result('service-client', 'graupel-client', 10 - more, 1),
    result('service-client-next', 'graupel-client', 2, 0.2 + more),
    result('service-client-runs', 'graupel-client', 1000 - more, 1),
    result('service-resp', 'graupel-server', 400_000 - more, 0.5 - more),
    result('service-resp-numbers', 'graupel-server', 400_000, 0.5 - more),
    result('service-resp-one', 'graupel-server', 60_000, 0.35 - more),
  ])
}

it('the bars of the service are those of the design', () => {
  expect(shortfalls(worseBy(0), section, [])).toEqual([])
  expect(shortfalls(worseBy(0.01), section, [])).toHaveLength(11)
})

it('the page has the lines of the service in one table', () => {
  const pages = pagesOf(worseBy(0), workloads, subjects, readFileSync(page, 'utf8'))
  const results = [...pages].find(([href]) => href.endsWith('README.md'))?.[1] ?? ''
  const [, text = ''] = results.split('\n## The id service\n')
  expect(text.match(/^\| --- /gm)).toHaveLength(1)
  expect(text).toContain('| graupel-server | 30 000 requests/s |')
  expect(text).toContain('| graupel/client | 10.0 M ids/s |')
})

describeWith([missingForResp, missingForLoad], 'npm run bench on the service for clients of Redis', () => {
  it('checks numbers of replies, and says what redis-server or HTTP do beside it', () => {
    const { results } = measure('--filter', 'service-resp')
    expect(results.map(({ workload }) => workload)).toEqual([
      'service-resp',
      'service-resp-numbers',
      'service-resp-one',
    ])
    for (const { outcome } of results) {
      expect(outcome?.check).toMatchObject({ repeats: 0 })
      expect(outcome?.check?.ids).toBeGreaterThan(100)
      expect(outcome?.ratio?.median).toBeGreaterThan(0)
      expect(outcome?.note).toMatch(/^beside .*\/s; .* beside .* µs of processor time each; .* p99 of .* ms$/)
    }
  })
})

describeWith([missingForLoad], 'npm run bench on the service', () => {
  it.each([
    ['service-one', 1],
    ['service-one-tls', 1],
    ['service-bytes', 1000],
  ])('checks the ids of the answers of %s, and says what the empty server does beside it', (name, idsEach) => {
    const outcome = outcomeOf(name)
    expect(outcome?.check).toMatchObject({ repeats: 0 })
    expect(outcome?.check?.ids).toBeGreaterThan(100 * idsEach)
    expect(outcome?.ratio?.median).toBeGreaterThan(0)
    expect(outcome?.note).toMatch(/ beside .* requests\/s, .* µs of processor time each; .* p99 of .* beside .* ms$/)
  })

  it('says how much memory is in use after the first tenth of the requests and after the last', () => {
    const outcome = outcomeOf('service-memory')
    expect(outcome?.note).toMatch(/MiB resident and .* MiB of heap after \d+ \d+ requests, .* after \d+ \d+ requests$/)
  })

  it('checks the ids that the client has fetched', () => {
    const outcomes = measure('--filter', 'service-client').results
    expect(outcomes.map(({ workload }) => workload)).toEqual([
      'service-client',
      'service-client-next',
      'service-client-runs',
    ])
    for (const { outcome } of outcomes) {
      expect(outcome?.check).toMatchObject({ repeats: 0, outOfOrder: 0 })
      expect(outcome?.check?.ids).toBeGreaterThan(1000)
    }
  })

  it('leaves out the load if wrk is missing, and says so', () => {
    const tools = mkdtempSync(join(folder, 'tools-'))
    const { stdout } = spawnSync('sh', ['-c', 'command -v taskset'], { encoding: 'utf8' })
    symlinkSync(stdout.trim(), join(tools, 'taskset'))
    const { status, stderr } = bench(['--quick', '--filter', 'service-one'], { PATH: tools })
    expect(stderr).toContain('service-one, graupel-server: left out, as there is no wrk (Debian package wrk)')
    expect(status).toBe(0)
  })
})
