import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { describeMachine } from './machine.js'
import { inFreshProcess } from './measure/processes.js'
import { holds, table } from './report.js'
import { subjects } from './subjects/index.js'
import { workloads } from './workloads/index.js'

/** @import { Result } from './contract.js' */

const { values: options } = parseArgs({
  options: {
    filter: { type: 'string' },
    subject: { type: 'string' },
    quick: { type: 'boolean', default: false },
    json: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})

if (options.help) {
  console.log(`npm run bench -- [--filter WORKLOAD] [--subject SUBJECT] [--quick] [--json FILE]

  --filter   only workloads whose name contains this: ${workloads.map(({ name }) => name).join(', ')}
  --subject  only subjects whose name contains this: ${subjects.map(({ name }) => name).join(', ')}
  --quick    fewer and shorter rounds: for a look, not for a claim
  --json     write the results there, too`)
  process.exit(0)
}

const child = new URL('child.js', import.meta.url)
const machine = await describeMachine()
for (const [name, value] of Object.entries(machine)) console.log(`${name.padEnd(7)} ${value}`)

/** @type {Result[]} */
const results = []
for (const workload of workloads.filter(({ name }) => name.includes(options.filter ?? ''))) {
  for (const subject of subjects.filter(({ name }) => name.includes(options.subject ?? ''))) {
    if (subject.only?.includes(workload.name) === false) continue
    const startMs = performance.now()
    const pair = { subject: subject.name, workload: workload.name }
    const flags = options.quick ? ['--quick'] : []
    /** @type {Promise<Result>} */
    const running = inFreshProcess(child, [subject.name, workload.name, ...flags], workload.nodeFlags)
    const result = await running.catch((error) => /** @type {Result} */ ({ ...pair, error: String(error) }))
    if (result.outcome === undefined && result.error === undefined) continue
    results.push(result)
    const seconds = ((performance.now() - startMs) / 1000).toFixed(1)
    process.stderr.write(`  ${workload.name}, ${subject.name}: ${result.error ?? `${seconds} s`}\n`)
  }
}
console.log(`\n${table(results, workloads, subjects)}`)

if (options.json !== undefined) {
  const pairs = results.map((result) => {
    const { unit, yardstick, bars } = /** @type {typeof workloads[number]} */ (
      workloads.find(({ name }) => name === result.workload)
    )
    const { outcome } = result
    const judged = (bars[result.subject] ?? []).map((bar) => ({
      ...bar,
      holds: outcome !== undefined && holds(bar, outcome),
    }))
    return { ...result, unit, yardstick, bars: judged }
  })
  writeFileSync(options.json, `${JSON.stringify({ machine, quick: options.quick, results: pairs }, null, 2)}\n`)
}

// A bar that does not hold is no failure here, because a busy machine is enough for that. A repeat always is one.
const bad = results.filter(({ outcome, error }) => error !== undefined || (outcome?.check?.repeats ?? 0) > 0)
process.exitCode = bad.length > 0 ? 1 : 0
