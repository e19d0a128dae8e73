import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { failures, shortfalls } from './judge.js'
import { describeMachine, watchStolenTime } from './machine.js'
import { installNodes, installRivals } from './measure/nodes.js'
import { inFreshProcess } from './measure/processes.js'
import { measureSteps } from './native/run.js'
import { publish } from './publish.js'
import { align, nodeRows, rivalNames, table } from './report.js'
import { subjects } from './subjects/index.js'
import { workloads } from './workloads/index.js'

/** @import { Report, Result, Subject, Workload } from './contract.js' */

const options = readOptions()

if (options.help) {
  console.log(`npm run bench -- [options]

  --filter WORKLOAD  only workloads whose name contains this: ${workloads.map(({ name }) => name).join(', ')}
  --subject SUBJECT  only subjects whose name contains this: ${subjects.map(({ name }) => name).join(', ')}
  --bars             only what a bar of the design is about
  --rivals           with the other packages of npm, which are installed in bench/rivals
  --nodes 22,24      some workloads on other versions of Node, too, which are installed in .tools
  --quick            fewer and shorter rounds: for a look, not for a claim
  --check            exit with 1, and a list, if a bar of DESIGN.md, section 8, does not hold
  --from FILE        measure nothing, and take the results from there
  --json FILE        write the results there

A complete run, one without --filter, --subject, --bars, --quick and --from, is kept in bench/results/latest.json, and
docs/benchmarks.md is made anew from it; --from bench/results/latest.json does the latter alone.`)
  process.exit(0)
}

const latest = new URL('results/latest.json', import.meta.url)
const isComplete = options.filter === undefined && options.subject === undefined && !options.bars && !options.quick
const chosen = workloads.filter(
  ({ name, bars }) => name.includes(options.filter ?? '') && (!options.bars || Object.keys(bars).length > 0),
)
if (chosen.length === 0) {
  console.error(
    `no workload's name contains '${options.filter}'; there are ${workloads.map(({ name }) => name).join(', ')}`,
  )
  process.exit(2)
}
// As it is kept, so that the page is what the file says.
const report = parse(options.from === undefined ? toJson(await measure()) : readFileSync(options.from, 'utf8'))
if (report.machine.stolen !== undefined) console.log(`stolen  ${report.machine.stolen}`)
console.log(`\n${table(report, chosen, subjects)}`)
const byNode = nodeRows(report, chosen, subjects)
if (byNode.length > 0) console.log(`\n${align(byNode)}`)

if (options.json !== undefined) writeFileSync(options.json, toJson(report))
if (isComplete && options.from === undefined) writeFileSync(latest, toJson(report))
if (isComplete) publish(report, workloads, subjects)

const own = subjects.filter(({ group }) => group === 'graupel').map(({ name }) => name)
const bad = failures(report.results, own)
if (options.check) bad.push(...shortfalls(report, chosen, rivalNames(subjects)))
if (bad.length > 0) console.error(`\nNot as it should be:\n${bad.map((line) => `  ${line}`).join('\n')}`)
process.exitCode = bad.length > 0 ? 1 : 0

