import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memoryStore } from 'graupel/stores'
import { afterAll, expect, it } from 'vitest'
import { shortfalls } from '../../bench/bars.ts'
import { counted, missingFor } from '../../bench/measure/stores.ts'
import { page, pagesOf, withSections } from '../../bench/publish.ts'
import { subjects } from '../../bench/subjects.ts'
import { workloads } from '../../bench/workloads/index.ts'
import { describeWith } from '../support/needs.ts'
import { bench, measure, reportOf, result } from './reports.ts'

const folder = mkdtempSync(join(tmpdir(), 'graupel-bench-'))
afterAll(() => rmSync(folder, { recursive: true }))

const leases = workloads.filter(({ section }) => section === 'Leases')

it('a run of one section takes the place of its former results, and of no others', () => {
  const all = reportOf([result('next', 'graupel-js', 60, 1.2), result('lease-next', 'graupel-js', 61, 1.01)], 'old')
  const merged = withSections(all, reportOf([result('lease-next', 'graupel-js', 77, 1.02)], 'new'), leases)
  expect(merged.results.map(({ outcome }) => outcome?.figure.median)).toEqual([60, 77])
  const pages = [...pagesOf(merged, workloads, subjects, readFileSync(page, 'utf8'))]
  const results = pages.find(([href]) => href.endsWith('README.md'))?.[1] as string
  const [first, section = ''] = results.split('## Leases')
  expect(first).toContain('- commit: `old`')
  expect(first).toContain('| graupel js | 60.0 ns/id |')
  expect(section).toContain('- commit: `new`')
  expect(section).toContain('- command: `the run of new`')
  // With one line for each workload, a section is one table.
  expect(section).toMatch(/\| next\(\) under a lease \| graupel js \| 77\.0 ns\/id \|.*\| yes \|/)
})

it('the bars of leases are those of the design', () => {
  const stores = ['redis-ioredis', 'postgres-pg']
  const engines = ['graupel-native', 'graupel-js']
  const found = (more: number) => [
    ...engines.map((engine) => result('lease-next', engine, 30, 1.03 + more)),
    ...stores.map((store) => result('lease-start', store, 2000 + more, 4 + more)),
    ...stores.map((store) => result('lease-thousand', store, 505 + more, 1 + more)),
  ]
  expect(shortfalls(reportOf(found(0)), leases, [])).toEqual([])
  expect(shortfalls(reportOf(found(0.01)), leases, [])).toHaveLength(2 + 4 + 4)
})

it('a store that is counted does what it did', async () => {
  const { store, counts } = counted(memoryStore())
  const version = await store.write('folder/1', 'a', undefined)
  expect(await store.read('folder/1')).toEqual({ key: 'folder/1', value: 'a', version })
  expect(counts).toEqual({ calls: 2, writes: 1 })
})

it('a server that is not installed is named', () => {
  const { PATH } = process.env
  process.env['PATH'] = folder
  try {
    expect(missingFor('redis-ioredis')).toBe('redis-server (Debian package redis-server)')
    expect(missingFor('memory')).toBeUndefined()
  } finally {
    process.env['PATH'] = PATH
  }
})

it('npm run bench measures leases, without --stores those in memory', () => {
  const { results } = measure('--filter', 'lease-calls')
  expect(results.map(({ subject }) => subject)).toEqual(['memory'])
  expect(results[0]?.outcome?.note).toMatch(/^acquire: 4 calls, .* renew: 2 calls, .* release: 1 call, /)
})

it('npm run bench checks the ids that are made under a lease', () => {
  const { results } = measure('--filter', 'lease-next', '--subject', 'native')
  expect(results[0]?.outcome?.check).toMatchObject({ repeats: 0, outOfOrder: 0, future: 0 })
  expect(results[0]?.outcome?.check?.ids).toBeGreaterThan(1000)
})

it.each([['--filter=lease-next'], ['--filter=next'], ['--filter=lease', '--quick'], []])(
  'npm run bench refuses to publish less than whole sections: %s',
  (...parameters) => {
    const { status, stderr } = bench(['--publish', ...parameters])
    expect(status).toBe(2)
    expect(stderr).toBe(
      '--publish needs whole sections and nothing else, such as --filter lease or --filter engines,next-kept\n',
    )
  },
)

describeWith(['redis', 'postgres'], 'npm run bench on real servers', () => {
  // Only single calls: the rows of whole fleets need a machine of their own, because beside other tests their
  // leases lapse.
  it.each(['redis-ioredis', 'postgres-pg'])(
    'measures lease-calls of %s',
    (name) => {
      const { results } = measure('--stores', '--filter', 'lease-calls', '--subject', name)
      expect(results.map(({ subject }) => subject)).toEqual([name])
      for (const { outcome } of results) expect(outcome?.check?.repeats ?? 0).toBe(0)
    },
    600_000,
  )
})
