import type { Outcome } from './contract.ts'
import { type SubjectName, subjectOf } from './subjects.ts'
import { workloads } from './workloads/index.ts'

// Runs one subject under one workload in a fresh process, because V8's type feedback from one subject would
// slow the next.

export type Task = SubjectName & {
  workload: string
  isQuick: boolean
  /** The folder of the build that replaces the yardstick. */
  against?: string
}

export type Reply = { outcome?: Outcome; error?: string }

const { workload, isQuick, against, ...name } = JSON.parse(process.argv[2] as string) as Task

async function measure(): Promise<Reply> {
  try {
    const other = against === undefined ? {} : { against: subjectOf({ ...name, build: against }) }
    const outcome = await workloads.find((one) => one.name === workload)?.run(subjectOf(name), { isQuick, ...other })
    return outcome === undefined ? {} : { outcome }
  } catch (error) {
    return { error: error instanceof Error ? (error.stack ?? error.message) : String(error) }
  }
}

process.send?.(await measure())
process.disconnect?.()
