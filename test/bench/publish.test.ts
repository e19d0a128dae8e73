import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { barsOf, digits, shortfalls } from '../../bench/bars.ts'
import type { Report } from '../../bench/contract.ts'
import { page, pagesOf, withSections } from '../../bench/publish.ts'
import { resultOf, rivalNames } from '../../bench/report.ts'
import { subjects } from '../../bench/subjects.ts'
import { workloads, workloadsFor } from '../../bench/workloads/index.ts'
import { repository } from '../support/documents.ts'
import { reportOf, result } from './reports.ts'

const rivals = rivalNames(subjects)
const read = (file: string | URL) => readFileSync(file, 'utf8')
const latest = JSON.parse(read(join(repository, 'bench/results/latest.json'))) as Report

describe('the published run', () => {
  it('is generated from bench/results/latest.json: the tables, the charts, and the bars on the page', () => {
    const pages = pagesOf(latest, workloads, subjects, read(page))
    expect(pages.size).toBe(5)
    for (const [href, content] of pages) expect(read(new URL(href))).toBe(content)
  })

  it('has sections that a filter alone renews', () => {
    const [, names = ''] = read(join(repository, 'bench/run.ts')).match(/--publish +with --filter (.*?):/s) ?? []
    const filters = names.split(/,\s+| or /)
    const sections = filters.map((filter) => {
      const chosen = workloadsFor(filter)
      const [first] = chosen
      expect(chosen, filter).toEqual(workloads.filter(({ section }) => section === first?.section))
      return first?.section
    })
    expect(new Set(sections)).toEqual(new Set(workloads.map(({ section }) => section)))
  })

  it('has one heading for a section of one workload', () => {
    const found = reportOf([result('first-id', 'graupel-native', 0.5, 1), result('first-id', 'graupel-js', 0.5, 1)])
    const pages = pagesOf(found, workloads, subjects, read(page))
    const results = [...pages].find(([href]) => href.endsWith('README.md'))?.[1]
    expect(results).toContain('## Import to first id\n\n- node: `v20.0.0`\n\n| subject |')
  })

  it('has a row for each bar on the page, and marks the bars that did not hold', () => {
    const rows = read(page)
      .split('\n')
      .filter((line) => /^\| .* \| (yes|NO|\?)(, (yes|NO|\?))* \| v\d[\d.]* \|$/.test(line))
    const shown = workloads.flatMap((workload) =>
      subjects.flatMap(({ name }) => resultOf(latest, workload, name) ?? []),
    )
    const missed = shortfalls({ ...latest, results: shown }, workloads, rivals)
    const unmeasured = missed.filter((line) => line.endsWith(', not measured'))
    const bars = workloads.flatMap((workload) => Object.values(barsOf(workload)).flat())
    expect(rows.flatMap((row) => row.match(/\b(yes|NO)\b/g) ?? [])).toHaveLength(bars.length - unmeasured.length)
    expect(rows.flatMap((row) => row.match(/\bNO\b/g) ?? [])).toHaveLength(missed.length - unmeasured.length)
  })
})

