/** @import { Bar, Outcome, Result, Spread, Subject, Workload } from './contract.js' */

const columns = ['workload', 'subject', 'median', 'quartiles', 'ratio', 'bar', 'holds', 'ids checked', 'repeats', '']
/** The others are numbers, and look better from the right. */
const leftColumns = new Set([0, 1, 5, 6, 9])

/**
 * @param {readonly Result[]} results
 * @param {readonly Workload[]} workloads
 * @param {readonly Subject[]} subjects
 */
export function table(results, workloads, subjects) {
  const rows = []
  for (const workload of workloads) {
    for (const subject of subjects) {
      const result = results.find((r) => r.workload === workload.name && r.subject === subject.name)
      if (result?.error !== undefined) rows.push([workload.title, subject.title, 'FAILED'])
      else if (result?.outcome !== undefined) rows.push(row(workload, subject, result.outcome))
    }
  }
  return align([columns, ...rows])
}

/**
 * @param {Workload} workload
 * @param {Subject} subject
 * @param {Outcome} outcome
 */
function row(workload, subject, { figure, ratio, check, note = '' }) {
  const bars = barsOf(workload, subject.name)
  return [
    workload.title,
    subject.title,
    `${digits(figure.median)} ${workload.unit}`,
    `${digits(figure.low)} – ${digits(figure.high)}`,
    ratio === undefined ? '' : `${ratio.median.toFixed(2)} × ${workload.yardstick}`,
    bars.map((bar) => barText(bar, workload)).join(', '),
    bars.map((bar) => (holds(bar, { figure, ratio }) ? 'yes' : 'NO')).join(', '),
    check === undefined ? '' : check.ids.toLocaleString('en').replaceAll(',', ' '),
    check === undefined ? '' : check.repeats === 0 ? '0' : `REPEATS ${check.repeats}`,
    check !== undefined && check.outOfOrder > 0 ? `${check.outOfOrder} out of order` : note,
  ]
}

/**
 * @param {Workload} workload
 * @param {string} subject
 * @returns {readonly Bar[]}
 */
export function barsOf(workload, subject) {
  return workload.bars[subject] ?? []
}

/**
 * @param {Bar} bar
 * @param {{ figure: Spread, ratio?: Spread | undefined }} outcome
 */
export function holds({ of, most, least }, outcome) {
  const value = outcome[of]?.median
  return value !== undefined && (most === undefined || value <= most) && (least === undefined || value >= least)
}

/**
 * @param {Bar} bar
 * @param {Workload} workload
 */
function barText({ of, most, least }, workload) {
  const unit = of === 'ratio' ? `× ${workload.yardstick}` : workload.unit
  return most !== undefined ? `≤ ${most} ${unit}` : `≥ ${least} ${unit}`
}

/** @param {number} value */
function digits(value) {
  const size = Math.abs(value)
  return value.toFixed(size >= 1000 ? 0 : size >= 10 ? 1 : 2)
}

/** @param {readonly (readonly string[])[]} rows */
function align(rows) {
  const widths = columns.map((_, i) => Math.max(...rows.map((row) => (row[i] ?? '').length)))
  const line = (/** @type {readonly string[]} */ row) =>
    widths
      .map((width, i) => (leftColumns.has(i) ? (row[i] ?? '').padEnd(width) : (row[i] ?? '').padStart(width)))
      .join('  ')
      .trimEnd()
  const [head = [], ...body] = rows
  return [line(head), widths.map((width) => '─'.repeat(width)).join('  '), ...body.map(line)].join('\n')
}
