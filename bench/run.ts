import { closeSync, existsSync, openSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { hideAuthorities } from '../scripts/authorities.ts'
import { barsOf, failures, isCompared, shortfalls } from './bars.ts'
import type { Reply, Task } from './child.ts'
import type { Outcome, Report, Result, Subject, Workload } from './contract.ts'
import { describeMachine, watchStolenTime } from './machine.ts'
import { installNodes, installRivals } from './measure/downloads.ts'
import { inFreshProcess, inPlaceOfThis } from './measure/fresh.ts'
import { spread } from './measure/rounds.ts'
import { installClients, missingFor } from './measure/stores.ts'
import { measureSteps } from './native/run.ts'
import { publish, withSections } from './publish.ts'
import { align, columns, nodeRows, rivalNames, rowsOf } from './report.ts'
import { subjects } from './subjects.ts'
import { workloads, workloadsFor } from './workloads/index.ts'

const names = (all: readonly { name: string }[]) => all.map(({ name }) => name).join(', ')

const help = `npm run bench -- [options]

  --filter WORKLOAD  only workloads whose name contains this, or a section by its heading; several with commas:
                     ${names(workloads)}
  --subject SUBJECT  only subjects whose name contains this: ${names(subjects)}
  --bars             only what a bar is about
  --rivals           with the other packages of npm, which are installed in bench/rivals
  --stores           with the stores of leases and segments: servers that are installed, clients that test/stores installs
  --nodes 24,22      on the first of these versions of Node, and some workloads on the others, too; they are installed in .tools
  --against FOLDER   our subjects against those of another checkout, which is built: ratios new/old
  --quick            fewer and shorter rounds: for a look, not for a claim
  --check            exit with 1, and a list, if a bar does not hold; with --against, if a ratio is worse by 3 %
  --from FILE        measure nothing, and take the results from there
  --json FILE        write the results there
  --publish          with --filter engines, sustained, threads-,processes, codecs, memory, next-kept, next-string-, uuid, view, lease, segment, service,
                     latency, kind, mask, observe, import or first-id: keep these results in the place of the former ones of their sections

A complete run, one without --filter, --subject, --bars, --against, --quick and --from, is kept in
bench/results/latest.json. bench/results/README.md and the table of docs/benchmarks.md are generated from it;
--from bench/results/latest.json generates them again.`

const root = fileURLToPath(new URL('..', import.meta.url))
const latest = fileURLToPath(new URL('results/latest.json', import.meta.url))

const options = readOptions()
const against = options.against === undefined ? undefined : buildIn(options.against)
for (const part of options.filter?.split(',') ?? [])
  if (workloadsFor(part).length === 0) fail(`no workload's name contains '${part}'; there are ${names(workloads)}`)
const chosen = workloadsFor(options.filter ?? '').filter(
  (workload) => !options.bars || Object.keys(barsOf(workload)).length > 0,
)
if (!subjects.some(({ name }) => name.includes(options.subject ?? '')))
  fail(`no subject's name contains '${options.subject}'; there are ${names(subjects)}`)
const isWhole = !(options.subject || options.bars || options.quick || against)
const isComplete = isWhole && !options.filter
if (options.publish) assertWholeSections()
if (options.json !== undefined) assertWritable(options.json)

const [own, ...otherNodes] =
  options.from === undefined ? download(() => installNodes(options.nodes?.split(',') ?? [])) : []
if (own !== undefined && own.version !== process.version)
  process.exit(await inPlaceOfThis(own.file, [fileURLToPath(import.meta.url), ...process.argv.slice(2)]))
process.once('SIGINT', () => fail('interrupted; nothing is kept', 130))

// Rounded as in the file, so that the page and the file have the same figures.
const report = options.from === undefined ? (JSON.parse(toJson(await measure())) as Report) : readReport(options.from)
if (report.machine.stolen !== undefined) console.log(`stolen  ${report.machine.stolen}`)
console.log(`\n${align([columns, ...rowsOf(report, chosen, subjects)])}`)
const byNode = nodeRows(report, chosen, subjects)
if (byNode.length > 0) console.log(`\n${align(byNode)}`)

if (options.json !== undefined) writeFileSync(options.json, toJson(report))
const kept = options.publish ? withSections(readReport(latest), report, chosen) : report
if (options.publish || (isComplete && options.from === undefined)) writeFileSync(latest, toJson(kept))
if (options.publish || (isComplete && report.against === undefined)) publish(kept, workloads, subjects)

const ours = subjects.filter(({ group }) => isOwn(group)).map(({ name }) => name)
const bad = failures(report.results, ours)
if (options.check) bad.push(...shortfalls(report, chosen, rivalNames(subjects)))
if (bad.length > 0) console.error(`\nNot as it should be:\n${bad.map((line) => `  ${line}`).join('\n')}`)
process.exitCode = bad.length > 0 ? 1 : 0

function fail(message: string, code = 2): never {
  console.error(message)
  process.exit(code)
}

function messageOf(error: unknown) {
  return error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)
}

