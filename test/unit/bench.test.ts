import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { barChart, lineChart } from '../../bench/chart.js'
import type { Report, Result, Source, Subject } from '../../bench/contract.js'
import { failures, faultsOf, judge, shortfalls } from '../../bench/judge.js'
import { keepNext, keepStrings } from '../../bench/measure/keep.js'
import { Ledger } from '../../bench/measure/ledger.js'
import { calmRounds } from '../../bench/measure/statistics.js'
import { pagesOf } from '../../bench/publish.js'
import { rivalNames, table } from '../../bench/report.js'
import { subjects } from '../../bench/subjects/index.js'
import encode from '../../bench/workloads/encode.js'
import { workloads } from '../../bench/workloads/index.js'

// What the bench says must be true, whatever the figures are: these look at how it looks.

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'graupel-bench-'))
afterAll(() => rmSync(folder, { recursive: true }))

const spread = (median: number) => ({ low: median, median, high: median })
const rivals = rivalNames(subjects)
const workloadOf = (name: string) => workloads.find((workload) => workload.name === name) as (typeof workloads)[number]

function result(workload: string, subject: string, ratio: number, more: object = {}): Result {
  return { workload, subject, node: 'v20.0.0', outcome: { figure: spread(0.5), ratio: spread(ratio), ...more } }
}

function reportOf(results: Result[]): Report {
  const machine = { cpu: 'a', os: 'b', node: 'v20.0.0', v8: '1', commit: 'c', engine: 'd', load: '0' }
  return { machine, command: 'npm run bench', quick: false, results }
}

describe('a ledger', () => {
  const stamp = { epochMs: 1000, shift: 22, perMs: 4096 }
  const at = (ms: number, rest: number) => (BigInt(ms - stamp.epochMs) << 22n) | BigInt(rest)

  it('finds nothing wrong with ids in order', () => {
    const ledger = new Ledger(stamp)
    ledger.add(BigUint64Array.of(at(5000, 1), at(5000, 2)), 5000)
    ledger.add(BigUint64Array.of(at(5000, 3), at(5001, 0), at(6000, 0)), 6000)
    expect(ledger.report()).toEqual({ ids: 5, repeats: 0, outOfOrder: 0, future: 0 })
  })

  it('counts repeats, also those of another batch, and ids that are not above the one before', () => {
    const ledger = new Ledger()
    ledger.add(BigUint64Array.of(5n, 6n, 2n ** 63n + 1n))
    ledger.add(BigUint64Array.of(6n, 6n, 2n ** 63n + 1n, 2n ** 63n))
    expect(ledger.report()).toEqual({ ids: 7, repeats: 3, outOfOrder: 3, future: 0 })
  })

  it('counts ids that bear a later time than the one when they were made', () => {
    const ledger = new Ledger(stamp)
    ledger.add(BigUint64Array.of(at(5000, 4095), at(5001, 0), at(5002, 1)), 5000)
    expect(ledger.report().future).toBe(2)
    expect(new Ledger().report().future).toBe(0)
  })
})

describe('rounds', () => {
  const measured = (values: number[]) => async (number: number) => values[number] as number
  const calm = (rounds: readonly number[]) => rounds.filter((value) => value <= 1.1 * Math.min(...rounds))

  it('are made anew where something else was running', async () => {
    const rounds = await calmRounds({ wanted: 5, most: 10 }, measured([50, 30, 31, 50, 30, 32, 30, 99]), calm)
    expect(rounds).toEqual({ counted: [30, 31, 30, 32, 30], disturbed: 2 })
  })

  it('do not count where a far better one comes later', async () => {
    const rounds = await calmRounds({ wanted: 5, most: 9 }, measured([50, 50, 50, 50, 30, 30, 30, 30, 30]), calm)
    expect(rounds).toEqual({ counted: [30, 30, 30, 30, 30], disturbed: 4 })
  })

  it('all count where fewer than five are calm', async () => {
    const values = [30, 50, 50, 50, 30, 50]
    expect(await calmRounds({ wanted: 5, most: 6 }, measured(values), calm)).toEqual({ counted: values, disturbed: 0 })
  })
})

