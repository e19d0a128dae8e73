import { fork } from 'node:child_process'
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Check, RunOptions, Subject, Wanted } from '../contract.ts'
import { stampOf } from '../subjects.ts'
import type { CrewStart, CrewTask, Kept, Times } from './crew-member.ts'
import { withTypes } from './fresh.ts'
import { countRepeats, Ledger } from './ledger.ts'

/** The most ids that a member makes in a round. */
const maxIds = { threads: 2 ** 22, processes: 2 ** 20 }
/** The most milliseconds that a round of slow ids takes. */
const roundMs = 150

const program = new URL('crew-member.ts', import.meta.url)

interface Member {
  ask<T>(task: CrewTask): Promise<T>
  end(): unknown
}

/** `--import tsx` registers in the main thread only. */
const inThread = `import(${JSON.stringify(import.meta.resolve('tsx/esm/api'))})
  .then(({ register }) => register() && import(${JSON.stringify(program)}))`

function startThread(start: CrewStart): Member {
  const worker = new Worker(inThread, { eval: true, workerData: start, execArgv: [] })
  return {
    ask: <T>(task: CrewTask) => {
      worker.postMessage(task)
      return once(worker, 'message').then(([reply]) => reply as T)
    },
    end: () => worker.terminate(),
  }
}

function startProcess(start: CrewStart): Member {
  const child = fork(program, [JSON.stringify(start)], { serialization: 'advanced', execArgv: withTypes })
  return {
    ask: <T>(task: CrewTask) => {
      child.send(task)
      return once(child, 'message').then(([reply]) => reply as T)
    },
    end: () => child.disconnect(),
  }
}

/**
 * Threads or processes that make ids on one node at the same time, each with a generator of its own.
 * tinybench measures in the thread that calls it.
 */
export async function startCrew(
  kind: 'threads' | 'processes',
  { subject, wanted, size }: { subject: Subject; wanted: Wanted; size: number },
  { isQuick }: RunOptions,
) {
  const gate = kind === 'threads' ? new Int32Array(new SharedArrayBuffer(4)) : undefined
  const source = gate && (await subject.load())(wanted)
  // The js engine shares its memory with the workers that start after its first id.
  source?.next?.()
  const start = { name: subject.name, build: subject.build, wanted, gate, handle: source?.handle }
  const members = Array.from({ length: size }, () => (gate ? startThread(start) : startProcess(start)))
  await Promise.all(members.map((member) => member.ask({ do: 'get ready' })))
  const ledgers = members.map(() => new Ledger(stampOf(subject, wanted)))
  let ids = 0
  let repeats = 0

  /** Measures from the first start to the last end, so a member that lags behind lowers the rate. */
  async function run(task: 'make' | 'read clock', count: number, chosen = members) {
    if (gate) Atomics.store(gate, 0, 0)
    const cpu = process.cpuUsage()
    const startMs = Date.now() + 20
    const times = await Promise.all(
      chosen.map((member) => member.ask<Times>({ do: task, count, members: chosen.length, startMs })),
    )
    const { user, system } = process.cpuUsage(cpu)
    const first = Math.min(...times.map(({ startNs }) => Number(startNs)))
    const last = Math.max(...times.map(({ endNs }) => Number(endNs)))
    return { ms: (last - first) / 1e6, cpuNs: (user + system) * 1000 }
  }

  /** Finds how many ids each member makes in a round. All members are warm afterwards. */
  async function calibrate() {
    const max = isQuick ? maxIds[kind] / 4 : maxIds[kind]
    let count = 256
    while (count < max && (await run('make', count)).ms < roundMs / 4) count = Math.min(max, count * 4)
    return count
  }

  return {
    run,
    members,
    count: await calibrate(),
    /** Checks the last ids of all members. Counts repeats within this round. */
    async check() {
      const kept = await Promise.all(members.map((member) => member.ask<Kept>({ do: 'send ids' })))
      for (const [i, { ids, madeMs }] of kept.entries()) ledgers[i]?.add(ids, madeMs)
      const all = new BigUint64Array(kept.reduce((total, { ids }) => total + ids.length, 0))
      let at = 0
      for (const { ids } of kept) {
        all.set(ids, at)
        at += ids.length
      }
      ids += all.length
      repeats += countRepeats(all)
    },
    async end(): Promise<Check> {
      await Promise.all(members.map((member) => member.end()))
      const reports = ledgers.map((ledger) => ledger.report())
      const sum = (what: 'outOfOrder' | 'future') => reports.reduce((total, report) => total + report[what], 0)
      return { ids, repeats, outOfOrder: sum('outOfOrder'), future: sum('future') }
    },
  }
}