function readOptions() {
  const text = { type: 'string' } as const
  const flag = { type: 'boolean', default: false } as const
  try {
    const { values } = parseArgs({
      options: {
        ...{ filter: text, subject: text, nodes: text, against: text, from: text, json: text },
        ...{ bars: flag, rivals: flag, stores: flag, quick: flag, check: flag, publish: flag, help: flag },
      },
    })
    if (values.help) {
      console.log(help)
      process.exit(0)
    }
    if (values.against !== undefined && (values.rivals || values.nodes || values.from))
      fail('--against measures our subjects on this Node: it does not go with --rivals, --nodes or --from')
    return values
  } catch (error) {
    return fail(`${messageOf(error)}; npm run bench -- --help says which there are`)
  }
}

function assertWholeSections() {
  const sections = new Set(chosen.map(({ section }) => section))
  const all = workloads.filter(({ section }) => sections.has(section))
  if (!isWhole || isComplete || all.length !== chosen.length)
    fail('--publish needs whole sections and nothing else, such as --filter lease or --filter engines,next-kept')
}

function buildIn(folder: string) {
  if (!existsSync(resolve(folder, 'dist/index.js'))) fail(`there is no dist/index.js in '${folder}': build it there`)
  if (realpathSync(folder) === realpathSync(root)) fail(`'${folder}' is this checkout; --against needs another`)
  return realpathSync(folder)
}

function assertWritable(file: string) {
  try {
    closeSync(openSync(file, 'a'))
  } catch (error) {
    fail(messageOf(error))
  }
}

function readReport(file: string): Report {
  try {
    const report = JSON.parse(readFileSync(file, 'utf8')) as Report
    return Array.isArray(report.results) && report.machine ? report : fail(`'${file}' has no results of a bench`)
  } catch (error) {
    return fail(`--from ${file}: ${messageOf(error)}`)
  }
}

async function measure(): Promise<Report> {
  if (options.rivals) download(installRivals)
  if (options.stores) download(installClients)
  hideAuthorities()
  const machine = await describeMachine()
  const stolen = watchStolenTime()
  for (const [name, value] of Object.entries(machine)) console.log(`${name.padEnd(7)} ${value}`)
  if (against !== undefined) console.log(`against ${against}`)
  const results: Result[] = []
  for (const { file, version } of [{ file: process.execPath, version: process.version }, ...otherNodes]) {
    const isOther = file !== process.execPath
    for (const workload of chosen.filter(({ onEveryNode }) => onEveryNode || !isOther)) {
      for (const subject of subjects.filter((one) => takesPart(one, workload, isOther))) {
        const missing = subject.group === 'store' ? missingFor(subject.name) : workload.missing?.()
        if (missing !== undefined) {
          console.error(`  ${workload.name}, ${subject.name}: left out, as there is no ${missing}`)
          continue
        }
        const result = await (against === undefined
          ? pair(subject, workload, file, version)
          : versus(subject, workload))
        if (result !== undefined) results.push(result)
      }
    }
  }
  const steps = isComplete ? { steps: await measureSteps(false) } : {}
  const set = (['rivals', 'stores'] as const).filter((name) => options[name]).map((name) => ` --${name}`)
  const filter = options.filter ? ` --filter ${options.filter}` : ''
  const flags = `${set.join('')}${filter}${options.nodes ? ` --nodes ${options.nodes}` : ''}`
  const command = `npm run bench${flags && ` --${flags}`}`
  const other = against === undefined ? {} : { against }
  return { machine: { ...machine, ...stolen() }, command, quick: options.quick, results, ...other, ...steps }
}