describe('what is timed', () => {
  const subject = (more: Partial<Subject>): Subject => ({
    name: 'any',
    title: 'any',
    group: 'rival',
    load: async () => () => ({}),
    ...more,
  })
  const counter = (make: (n: number) => unknown): Source => {
    let n = 0
    return { next: () => make(n++) }
  }

  it.each<[string, Partial<Subject>, (n: number) => unknown]>([
    ['bigints', {}, (n) => BigInt(n)],
    ['strings', {}, (n) => `${n}`],
    ['numbers', {}, (n) => n],
    ['objects', { toId: ({ id }) => BigInt(id) }, (n) => ({ id: n })],
    ['promises', { isAsync: true }, async (n) => `${n}`],
  ])('is kept, whether it is %s', async (_, more, make) => {
    const kept = keepNext(subject(more), counter(make), 100)
    await kept?.run()
    const ids = [...(kept?.ids() ?? [])]
    expect(ids).toHaveLength(100)
    expect(ids.every((id, i) => i === 0 || id === (ids[i - 1] as bigint) + 1n)).toBe(true)
  })

  it('is left out where a subject does not offer it', () => {
    expect(keepNext(subject({}), {}, 10)).toBeUndefined()
    expect(keepStrings({}, 10)).toBeUndefined()
  })

  it('is marked where a codec is wrong', async () => {
    const stamp = { epochMs: 0, shift: 22, perMs: 4096 }
    const broken = subject({ stamp, codecs: async () => ({ encode: (id) => id.toString(36) }) })
    const outcome = await encode.run(broken, true)
    expect(faultsOf(outcome?.check)).toEqual(['4 096 wrong'])
  })
})

describe('a report', () => {
  const repeated = { check: { ids: 10, repeats: 2, outOfOrder: 3, future: 0 } }
  const results = [
    result('next', 'graupel-native', 0.6),
    result('next', 'graupel-js', 1.5),
    result('next', 'snowyflake', 2.4, repeated),
    result('next', '@sapphire/snowflake', 1.4),
  ]

  it('says by how many times the fastest rival is slower', () => {
    const [ratio, lead] = judge(results[0] as Result, workloadOf('next'), results, rivals)
    expect(ratio).toMatchObject({ value: 0.6, holds: true })
    expect(lead).toMatchObject({ bar: { of: 'lead', least: 2.5 }, holds: false })
    expect(lead?.value).toBeCloseTo(1.4 / 0.6)
  })

  it('lists the bars that do not hold, and those of what was not measured', () => {
    expect(shortfalls(reportOf(results), [workloadOf('next'), workloadOf('next-string')], rivals)).toEqual([
      'next, graupel-native, Node v20.0.0: ≥ 2.5 × faster than any rival, is 2.33',
      'next, graupel-js, Node v20.0.0: ≤ 1.4 × Date.now(), is 1.50',
      'next-string, graupel-native: ≤ 1.6 × Date.now(), not measured',
    ])
  })

  it('shows what was wrong with the ids, and on which bars', () => {
    const lines = table(reportOf(results), workloads, subjects).split('\n')
    expect(lines.find((line) => line.includes('snowyflake'))).toMatch(/2 repeats, 3 out of order/)
    expect(lines.find((line) => line.includes('graupel js'))).toMatch(/NO/)
  })

  it('fails for anything wrong with our ids, and not for what rivals do', () => {
    const own = ['graupel-native', 'graupel-js']
    expect(failures(results, own)).toEqual([])
    const twice = result('threads-wide', 'graupel-native', 1, repeated)
    expect(failures([twice], own)).toEqual(['threads-wide, graupel-native, Node v20.0.0: 2 repeats, 3 out of order'])
    const failed = { workload: 'next', subject: 'graupel-js', node: 'v22.0.0', error: 'Error: no\n at' }
    expect(failures([failed], own)).toEqual(['next, graupel-js, Node v22.0.0: Error: no'])
  })

  it('is checked on the command line, with an exit code', () => {
    const file = join(folder, 'report.json')
    writeFileSync(file, JSON.stringify(reportOf(results)))
    const run = (...parameters: string[]) =>
      spawnSync(process.execPath, ['bench/run.js', '--from', file, '--filter', 'next-n', ...parameters], {
        cwd: root,
        encoding: 'utf8',
      })
    expect(run('--check')).toMatchObject({ status: 0, stderr: '' })
    const all = spawnSync(process.execPath, ['bench/run.js', '--from', file, '--filter', 'next', '--check'], {
      cwd: root,
      encoding: 'utf8',
    })
    expect(all.status).toBe(1)
    expect(all.stderr).toContain('next, graupel-js, Node v20.0.0: ≤ 1.4 × Date.now(), is 1.50')
    expect(all.stdout).toContain('snowyflake')
  })
})

