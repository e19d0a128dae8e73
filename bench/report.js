import { barText, count, digits, faultsOf, judge } from './judge.js'

/** @import { Report, Result, Subject, Workload } from './contract.js' */

const columns = [
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
/** The others are numbers, and look better from the right. */
const leftColumns = new Set([0, 1, 5, 6, 8, 9])

/**
 * A row for each result on one version of Node.
 *
 * @param {Report} report
 * @param {readonly Workload[]} workloads
 * @param {readonly Subject[]} subjects
 * @returns {string[][]}
 */
export function rowsOf({ machine, results }, workloads, subjects) {
  const rivals = rivalNames(subjects)
  return workloads.flatMap((workload) =>
    subjects.flatMap((subject) => {
      const result = find(results, workload.name, subject.name, machine.node)
      if (result === undefined) return []
      if (result.outcome === undefined)
        return [[workload.title, subject.title, 'FAILED', '', '', '', '', '', '', result.error?.split('\n')[0] ?? '']]
      const { figure, ratio, check, disturbed, note } = result.outcome
      const verdicts = judge(result, workload, results, rivals)
      const faults = faultsOf(check)
      return [
        [
          workload.title,
          subject.title,
          `${digits(figure.median)} ${workload.unit}`,
          `${digits(figure.low)} – ${digits(figure.high)}`,
          ratio === undefined ? '' : `${digits(ratio.median)} × ${workload.yardstick}`,
          verdicts.map(({ bar }) => barText(bar, workload)).join(', '),
          verdicts.map(({ holds, value }) => (holds ? 'yes' : value === undefined ? '?' : 'NO')).join(', '),
          check === undefined ? '' : count(check.ids),
          check === undefined ? '' : faults.length === 0 ? 'nothing' : faults.join(', '),
          [note, disturbed && `${disturbed} more rounds disturbed`].filter(Boolean).join('; '),
        ],
      ]
    }),
  )
}

/**
 * The same as plain text.
 *
 * @param {Report} report
 * @param {readonly Workload[]} workloads
 * @param {readonly Subject[]} subjects
 */
export function table(report, workloads, subjects) {
  return align([columns, ...rowsOf(report, workloads, subjects)])
}

/**
 * Versions of Node beside each other: nanoseconds, and the ratio to the yardstick of the same version.
 *
 * @param {Report} report
 * @param {readonly Workload[]} workloads
 * @param {readonly Subject[]} subjects
 * @returns {string[][]} The first row is the head; no rows, if there is one version only.
 */
export function nodeRows({ results }, workloads, subjects) {
  const nodes = [...new Set(results.map(({ node }) => node))].sort((a, b) => majorOf(a) - majorOf(b))
  if (nodes.length < 2) return []
  const rows = workloads
    .filter(({ onEveryNode }) => onEveryNode)
    .flatMap((workload) =>
      subjects.flatMap((subject) => {
        const cells = nodes.map((node) => {
          const figure = find(results, workload.name, subject.name, node)?.outcome
          if (figure === undefined) return ''
          return `${digits(figure.figure.median)} ns, ${figure.ratio === undefined ? '' : `${digits(figure.ratio.median)} ×`}`
        })
        return cells.filter((cell) => cell !== '').length < 2 ? [] : [[workload.title, subject.title, ...cells]]
      }),
    )
  return [['workload', 'subject', ...nodes], ...rows]
}

/** @param {string} version */
function majorOf(version) {
  return Number(version.replace(/^v/, '').split('.')[0])
}

/** @param {readonly Subject[]} subjects */
export function rivalNames(subjects) {
  return subjects.filter(({ group }) => group === 'rival').map(({ name }) => name)
}

/**
 * @param {readonly Result[]} results
 * @param {string} workload
 * @param {string} subject
 * @param {string} node
 */
export function find(results, workload, subject, node) {
  return results.find((r) => r.workload === workload && r.subject === subject && r.node === node)
}

/** @param {readonly (readonly string[])[]} rows - The first is the head. */
export function align(rows) {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => (row[i] ?? '').length)))
  const isLeft = (/** @type {number} */ i) => rows[0] !== columns || leftColumns.has(i)
  const line = (/** @type {readonly string[]} */ row) =>
    widths
      .map((width, i) => (isLeft(i) ? (row[i] ?? '').padEnd(width) : (row[i] ?? '').padStart(width)))
      .join('  ')
      .trimEnd()
  const [head = [], ...body] = rows
  return [line(head), widths.map((width) => '─'.repeat(width)).join('  '), ...body.map(line)].join('\n')
}

export { columns }