function download<T>(install: () => T): T {
  try {
    return install()
  } catch (error) {
    return fail(messageOf(error))
  }
}

function isOwn(group: Subject['group']) {
  return group === 'graupel' || group === 'store' || group === 'service'
}

function takesPart(subject: Subject, workload: Workload, isOtherNode: boolean) {
  const { name, group, only } = subject
  if (only?.includes(workload.name) === false) return false
  if (workload.of === undefined ? group === 'store' || group === 'service' : group !== workload.of) return false
  if (group === 'yardstick') return against === undefined
  if (!name.includes(options.subject ?? '')) return false
  // The store in memory needs no server.
  if (group === 'store' && (against !== undefined || !(options.stores || name === 'memory'))) return false
  if (!isOwn(group) && !options.rivals) return false
  if (isOwn(group)) return !options.bars || barsOf(workload)[name] !== undefined
  // With --bars or another Node, a rival only takes part if a bar compares with rivals.
  return !(options.bars || isOtherNode) || isCompared(workload, subject)
}

async function inChild(task: Omit<Task, 'isQuick'>, execPath = process.execPath): Promise<Reply> {
  try {
    return await inFreshProcess<Reply>('child.ts', { ...task, isQuick: options.quick }, { execPath })
  } catch (error) {
    return { error: messageOf(error) }
  }
}

/** Measures one subject under one workload in a process of its own. */
async function pair(subject: Subject, workload: Workload, execPath: string, node: string): Promise<Result | undefined> {
  const startMs = performance.now()
  const named = { workload: workload.name, subject: subject.name }
  const reply = await inChild({ name: subject.name, workload: workload.name }, execPath)
  if (reply.outcome === undefined && reply.error === undefined) return undefined
  log(`${workload.name}, ${subject.name}, ${node}`, startMs, reply.error)
  return { ...named, ...reply, node }
}

function log(what: string, startMs: number, error?: string) {
  process.stderr.write(`  ${what}: ${error ?? `${((performance.now() - startMs) / 1000).toFixed(1)} s`}\n`)
}

/**
 * Measures a subject against the same subject of the other build. If the workload has a yardstick that is
 * timed in turns, each process times both builds, and in every second process they change places. Other
 * workloads alternate between processes of the two builds.
 */
async function versus(subject: Subject, workload: Workload): Promise<Result | undefined> {
  const startMs = performance.now()
  const result = { workload: workload.name, subject: subject.name, node: process.version }
  const outcomes: Outcome[] = []
  const ratios: number[] = []
  for (let round = 0; round < (options.quick ? 4 : 8); round++) {
    const builds = round % 2 === 0 ? [root, against as string] : [against as string, root]
    const task = { name: subject.name, workload: workload.name }
    const tasks = workload.isCompared
      ? [{ ...task, build: builds[0], against: builds[1] as string }]
      : builds.map((build) => ({ ...task, build }))
    const found: Outcome[] = []
    for (const each of tasks) {
      const { outcome, error } = await inChild(each)
      if (error !== undefined) return { ...result, error }
      if (outcome === undefined) return undefined
      found.push(outcome)
    }
    const [first, second] = found as [Outcome, Outcome | undefined]
    const ratio = second ? first.figure.median / second.figure.median : (first.ratio?.median ?? Number.NaN)
    ratios.push(round % 2 === 0 ? ratio : 1 / ratio)
    outcomes.push(round % 2 === 0 ? first : (second ?? { ...first, figure: first.yardstick ?? first.figure }))
  }
  log(`${workload.name}, ${subject.name}`, startMs)
  const figure = spread(outcomes.map((outcome) => outcome.figure.median))
  const checks = outcomes.flatMap(({ check }) => check ?? [])
  return { ...result, outcome: { figure, ratio: spread(ratios), ...(checks[0] && { check: checks[0] }) } }
}

function toJson(value: Report) {
  // No figure is more precise than four digits.
  const short = (_: string, part: unknown) =>
    typeof part === 'number' && !Number.isInteger(part) ? Number(part.toPrecision(4)) : part
  return `${JSON.stringify(value, short, 2)}\n`
}