describe('a chart', () => {
  it('has a bar for each figure, the longer the larger, and says what is wrong', () => {
    const svg = barChart('Bars & <more>', 'ns', [
      { label: 'a', value: 3, kind: 'own' },
      { label: '<b>', value: 300, kind: 'faulty', note: '5 repeats' },
    ])
    expect(svg).toContain('<title>Bars &amp; &lt;more&gt;</title>')
    expect(svg).toContain('&lt;b&gt;')
    expect(svg).toContain('5 repeats')
    const widths = [...svg.matchAll(/<rect class="\w+" .*? width="([\d.]+)"/g)].map(([, width]) => Number(width))
    expect(widths).toHaveLength(2)
    // On an axis from 1 to 1000.
    expect(widths[1] as number).toBeCloseTo((widths[0] as number) * (Math.log10(300) / Math.log10(3)), 0)
  })

  it('has a line through all points', () => {
    const points = [1, 2, 4].map((x) => ({ x, y: 10 * x }))
    const svg = lineChart('Lines', 'x', 'y', [{ label: 'a', kind: 'own', points }])
    expect(svg.match(/<circle/g)).toHaveLength(3)
    expect(svg).not.toContain('NaN')
  })
})

describe('docs/benchmarks.md', () => {
  it('is what bench/results/latest.json says, and so are its charts', () => {
    const read = (file: string | URL) => readFileSync(file, 'utf8')
    const page = read(join(root, 'docs/benchmarks.md'))
    const latest = JSON.parse(read(join(root, 'bench/results/latest.json'))) as Report
    const pages = pagesOf(latest, workloads, subjects, page)
    expect(pages.size).toBe(4)
    for (const [href, content] of pages) expect(read(new URL(href))).toBe(content)
  })
})

describe('the README', () => {
  it('names the bars that the published run did not hold', () => {
    const latest = JSON.parse(readFileSync(join(root, 'bench/results/latest.json'), 'utf8')) as Report
    const readme = readFileSync(join(root, 'README.md'), 'utf8')
    const [, said = ''] = readme.match(/The published run held all of them but [^\n]*:\n\n```text\n(.*?)\n```/s) ?? []
    expect(said.split('\n').filter(Boolean)).toEqual(shortfalls(latest, workloads, rivals))
  })
})

describe('npm run bench', () => {
  it('measures, checks the ids, and writes what it found', () => {
    const file = join(folder, 'measured.json')
    const parameters = ['bench/run.js', '--quick', '--filter', 'next-n', '--subject', 'graupel', '--json', file]
    const { status, stdout, stderr } = spawnSync(process.execPath, parameters, { cwd: root, encoding: 'utf8' })
    expect(status, stderr).toBe(0)
    expect(stdout).toContain('graupel native')
    const { machine, results } = JSON.parse(readFileSync(file, 'utf8')) as Report
    if (process.platform === 'linux') expect(machine.stolen).toMatch(/^\d+\.\d\d % of the processor time$/)
    expect(results.map(({ subject }) => subject)).toEqual(['graupel-native', 'graupel-js'])
    for (const { outcome } of results) {
      expect(outcome?.figure.median).toBeGreaterThan(0)
      expect(outcome?.check).toMatchObject({ repeats: 0, outOfOrder: 0 })
      expect(outcome?.check?.ids).toBeGreaterThan(1000)
    }
  })

  it.each([
    ['--fliter', "Unknown option '--fliter'"],
    ['--filter=nxet', "no workload's name contains 'nxet'; there are next, burst"],
  ])('refuses %s', (option, message) => {
    const run = spawnSync(process.execPath, ['bench/run.js', option], { cwd: root, encoding: 'utf8' })
    expect(run.status).toBe(2)
    expect(run.stderr).toContain(message)
    expect(run.stderr).not.toContain('    at ')
  })

  it('says what its options are', () => {
    const { stdout } = spawnSync(process.execPath, ['bench/run.js', '--help'], { cwd: root, encoding: 'utf8' })
    for (const option of ['--bars', '--rivals', '--nodes', '--check', '--from', '--json'])
      expect(stdout).toContain(option)
  })

  it.skipIf(process.platform === 'win32')('takes the core apart into steps', () => {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['bench/native/run.js', '--quick'], {
      cwd: root,
      encoding: 'utf8',
    })
    expect(status, stderr).toBe(0)
    for (const step of ['read the wall clock', 'reserve 1 at once', 'an id, with all of this']) {
      expect(stdout).toContain(step)
    }
  })
})

it('every workload and subject is in a file of its name, and has a title', () => {
  for (const { name, title, run } of workloads) {
    expect(existsSync(join(root, `bench/workloads/${name}.js`)), name).toBe(true)
    expect(title.length, name).toBeGreaterThan(0)
    expect(run).toBeTypeOf('function')
  }
  expect(new Set(subjects.map(({ name }) => name)).size).toBe(subjects.length)
})
