import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { decode, layouts } from 'graupel'
import { afterEach, expect, it } from 'vitest'
import { freshNamespace } from '../support/engines.ts'
import { isAscending } from '../support/ids.ts'
import { describeWith } from '../support/needs.ts'
import { cleanUp, type Plan, start, stateFolder, wellEnded } from '../support/processes.ts'

interface Order {
  aheadMs: number
  count: number
  isKilled?: boolean
}

interface Answer {
  before: bigint[]
  seen: bigint
  after: bigint[]
  ceilingMs: number | null
}

afterEach(cleanUp)

/** Runs a process that observes an id of a clock that is ahead. */
async function observing(plan: Plan, order: Order): Promise<Answer> {
  const started = start('observing.js', { plan: { maxWaitMs: 10_000, maxAheadMs: 5000, ...plan }, ...order })
  const lines = createInterface({ input: started.child.stdout as NodeJS.ReadableStream })
  const ended = started.ended.then(({ errors }) => Promise.reject(new Error(`it said nothing: ${errors}`)))
  ended.catch(() => {})
  const [line] = (await Promise.race([once(lines, 'line'), ended])) as [string]
  if (order.isKilled) await started.kill()
  else await wellEnded(started)
  const { before, seen, after, ceilingMs } = JSON.parse(line)
  return { before: before.map(BigInt), seen: BigInt(seen), after: after.map(BigInt), ceilingMs }
}

/** Expects processes, one after the other, to make ascending ids above all observed ids. */
async function expectOrder(plan: Plan, orders: readonly Order[]): Promise<Answer[]> {
  const answers: Answer[] = []
  for (const order of orders) answers.push(await observing(plan, order))
  expect(isAscending(answers.flatMap(({ before, after }) => [...before, ...after]))).toBe(true)
  for (const [i, { seen, after }] of answers.entries()) {
    const later = [...after, ...answers.slice(i + 1).flatMap((answer) => [...answer.before, ...answer.after])]
    expect(later.every((id) => id > seen)).toBe(true)
  }
  return answers
}

const orders: readonly Order[] = [
  { aheadMs: 400, count: 3 },
  { aheadMs: 500, count: 3, isKilled: true },
  { aheadMs: 600, count: 3 },
  // The observed id is the last act of the process.
  { aheadMs: 700, count: 0 },
  { aheadMs: 900, count: 3 },
]

describeWith(['native'], 'processes of a host that observe ids', () => {
  it('make larger ids, one process after the other, by a page', async () => {
    const plan = { node: 1, namespace: freshNamespace(), state: 'host' }
    await expectOrder(plan, [...orders.slice(0, -1), { aheadMs: 800, count: 0, isKilled: true }, ...orders.slice(-1)])
  })

  it('make larger ids, one process after the other, by a state file', async () => {
    await expectOrder({ node: 1, namespace: freshNamespace(), state: stateFolder().state, reserveMs: 100 }, orders)
  })

  it('raise the ceiling of a state file above the id before they make a larger one', async () => {
    const { state } = stateFolder()
    const plan = { node: 1, namespace: freshNamespace(), state, reserveMs: 100 }
    const [first, second] = await expectOrder(plan, [
      { aheadMs: 3000, count: 2, isKilled: true },
      { aheadMs: 3500, count: 2 },
    ])
    for (const answer of [first, second] as Answer[]) {
      const { timestampMs } = decode(answer.after.at(-1) as bigint, layouts.twitter)
      expect(answer.ceilingMs).toBeGreaterThan(timestampMs)
    }
  })
})

it('processes of the js engine make larger ids, one after the other, by a claim', async () => {
  const plan = { node: 1, namespace: freshNamespace(), engine: 'js', openTimeoutMs: 20_000 }
  await expectOrder(plan, orders)
})
