import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { failures, faultsOf, judge, shortfalls } from '../../bench/bars.ts'
import { barChart } from '../../bench/chart.ts'
import type { Result, Source, Subject } from '../../bench/contract.ts'
import { Ledger } from '../../bench/measure/ledger.ts'
import { keepNext } from '../../bench/measure/loops.ts'
import { calmRounds } from '../../bench/measure/rounds.ts'
import { align, rivalNames, rowsOf } from '../../bench/report.ts'
import { subjects } from '../../bench/subjects.ts'
import { workloads } from '../../bench/workloads/index.ts'
import { repository } from '../support/documents.ts'
import { bench, measure, reportOf, result } from './reports.ts'

const folder = mkdtempSync(join(tmpdir(), 'graupel-bench-'))
afterAll(() => rmSync(folder, { recursive: true }))

const rivals = rivalNames(subjects)
const workloadOf = (name: string) => workloads.find((workload) => workload.name === name) as (typeof workloads)[number]

describe('a ledger', () => {
  const stamp = { epochMs: 1000, shift: 22, perMs: 4096 }
  const at = (ms: number, rest: number) => (BigInt(ms - stamp.epochMs) << 22n) | BigInt(rest)

  it('finds no fault in ids that are in order', () => {
    const ledger = new Ledger(stamp)
    ledger.add(BigUint64Array.of(at(5000, 1), at(5000, 2)), 5000)
    ledger.add(BigUint64Array.of(at(5000, 3), at(5001, 0), at(6000, 0)), 6000)
    expect(ledger.report()).toEqual({ ids: 5, repeats: 0, outOfOrder: 0, future: 0 })
  })

  it('counts repeats within and across batches, and ids that are not above the id before', () => {
    const ledger = new Ledger()
    ledger.add(BigUint64Array.of(5n, 6n, 2n ** 63n + 1n))
    ledger.add(BigUint64Array.of(6n, 6n, 2n ** 63n + 1n, 2n ** 63n))
    expect(ledger.report()).toEqual({ ids: 7, repeats: 3, outOfOrder: 3, future: 0 })
  })

  it('counts ids whose time is later than the moment at which they were made', () => {
    const ledger = new Ledger(stamp)
    ledger.add(BigUint64Array.of(at(5000, 4095), at(5001, 0), at(5002, 1)), 5000)
    expect(ledger.report().future).toBe(2)
  })
})

it.each([
  ['measured again where they are disturbed', 10, [50, 30, 31, 50, 30, 32, 30, 99], [30, 31, 30, 32, 30], 2],
  ['dropped where a far better one comes later', 9, [50, 50, 50, 50, 30, 30, 30, 30, 30], [30, 30, 30, 30, 30], 4],
  ['all kept where fewer than five are calm', 6, [30, 50, 50, 50, 30, 50], [30, 50, 50, 50, 30, 50], 0],
])('rounds are %s', async (_, max, values, expected, disturbed) => {
  const measure = async (number: number) => values[number] as number
  const calm = (rounds: readonly number[]) => rounds.filter((value) => value <= 1.1 * Math.min(...rounds))
  const rounds = await calmRounds({ wanted: 5, max }, measure, calm)
  expect(rounds.counted).toEqual(expected)
  expect(rounds.disturbed).toEqual(disturbed > 0 ? { disturbed } : {})
})

describe('a timed loop', () => {
  const subject = (more: Partial<Subject>): Subject => ({
    ...{ name: 'any', title: 'any', group: 'rival', load: async () => () => ({}) },
    ...more,
  })
  const counter = (make: (n: number) => unknown): Source => {
    let n = 0
    return { next: () => make(n++) }
  }

  it.each<[string, Partial<Subject>, (n: number) => unknown]>([
    ['bigints', {}, (n) => BigInt(n)],
    ['objects', { toId: ({ id }) => BigInt(id) }, (n) => ({ id: n })],
    ['promises', { isAsync: true }, async (n) => `${n}`],
  ])('keeps %s', async (_, more, make) => {
    const kept = keepNext(counter(make), 100, subject(more))
    await kept?.run()
    const ids = [...(kept?.ids() ?? [])]
    expect(ids).toHaveLength(100)
    expect(ids.every((id, i) => i === 0 || id === (ids[i - 1] as bigint) + 1n)).toBe(true)
  })

  it('of a wrong codec is marked', async () => {
    const stamp = { epochMs: 0, shift: 22, perMs: 4096 }
    const broken = subject({ stamp, codecs: async () => ({ encode: (id) => id.toString(36) }) })
    const outcome = await workloadOf('encode').run(broken, { isQuick: true })
    expect(faultsOf(outcome?.check)).toEqual(['4 096 wrong'])
  })
})

