import { subjects } from './subjects/index.js'
import { workloads } from './workloads/index.js'

// One subject under one workload, in a process that has seen no other: what V8 learns from one would make another slower.
const [subjectName, workloadName, ...flags] = process.argv.slice(2)
const subject = subjects.find(({ name }) => name === subjectName)
const workload = workloads.find(({ name }) => name === workloadName)
if (subject === undefined || workload === undefined) throw new Error(`there is no ${subjectName} or no ${workloadName}`)

/** @type {Partial<import('./contract.js').Result>} */
let result
try {
  const outcome = await workload.run(subject, flags.includes('--quick'))
  result = outcome === undefined ? {} : { outcome }
} catch (error) {
  result = { error: error instanceof Error ? (error.stack ?? error.message) : String(error) }
}
process.send?.({ subject: subject.name, workload: workload.name, ...result })
process.disconnect?.()
