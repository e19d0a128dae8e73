import { expect, it } from 'vitest'
import { shortfalls } from '../../bench/bars.ts'
import { workloads } from '../../bench/workloads/index.ts'
import { describeWith } from '../support/needs.ts'
import { measure, reportOf, result } from './reports.ts'

it('the bars of segments are those of the design', () => {
  const found = (more: number) =>
    reportOf([
      result('segment-next', 'graupel-segments', 5, 0.4 + more),
      result('segment-next-number', 'graupel-segments', 5, 0.1 + more),
      result('segment-fill', 'graupel-segments', 5, 4 + more),
      result('segment-threads', 'graupel-segments', 1.8 - more, 1),
      ...['redis-ioredis', 'postgres-pg'].map((store) => result('segment-steady', store, 1 + more, 1)),
    ])
  const section = workloads.filter(({ section }) => section === 'Segments')
  expect(shortfalls(found(0), section, [])).toEqual([])
  expect(shortfalls(found(0.01), section, [])).toHaveLength(6)
})

it.each(['segment-fill', 'segment-threads'])('npm run bench checks the numbers of %s', (name) => {
  const { results } = measure('--filter', name, '--subject', 'segments')
  expect(results.map(({ subject }) => subject)).toEqual(['graupel-segments'])
  expect(results[0]?.outcome?.check).toMatchObject({ repeats: 0, outOfOrder: 0 })
  expect(results[0]?.outcome?.check?.ids).toBeGreaterThan(1000)
})

describeWith(['redis'], 'npm run bench on a real server', () => {
  it('makes a million numbers a second, and says how long the longest took', () => {
    const { results } = measure('--stores', '--filter', 'segment-steady', '--subject', 'redis')
    expect(results[0]?.outcome?.check).toMatchObject({ repeats: 0, outOfOrder: 0 })
    expect(results[0]?.outcome?.note).toMatch(/^a step of 1 000 was 16 777 216 after .* the longest next\(\) took /)
  }, 600_000)
})
