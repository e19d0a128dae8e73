/** @import { Bar, Check, Report, Result, Workload } from './contract.js' */

/**
 * A bar and what it was held against.
 *
 * @typedef {object} Verdict
 * @property {Bar} bar
 * @property {number | undefined} value - Undefined where nothing was measured.
 * @property {boolean} holds
 */

/**
 * The bars of DESIGN.md, section 8, for one result.
 *
 * @param {Result} result
 * @param {Workload} workload
 * @param {readonly Result[]} results - All of them; a lead is one over others.
 * @param {readonly string[]} rivals - Names of subjects.
 * @returns {Verdict[]}
 */
export function judge(result, workload, results, rivals) {
  return (workload.bars[result.subject] ?? []).map((bar) => {
    const value = bar.of === 'lead' ? leadOf(result, results, rivals) : result.outcome?.[bar.of]?.median
    const { most = Number.POSITIVE_INFINITY, least = Number.NEGATIVE_INFINITY } = bar
    return { bar, value, holds: value !== undefined && value <= most && value >= least }
  })
}

/**
 * How many times faster a subject is than the fastest rival. By the ratios, because each was measured in a process and a
 * minute of its own.
 *
 * @param {Result} result
 * @param {readonly Result[]} results
 * @param {readonly string[]} rivals
 */
function leadOf(result, results, rivals) {
  const ratios = results
    .filter(({ workload, node, subject }) => {
      return workload === result.workload && node === result.node && rivals.includes(subject)
    })
    .map(({ outcome }) => outcome?.ratio?.median)
    .filter((ratio) => ratio !== undefined)
  const own = result.outcome?.ratio?.median
  return own === undefined || ratios.length === 0 ? undefined : Math.min(...ratios) / own
}

/**
 * What a `Check` found to be wrong, in words; empty where nothing was.
 *
 * @param {Check | undefined} check
 */
export function faultsOf(check) {
  if (check === undefined) return []
  const { repeats, outOfOrder, future, wrong = 0 } = check
  return [
    ...(repeats > 0 ? [`${count(repeats)} repeats`] : []),
    ...(outOfOrder > 0 ? [`${count(outOfOrder)} out of order`] : []),
    ...(future > 0 ? [`${count(future)} of the future`] : []),
    ...(wrong > 0 ? [`${count(wrong)} wrong`] : []),
  ]
}

/** With thin spaces between the thousands. @param {number} value */
export function count(value) {
  return value.toLocaleString('en').replaceAll(',', ' ')
}

/**
 * What fails a run: a subject of ours with anything wrong with its ids, or that could not be measured. A bar that does not
 * hold is no failure by itself, because a busy machine is enough for that (`--check`).
 *
 * @param {readonly Result[]} results
 * @param {readonly string[]} own - Names of our subjects.
 */
export function failures(results, own) {
  return results.flatMap(({ subject, workload, node, outcome, error }) => {
    const where = `${workload}, ${subject}, Node ${node}`
    if (error !== undefined && own.includes(subject)) return [`${where}: ${error.split('\n')[0]}`]
    const faults = faultsOf(outcome?.check)
    return faults.length > 0 && own.includes(subject) ? [`${where}: ${faults.join(', ')}`] : []
  })
}

/**
 * The bars that do not hold, or that nothing was measured for, each as a line.
 *
 * @param {Report} report
 * @param {readonly Workload[]} workloads
 * @param {readonly string[]} rivals
 */
export function shortfalls({ results }, workloads, rivals) {
  return workloads.flatMap((workload) =>
    Object.entries(workload.bars).flatMap(([subject, bars]) => {
      const own = results.filter((result) => result.workload === workload.name && result.subject === subject)
      if (own.length === 0)
        return bars.map((bar) => `${workload.name}, ${subject}: ${barText(bar, workload)}, not measured`)
      return own.flatMap((result) =>
        judge(result, workload, results, rivals)
          .filter(({ holds }) => !holds)
          .map(({ bar, value }) => {
            const measured = value === undefined ? 'not measured' : `is ${digits(value)}`
            return `${workload.name}, ${subject}, Node ${result.node}: ${barText(bar, workload)}, ${measured}`
          }),
      )
    }),
  )
}

/**
 * @param {Bar} bar
 * @param {Workload} workload
 */
export function barText({ of, most, least }, { yardstick, unit }) {
  const what = of === 'ratio' ? `× ${yardstick}` : of === 'lead' ? '× faster than any rival' : unit
  return most !== undefined ? `≤ ${most} ${what}` : `≥ ${least} ${what}`
}

/** @param {number} value */
export function digits(value) {
  const size = Math.abs(value)
  return size >= 10_000 ? count(Math.round(value)) : value.toFixed(size >= 1000 ? 0 : size >= 10 ? 1 : 2)
}