function readOptions() {
  try {
    return parseArgs({
      options: {
        filter: { type: 'string' },
        subject: { type: 'string' },
        bars: { type: 'boolean', default: false },
        rivals: { type: 'boolean', default: false },
        nodes: { type: 'string' },
        quick: { type: 'boolean', default: false },
        check: { type: 'boolean', default: false },
        from: { type: 'string' },
        json: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    }).values
  } catch (error) {
    console.error(`${/** @type {Error} */ (error).message}; npm run bench -- --help says which there are`)
    process.exit(2)
  }
}

/** @returns {Promise<Report>} */
async function measure() {
  if (options.rivals) installRivals()
  const others = installNodes(options.nodes?.split(',') ?? [])
  const machine = await describeMachine()
  const stolen = watchStolenTime()
  for (const [name, value] of Object.entries(machine)) console.log(`${name.padEnd(7)} ${value}`)
  const results = []
  for (const workload of chosen) {
    for (const subject of subjects.filter((one) => takesPart(one, workload))) {
      const result = await pair(subject, workload, process.execPath, process.version)
      if (result !== undefined) results.push(result)
    }
    await again(results, workload, process.execPath, process.version)
  }
  for (const { file, version } of others) {
    for (const workload of chosen.filter(({ onEveryNode }) => onEveryNode)) {
      for (const subject of subjects.filter((one) => takesPart(one, workload) && isInQuestion(one, workload))) {
        const result = await pair(subject, workload, file, version)
        if (result !== undefined) results.push(result)
      }
      await again(results, workload, file, version)
    }
  }
  const steps = isComplete ? await measureSteps(false) : undefined
  const { rivals, nodes } = options
  const command = `npm run bench${rivals || nodes ? ' --' : ''}${rivals ? ' --rivals' : ''}${nodes ? ` --nodes ${nodes}` : ''}`
  return {
    machine: { ...machine, ...stolen() },
    command,
    quick: options.quick,
    results,
    ...(steps === undefined ? {} : { steps }),
  }
}

/**
 * Measures again what a bar is about and was disturbed for as long as it took: beside others of the workload, the yardstick
 * was faster by more than a tenth. The yardstick decides which of the results is kept, too.
 *
 * @param {Result[]} results - In which they are replaced.
 * @param {Workload} workload
 * @param {string} execPath
 * @param {string} node
 */
async function again(results, workload, execPath, node) {
  const isHere = (/** @type {Result} */ one) => one.workload === workload.name && one.node === node
  const slowness = (/** @type {Result | undefined} */ one) =>
    one?.outcome?.yardstick?.median ?? Number.POSITIVE_INFINITY
  // Only of compare(): the yardstick of other workloads is a gain, or a share.
  if (options.quick || workload.unit !== 'ns/id') return
  for (const [at, first] of results.entries()) {
    const subject = subjects.find(({ name }) => name === first.subject)
    if (!isHere(first) || subject === undefined || workload.bars[subject.name] === undefined) continue
    for (let times = 0; times < 3; times++) {
      const best = Math.min(...results.filter(isHere).map(slowness))
      if (slowness(results[at]) <= 1.1 * best) break
      const result = await pair(subject, workload, execPath, node)
      if (result !== undefined && slowness(result) < slowness(results[at])) results[at] = result
    }
  }
}

/**
 * Yardsticks always do.
 *
 * @param {Subject} subject
 * @param {Workload} workload
 */
function takesPart(subject, workload) {
  const { name, group } = subject
  if (group === 'yardstick') return true
  if (!name.includes(options.subject ?? '') || (group !== 'graupel' && !options.rivals)) return false
  return !options.bars || workload.bars[name] !== undefined || (group !== 'graupel' && isInQuestion(subject, workload))
}

/**
 * Ours and the yardsticks are, and rivals where there is a lead over them.
 *
 * @param {Subject} subject
 * @param {Workload} workload
 */
function isInQuestion({ group }, { bars }) {
  if (group === 'graupel' || group === 'yardstick') return true
  return group === 'rival' && Object.values(bars).some((all) => all.some(({ of }) => of === 'lead'))
}

/**
 * One subject under one workload, in a process of its own.
 *
 * @param {Subject} subject
 * @param {Workload} workload
 * @param {string} execPath
 * @param {string} node
 * @returns {Promise<Result | undefined>}
 */
async function pair(subject, workload, execPath, node) {
  if (subject.only?.includes(workload.name) === false) return undefined
  const startMs = performance.now()
  const flags = options.quick ? ['--quick'] : []
  const child = new URL('child.js', import.meta.url)
  const named = { subject: subject.name, workload: workload.name }
  /** @type {Promise<Omit<Result, 'node'>>} */
  const running = inFreshProcess(child, [subject.name, workload.name, ...flags], workload.nodeFlags, execPath)
  const result = await running.catch(
    (error) => /** @type {Omit<Result, 'node'>} */ ({ ...named, error: String(error) }),
  )
  if (result.outcome === undefined && result.error === undefined) return undefined
  const seconds = ((performance.now() - startMs) / 1000).toFixed(1)
  process.stderr.write(`  ${workload.name}, ${subject.name}, ${node}: ${result.error ?? `${seconds} s`}\n`)
  return { ...result, node }
}

/**
 * @param {string} text
 * @returns {Report}
 */
function parse(text) {
  return JSON.parse(text)
}

/** @param {Report} report */
function toJson(report) {
  // Four digits are more than any of the figures is worth.
  const short = (/** @type {string} */ _, /** @type {unknown} */ value) =>
    typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(4)) : value
  return `${JSON.stringify(report, short, 2)}\n`
}
