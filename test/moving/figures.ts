import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { count, digits } from '../../bench/bars.ts'
import type { Report, Result } from '../../bench/contract.ts'
import { resultOf } from '../../bench/report.ts'
import { subjects } from '../../bench/subjects.ts'
import { workloads as allWorkloads } from '../../bench/workloads/index.ts'
import { repository } from '../support/documents.ts'

// Writes the figures of the bench into docs/comparison.md (`npx tsx test/moving/figures.ts`). A test compares
// them.

const document = join(repository, 'docs/comparison.md')

/** Returns the document with the figures of a report. */
export function withFigures(text: string, report: Report): string {
  const find: Find = (name, subject) => {
    const workload = allWorkloads.find((one) => one.name === name)
    return workload && resultOf(report, workload, subject)
  }
  const filled = replaceTable(text, 'cost', costRows(find))
  return replaceTable(filled, 'packages', packageRows(find))
}

type Find = (workload: string, subject: string) => Result | undefined

/** The rows of the table: the kind of id, the package, and the subject of the bench. */
const costs = [
  ['a bigint', 'graupel, native', 'next', 'graupel-native'],
  ['a bigint', 'graupel, native, kept as a bigint', 'next-kept', 'graupel-native'],
  ['a bigint', 'graupel, js', 'next', 'graupel-js'],
  ['UUID v4', '`@napi-rs/uuid`', 'next', '@napi-rs/uuid v4'],
  ['UUID v4', '`crypto.randomUUID()`, in bursts of 1 000', 'burst', 'random-uuid'],
  ['UUID v4', '`crypto.randomUUID()`, kept', 'next', 'random-uuid'],
  ['nanoid', '`nanoid`', 'next', 'nanoid 21 characters'],
  ['ULID', '`ulid`, `monotonicFactory()`', 'next', 'ulid monotonic'],
  ['UUID v7', '`uuidv7`', 'next', 'uuidv7 v7'],
  ['UUID v7', '`uuid`', 'next', 'uuid v7'],
] as const

function costRows(find: Find): string[] {
  const rows = costs.map(([what, by, workload, subject]) => {
    const ratio = find(workload, subject)?.outcome?.ratio?.median
    if (ratio === undefined) throw new Error(`the bench has no ratio of '${subject}' in '${workload}'`)
    return `| ${what} | ${by} | ${digits(ratio)} |`
  })
  return ['| made | by | × `Date.now()` |', '|---|---|---|', ...rows]
}

const workloads = ['next', 'threads-wide', 'processes']

function packageRows(find: Find): string[] {
  const checked = subjects.filter(({ name }) => find('processes', name) !== undefined)
  const names = checked.map(({ name }) => name).filter((name) => !name.startsWith('graupel'))
  const rows = names.map((name) => {
    const ratio = find('next', name)?.outcome?.ratio?.median
    const cells = workloads.map((workload) => faults(find(workload, name)))
    return `| \`${name}\` | ${ratio === undefined ? '' : digits(ratio)} | ${cells.join(' | ')} |`
  })
  const own = workloads.map((workload) => faults(find(workload, 'graupel-native')))
  const ratio = digits(find('next', 'graupel-native')?.outcome?.ratio?.median ?? Number.NaN)
  return [
    '| package | `next()`, × `Date.now()` | one thread | two threads | two processes |',
    '|---|---|---|---|---|',
    `| graupel, native | ${ratio} | ${own.join(' | ')} |`,
    ...rows,
  ]
}

function faults(result: Result | undefined): string {
  const check = result?.outcome?.check
  if (check === undefined) return 'not measured'
  return check.repeats === 0 ? `none of ${count(check.ids)}` : `**${count(check.repeats)}** of ${count(check.ids)}`
}

/** Replaces the table below the comment that begins with its name. */
function replaceTable(text: string, name: string, rows: readonly string[]): string {
  const place = new RegExp(`(<!-- ${name}: .*?-->\n\n)(?:\\|.*\n)*\n?`)
  if (!place.test(text)) throw new Error(`docs/comparison.md has no place for the table '${name}'`)
  return text.replace(place, (_, comment: string) => `${comment}${rows.join('\n')}\n\n`)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const report = JSON.parse(readFileSync(join(repository, 'bench/results/latest.json'), 'utf8')) as Report
  writeFileSync(document, withFigures(readFileSync(document, 'utf8'), report))
}
