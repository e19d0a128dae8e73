import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { expect, it } from 'vitest'
import { bundle } from '../simulation/load.ts'
import { explore } from './memory-model.ts'
import { overtaken } from './memory-models.ts'

// Real threads and real atomics, unlike test/segments/memory.test.ts. Each taker notes its numbers in shared
// memory, so a number that another taker has noted shows at once.

/**
 * Limits of the rounds and of their time. A busy machine makes fewer rounds, which does not change the
 * result.
 */
const segments = 400_000
const maxMs = 8000
const perSegment = 5
const takers = 3

const program = `
const { workerData, parentPort } = require('node:worker_threads')
const { SegmentMemory } = module.exports
const { shared, seen, ended, role, segments, maxMs, perSegment } = workerData
const isEnded = new Int32Array(ended)
const memory = new SegmentMemory(shared, 1)
const bytes = new Uint8Array(seen)
let [wrong, taken] = [0, 0]
if (role === 'adds') {
  const untilMs = Date.now() + maxMs
  for (let added = 0; added < segments && Date.now() < untilMs; ) {
    if (!memory.hasRoom) continue
    memory.add({ first: BigInt(added * perSegment), count: perSegment }, 2, 0)
    added++
  }
  Atomics.store(isEnded, 0, 1)
} else {
  while (Atomics.load(isEnded, 0) === 0 || memory.left > 0) {
    const found = memory.take(1 + (taken % 3))
    if (found === undefined) continue
    for (let i = 0; i < found.count; i++) {
      const number = Number(found.first) + i
      if (Atomics.add(bytes, number, 1) !== 0 || (number % perSegment >= 2) !== found.isLate) wrong++
    }
    taken += found.count
  }
}
parentPort.postMessage({ wrong, taken })
`

it('no number is taken twice, and none is left out, by threads that take while another adds', async () => {
  const script = await bundle(new URL('../../src/segments/memory.ts', import.meta.url), {})
  const shared = new SharedArrayBuffer(256)
  const seen = new SharedArrayBuffer(segments * perSegment)
  const ended = new SharedArrayBuffer(4)
  const start = async (role: string) => {
    const workerData = { shared, seen, ended, role, segments, maxMs, perSegment }
    const worker = new Worker(`${script}\n{${program}}`, { eval: true, workerData })
    const [answer] = await once(worker, 'message')
    return answer as { wrong: number; taken: number }
  }
  const answers = await Promise.all(['adds', ...Array.from({ length: takers }, () => 'takes')].map(start))
  expect(answers.map(({ wrong }) => wrong)).toEqual(answers.map(() => 0))
  const taken = answers.reduce((sum, answer) => sum + answer.taken, 0)
  const added = Number(new BigUint64Array(shared)[1])
  console.info(`${added} segments, ${taken} numbers`)
  expect(taken).toBe(added * perSegment)
  expect(new Uint8Array(seen).subarray(0, taken).every((times) => times === 1)).toBe(true)
  expect(added).toBeGreaterThan(100)
})

it('no number is taken twice in the model in which other threads overtake a thread', async () => {
  const { violation, states } = await explore(overtaken)
  console.info(`${states} states`)
  expect(violation).toBeUndefined()
})