describe('a report', () => {
  const repeated = { check: { ids: 10, repeats: 2, outOfOrder: 3, future: 0 } }
  const results = [
    result('next', 'graupel-native', 0.5, 0.6),
    result('next', 'graupel-js', 0.5, 1.5),
    result('next', 'snowyflake', 0.5, 2.4, repeated),
    result('next', '@sapphire/snowflake', 0.5, 1.4),
  ]
  const report = reportOf(results)

  it('says by how many times the fastest rival is slower', () => {
    const [ratio, lead] = judge(results[0] as Result, workloadOf('next'), report, rivals)
    expect(ratio).toMatchObject({ value: 0.6, holds: true })
    expect(lead).toMatchObject({ bar: { of: 'lead', min: 2.5 }, holds: false })
    expect(lead?.value).toBeCloseTo(1.4 / 0.6)
  })

  it('lists the bars that do not hold, and the bars without a measurement', () => {
    expect(shortfalls(report, [workloadOf('next'), workloadOf('next-string')], rivals)).toEqual([
      'next, graupel-native, Node v20.0.0: ≥ 2.5 × faster than any rival, is 2.33',
      'next, graupel-js, Node v20.0.0: ≤ 1.4 × Date.now(), is 1.50',
      'next-string, graupel-native: ≤ 1.6 × Date.now(), not measured',
    ])
  })

  it('against another build has one bar: 3 % slower, or 3 % less if more is better', () => {
    const found = [result('next', 'graupel-js', 0.5, 1.04), result('threads-wide', 'graupel-js', 0.5, 0.96)]
    const against = { ...reportOf(found), against: '/other' }
    expect(shortfalls(against, workloads, rivals)).toEqual([
      'next, graupel-js, Node v20.0.0: ≤ 1.03 × the other build, is 1.04',
      'threads-wide, graupel-js, Node v20.0.0: ≥ 0.97 × the other build, is 0.96',
    ])
    against.results = [result('next', 'graupel-js', 0.5, 1.02), result('threads-wide', 'graupel-js', 0.5, 1.5)]
    expect(shortfalls(against, workloads, rivals)).toEqual([])
  })

  it('shows the faults of ids, and the missed bars', () => {
    const lines = align(rowsOf(report, workloads, subjects)).split('\n')
    expect(lines.find((line) => line.includes('snowyflake'))).toMatch(/2 repeats, 3 out of order/)
    expect(lines.find((line) => line.includes('graupel js'))).toMatch(/NO/)
  })

  it('fails for a fault of our ids, but not for faults of rivals', () => {
    const own = ['graupel-native', 'graupel-js']
    expect(failures(results, own)).toEqual([])
    const twice = result('threads-wide', 'graupel-native', 0.5, 1, repeated)
    expect(failures([twice], own)).toEqual(['threads-wide, graupel-native, Node v20.0.0: 2 repeats, 3 out of order'])
    const failed = { workload: 'next', subject: 'graupel-js', node: 'v22.0.0', error: 'Error: no\n at' }
    expect(failures([failed], own)).toEqual(['next, graupel-js, Node v22.0.0: Error: no'])
  })

  it('is checked on the command line, with an exit code', () => {
    const file = join(folder, 'report.json')
    writeFileSync(file, JSON.stringify(report))
    expect(bench(['--from', file, '--filter', 'burst', '--check'])).toMatchObject({ status: 0, stderr: '' })
    const all = bench(['--from', file, '--filter', 'next', '--check'])
    expect(all.status).toBe(1)
    expect(all.stderr).toContain('next, graupel-js, Node v20.0.0: ≤ 1.4 × Date.now(), is 1.50')
  })
})

