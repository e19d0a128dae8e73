import { barText, count, digits, faultsOf, judge, yardstickOf } from './bars.ts'
import type { Machine, Report, Result, Spread, Steps, Subject, Workload } from './contract.ts'

export const columns = [
  'workload',
  'subject',
  'median',
  'quartiles',
  'ratio',
  'bar',
  'holds',
  'ids checked',
  'wrong with them',
  '',
]
/** Numbers, which stand on the right. */
const rightColumns = ['median', 'quartiles', 'ratio', 'ids checked']

/** Returns the machine of the run that measured a section: the run that renewed it, or the complete run. */
export function machineOf({ machine, sections }: Report, { section }: Pick<Workload, 'section'>): Machine {
  return sections?.[section]?.machine ?? machine
}

/** Returns the result on the version of Node that ran the bench for the section of the workload. */
export function resultOf(report: Report, workload: Workload, subject: string): Result | undefined {
  return find(report.results, workload.name, subject, machineOf(report, workload).node)
}

/** The release of Node with long-term support, which readers look for first. */
const longTerm = 'v24.'

/** Returns the result on the release with long-term support, or else on the version that ran the bench. */
export function firstResultOf(report: Report, workload: Workload, subject: string): Result | undefined {
  const isOfIt = (one: Result) => one.workload === workload.name && one.subject === subject
  return report.results.find((one) => isOfIt(one) && isLongTerm(one.node)) ?? resultOf(report, workload, subject)
}

function isLongTerm(node: string) {
  return node.startsWith(longTerm)
}

/** A row for each result on the version of Node that ran the bench for its section. */
export function rowsOf(report: Report, workloads: readonly Workload[], subjects: readonly Subject[]): string[][] {
  const rivals = rivalNames(subjects)
  return workloads.flatMap((workload) =>
    subjects.flatMap((subject) => {
      const result = resultOf(report, workload, subject.name)
      if (result === undefined) return []
      const { outcome, error = '' } = result
      const names = [workload.title, subject.title]
      if (outcome === undefined) return [[...names, 'FAILED', '', '', '', '', '', '', error.split('\n')[0] ?? '']]
      const { figure, ratio, check, disturbed, note } = outcome
      const verdicts = judge(result, workload, report, rivals)
      const quartiles = report.against === undefined ? figure : (ratio ?? figure)
      return [
        [
          ...names,
          `${digits(figure.median)} ${workload.unit}`,
          range(quartiles),
          ratio === undefined ? '' : `${digits(ratio.median)} × ${yardstickOf(workload, report)}`,
          verdicts.map(({ bar }) => barText(bar, workload, report)).join(', '),
          verdicts.map(({ holds, value }) => (holds ? 'yes' : value === undefined ? '?' : 'NO')).join(', '),
          check === undefined ? '' : count(check.ids),
          check === undefined ? '' : faultsOf(check).join(', ') || 'nothing',
          [note, disturbed && `${disturbed} more rounds disturbed`].filter(Boolean).join('; '),
        ],
      ]
    }),
  )
}

/** Returns a row for each result that has a bar, with its version of Node; the first row is the head. */
export function barRows(report: Report, workloads: readonly Workload[], subjects: readonly Subject[]): string[][] {
  const shown = ['workload', 'subject', 'median', 'ratio', 'bar', 'holds']
  const rows = workloads.flatMap((workload) =>
    rowsOf(report, [workload], subjects)
      .filter((row) => row[columns.indexOf('bar')] !== '')
      .map((row) => [...shown.map((name) => row[columns.indexOf(name)] ?? ''), machineOf(report, workload).node]),
  )
  return [[...shown, 'Node'], ...rows]
}

/**
 * The versions of Node beside each other, the release with long-term support first; the first row is the
 * head. No rows for one version.
 */
export function nodeRows(
  { results }: Report,
  workloads: readonly Workload[],
  subjects: readonly Subject[],
): string[][] {
  const compared = workloads.filter(({ onEveryNode }) => onEveryNode)
  const found = results.filter(({ workload }) => compared.some(({ name }) => name === workload))
  // A run has its results in the order of `--nodes`.
  const nodes = [...new Set(found.map(({ node }) => node))]
  nodes.sort((a, b) => Number(isLongTerm(b)) - Number(isLongTerm(a)))
  const rows = compared.flatMap((workload) =>
    subjects.flatMap((subject) => {
      const cells = nodes.map((node) => {
        const outcome = find(results, workload.name, subject.name, node)?.outcome
        const ratio = outcome?.ratio === undefined ? '' : `${digits(outcome.ratio.median)} ×`
        return outcome === undefined ? '' : `${digits(outcome.figure.median)} ns, ${ratio}`
      })
      return cells.filter(Boolean).length < 2 ? [] : [[workload.title, subject.title, ...cells]]
    }),
  )
  return rows.length === 0 ? [] : [['workload', 'subject', ...nodes], ...rows]
}

/** The first row is the head. */
export function stepRows(steps: Steps): string[][] {
  const rows = steps.map(({ step, threads, ns }) => [step, `${threads}`, digits(ns.median), range(ns)])
  return [['step', 'threads', 'ns', 'quartiles'], ...rows]
}

export function range({ low, high }: Spread) {
  return `${digits(low)} – ${digits(high)}`
}

export function rivalNames(subjects: readonly Subject[]) {
  return subjects.filter(({ group }) => group === 'rival').map(({ name }) => name)
}

function find(results: readonly Result[], workload: string, subject: string, node: string) {
  return results.find((one) => one.workload === workload && one.subject === subject && one.node === node)
}

/** A table as plain text; the first row is the head. */
export function align([head = [], ...body]: readonly (readonly string[])[]) {
  const widths = head.map((_, i) => Math.max(...[head, ...body].map((row) => (row[i] ?? '').length)))
  const line = (row: readonly string[]) =>
    widths
      .map((width, i) => {
        const cell = row[i] ?? ''
        return rightColumns.includes(head[i] ?? '') ? cell.padStart(width) : cell.padEnd(width)
      })
      .join('  ')
      .trimEnd()
  return [line(head), widths.map((width) => '─'.repeat(width)).join('  '), ...body.map(line)].join('\n')
}

/** The same table in Markdown, without its empty columns. */
export function markdown([head = [], ...body]: readonly (readonly string[])[]) {
  const used = [...head.keys()].filter((i) => body.some((row) => (row[i] ?? '') !== ''))
  const line = (cells: readonly string[]) =>
    `| ${used.map((i) => (cells[i] ?? '').replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head.map((name) => name || 'note')), `|${' --- |'.repeat(used.length)}`, ...body.map(line)].join('\n')
}