describe('a section that was renewed on another version of Node', () => {
  /** Makes results of `next()` whose figures tell the version of Node. */
  const nextOn = (node: string, ns: number) => [
    { ...result('next', 'graupel-native', ns, ns / 100), node },
    { ...result('next', 'graupel-js', ns + 10, (ns + 10) / 100), node },
    { ...result('next', 'snowyflake', 4 * ns, ns / 10), node },
  ]
  const before = reportOf([
    ...nextOn('v20.0.0', 50),
    result('next-kept', 'graupel-native', 21, 0.5),
    result('lease-next', 'graupel-native', 15, 1),
    result('threads-line', 'graupel-native', 60, 1, { line: [{ threads: 1, idsPerMs: 30_000 }] }),
  ])
  const run = reportOf([...nextOn('v24.0.0', 24), ...nextOn('v22.0.0', 22), ...nextOn('v26.0.0', 26)], 'd')
  Object.assign(run.machine, { cpu: 'another', node: 'v24.0.0' })
  const renewed = withSections(before, run, workloadsFor('engines'))
  const pages = [...pagesOf(renewed, workloads, subjects, read(page))]
  const contentOf = (file: string) => pages.find(([href]) => href.endsWith(file))?.[1] ?? ''
  const generated = contentOf('docs/benchmarks.md').split('<!-- ')[1] ?? ''

  it('has its figures on the page for readers, which names both machines', () => {
    expect(generated).toContain(
      `| \`next()\`, written to a \`BigUint64Array\` | ${digits(24)} ns | 24.0 – 24.0 | v24.0.0 |`,
    )
    expect(generated).toContain('Measured on another with b, and on a with b.')
  })

  it('keeps its bars beside those of the other sections, and each row says its Node', () => {
    expect(generated).toContain('| next() | graupel native | 24.0 ns/id | 0.24 × Date.now() |')
    expect(
      generated.match(/^\| next\(\) .* (v[\d.]+) \|$/gm)?.filter((row) => row.endsWith(' yes, yes | v24.0.0 |')),
    ).toHaveLength(1)
    expect(generated).toMatch(/^\| next\(\) under a lease .* \| yes \| v20\.0\.0 \|$/m)
  })

  it('is shown by release of Node, the Node of the run first, without rivals', () => {
    const [, table = ''] = generated.split('## By release of Node')
    expect(table).toContain('| workload | subject | v24.0.0 | v22.0.0 | v26.0.0 |\n')
    expect(table).toContain('| next() | graupel native | 24.0 ns, 0.24 × | 22.0 ns, 0.22 × | 26.0 ns, 0.26 × |\n')
    expect(table.split('## The bars')[0]).not.toContain('snowyflake')
  })

  it('has the release with long-term support first, whichever Node ran the bench', () => {
    const other = reportOf([...nextOn('v22.0.0', 22), ...nextOn('v24.0.0', 24)], 'd')
    Object.assign(other.machine, { node: 'v22.0.0' })
    const contents = new Map(
      pagesOf(withSections(before, other, workloadsFor('engines')), workloads, subjects, read(page)),
    )
    const text = contents.get(page.href) as string
    expect(text).toContain('| workload | subject | v24.0.0 | v22.0.0 |\n')
    expect(text).toContain('| `next()`, written to a `BigUint64Array` | 24.0 ns | 24.0 – 24.0 | v24.0.0 |')
    expect(text).toContain('| next() | graupel native | 22.0 ns/id |')
  })

  it('has its machine and its Node among the results and on its chart, and the others have theirs', () => {
    const results = contentOf('results/README.md')
    const factsBelow = (heading: string) => results.split(`\n## ${heading}\n\n`)[1]?.split('\n\n')[0]
    expect(factsBelow('Engines')).toContain('- cpu: `another`\n- os: `b`\n- node: `v24.0.0`\n')
    expect(factsBelow('Leases')).toBe('- node: `v20.0.0`')
    expect(results).toContain('| workload | subject | v24.0.0 | v22.0.0 | v26.0.0 |')
    expect(contentOf('next.svg')).toContain('<title>One id in a tight loop, Node v24.0.0</title>')
    expect(contentOf('threads.svg')).toContain('20 bits of sequence, Node v20.0.0</title>')
  })
})

it.each([
  ['the heading of a section', 'engines', ['next', 'burst', 'next-string', 'next-number', 'fill-65536', 'fill-64']],
  [
    'a heading that is part of a name elsewhere',
    'memory',
    ['memory-one-node', 'memory-nodes', 'leak-closed', 'leak-dropped'],
  ],
  ['parts of names', 'fill-6,mask-hide', ['fill-65536', 'fill-64', 'mask-hide']],
])('--filter takes %s', (_, filter, expected) => {
  expect(workloadsFor(filter).map(({ name }) => name)).toEqual(expected)
})