it('a chart has a longer bar for a larger figure, and names faults', () => {
  const svg = barChart('Bars & <more>', 'ns', [
    { label: 'a', value: 3, kind: 'own' },
    { label: '<b>', value: 300, kind: 'faulty', note: '5 repeats' },
  ])
  for (const part of ['<title>Bars &amp; &lt;more&gt;</title>', '&lt;b&gt;', '5 repeats']) expect(svg).toContain(part)
  const [first, second] = [...svg.matchAll(/<rect .*? width="([\d.]+)"/g)].map(([, width]) => Number(width))
  // On an axis from 1 to 1000.
  expect(second).toBeCloseTo((first as number) * (Math.log10(300) / Math.log10(3)), 0)
})

describe('npm run bench', () => {
  it('measures, checks the ids, and writes what it found', () => {
    const { machine, results } = measure('--filter', 'next-string-written', '--subject', 'graupel')
    if (process.platform === 'linux') expect(machine.stolen).toMatch(/^\d+\.\d\d % of the processor time$/)
    expect(results.map(({ subject }) => subject)).toEqual(['graupel-native', 'graupel-js'])
    for (const { outcome } of results) {
      expect(outcome?.check).toMatchObject({ repeats: 0, outOfOrder: 0 })
      expect(outcome?.check?.ids).toBeGreaterThan(1000)
    }
  })

  it.each([
    ['--fliter', "Unknown option '--fliter'"],
    ['--filter=nxet', "no workload's name contains 'nxet'; there are next, burst"],
    ['--filter=engines,nxet', "no workload's name contains 'nxet'; there are next, burst"],
    ['--subject=gruapel', "no subject's name contains 'gruapel'; there are graupel-native"],
    ['--nodes=latest', "'latest' is no version of Node"],
    ['--from=nowhere.json', '--from nowhere.json: ENOENT'],
    ['--against=/nowhere', "there is no dist/index.js in '/nowhere'"],
  ])('refuses %s in one line', (option, message) => {
    const { status, stderr } = bench([option])
    expect(status).toBe(2)
    expect(stderr).toContain(message)
    expect(stderr.trim().split('\n')).toHaveLength(1)
  })

  it('runs on the first version of --nodes, and some workloads on the others', () => {
    const parameters = ['--nodes', '24,22', '--filter', 'fill-64,encode', '--subject', 'graupel-native']
    const { machine, results, command } = measure(...parameters)
    expect(machine.node).toMatch(/^v24\./)
    expect(machine.v8).toMatch(/^13\./)
    expect(results.map(({ workload, node }) => `${workload} on ${node.split('.')[0]}`)).toEqual([
      ...['fill-64 on v24', 'fill-64 on v24', 'encode on v24'],
      ...['fill-64 on v22', 'fill-64 on v22'],
    ])
    expect(command).toBe('npm run bench -- --filter fill-64,encode --nodes 24,22')
  })

  it.skipIf(process.platform === 'win32').each([
    ['', []],
    [' on another Node', ['--nodes', '24']],
  ])('ends with one line and without its processes when interrupted%s', async (_, more) => {
    const filters = ['--filter', 'sustained', '--subject', 'graupel-native']
    const parameters = ['--import', 'tsx', 'bench/run.ts', ...filters, ...more]
    const child = spawn(process.execPath, parameters, { cwd: repository })
    const text = { stdout: '', stderr: '' }
    child.stderr.on('data', (data) => {
      text.stderr += data
    })
    child.stdout.on('data', (data) => {
      text.stdout += data
      // The last line about the machine comes before the first process.
      if (/^load /m.test(text.stdout)) setTimeout(() => child.kill('SIGINT'), 500)
    })
    // 'close' comes when no process has the pipes any more; the rounds of `sustained` take 15 s.
    const closed = once(child, 'close')
    await once(child, 'exit')
    const exitMs = performance.now()
    expect(await closed).toEqual([130, null])
    expect(performance.now() - exitMs).toBeLessThan(10_000)
    expect(text.stderr).toBe('interrupted; nothing is kept\n')
  })
})

it.skipIf(process.platform === 'win32')('npx tsx bench/native/run.ts times the core step by step', () => {
  const parameters = ['--import', 'tsx', 'bench/native/run.ts', '--quick']
  const { status, stdout, stderr } = spawnSync(process.execPath, parameters, { cwd: repository, encoding: 'utf8' })
  expect(status, stderr).toBe(0)
  for (const step of ['read the wall clock', 'an id, with all of this']) expect(stdout).toContain(step)
})
