import { parentPort, workerData } from 'node:worker_threads'
import type { Foreign, Source, Wanted } from '../contract.ts'
import { type SubjectName, subjectOf } from '../subjects.ts'
import { clockReadings } from './compare.ts'
import { keepNext, type Loop } from './loops.ts'

// A thread or process of crew.ts. It makes ids on command, and sends them on request.

export type CrewStart = SubjectName & {
  wanted: Wanted
  /** Counts the threads that are ready. Processes share no memory, so they start at an agreed time. */
  gate: Int32Array | undefined
  /** The handle of the main thread's source. */
  handle: Foreign
}

export type CrewTask =
  | { do: 'get ready' }
  | { do: 'send ids' }
  | { do: 'make' | 'read clock'; count: number; members: number; startMs: number }

export type Times = { startNs: bigint; endNs: bigint }
export type Kept = { ids: BigUint64Array; madeMs: number }

const { wanted, gate, handle, ...name } = (workerData ?? JSON.parse(process.argv[2] as string)) as CrewStart
const subject = subjectOf(name)
const source = (await subject.load(handle))(wanted) as Source
const loops = new Map<number, Loop>()
let last: Loop | undefined
let madeMs = 0

function loopOf(count: number) {
  last = loops.get(count) ?? (keepNext(source, count, subject) as Loop)
  loops.set(count, last)
  return last
}

async function answer(task: CrewTask): Promise<string | Times | Kept> {
  if (task.do === 'get ready') return 'ready'
  if (task.do === 'send ids') return { ids: (last as Loop).ids(), madeMs }
  const { run } = task.do === 'make' ? loopOf(task.count) : clockReadings(task.count)
  // Busy waiting, because waking up takes longer than a run.
  if (gate) Atomics.add(gate, 0, 1)
  while (gate ? Atomics.load(gate, 0) < task.members : Date.now() < task.startMs) {}
  const startNs = process.hrtime.bigint()
  const pending = run()
  if (pending !== undefined) await pending
  const endNs = process.hrtime.bigint()
  if (task.do === 'make') madeMs = Date.now()
  return { startNs, endNs }
}

if (parentPort) parentPort.on('message', async (task) => parentPort?.postMessage(await answer(task)))
else process.on('message', async (task: CrewTask) => process.send?.(await answer(task)))
