import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Source } from '../contract.ts'
import { type SubjectName, subjectOf } from '../subjects.ts'

/** Watches the memory of a fresh process while it makes generators. */
export type MemoryTask = SubjectName & { measure: 'one node' | 'many nodes' | 'closed' | 'dropped' }

/** Bytes, for a thousand generators. */
export type MemoryGrowth = { heap: number; resident: number }
/** Bytes in use after each 10 000 of 400 000. */
export type LeakSample = { heap: number; resident: number }

const { measure, ...name } = JSON.parse(process.argv[2] as string) as MemoryTask
const open = await subjectOf(name).load()

async function inUse() {
  // Finalizers run in turns of the event loop, and let the next collection free more.
  for (let i = 0; i < 4; i++) {
    globalThis.gc?.()
    await nextTurn()
  }
  const { heapUsed, external, rss } = process.memoryUsage()
  return { heap: heapUsed + external, resident: rss }
}

const kept: (Source | undefined)[] = []

async function makeThousand(namespace: string) {
  for (let i = 0; i < 1000; i++) {
    const source = open({ layout: 'twitter', node: measure === 'one node' ? 1 : i, namespace, isMany: true })
    await source?.next?.()
    kept.push(source)
  }
}

async function keepThousands(): Promise<MemoryGrowth> {
  // The first generator loads the engine and lets V8 compile code, once: nearly a mebibyte.
  await makeThousand('first')
  const before = await inUse()
  // Several times, because allocators take memory in large steps.
  for (let i = 0; i < 8; i++) await makeThousand(`more ${i}`)
  const after = await inUse()
  return { heap: (after.heap - before.heap) / 8, resident: (after.resident - before.resident) / 8 }
}

function makeAndDrop() {
  const source = open({ layout: 'twitter', node: 9 })
  source?.next?.()
  if (measure === 'closed') source?.close?.()
}

async function dropMany(): Promise<LeakSample[]> {
  const samples: LeakSample[] = []
  for (let batch = 0; batch < 40; batch++) {
    for (let i = 0; i < 10_000; i++) makeAndDrop()
    samples.push(await inUse())
  }
  return samples
}

process.send?.(await (measure === 'closed' || measure === 'dropped' ? dropMany() : keepThousands()))
process.disconnect?.()
