import { describe, expect, it } from 'vitest'
import { tell } from '../simulation/report.ts'
import { expectNoViolationIn } from '../simulation/runs.ts'
import { loadProcess } from './programs-simulation/load.ts'
import { mutations } from './strict-simulation/mutations.ts'
import { type Answer, RealTimeOrder } from './strict-simulation/order.ts'
import { type Outcome, runWorld } from './strict-simulation/world.ts'

/** A world in which the holder makes an id, loses the node and gets it again before it answers. */
const lateSeed = 3998

const file = 'test/lease/strict.test.ts'

const name = 'servers of a strict group answer in the order of real time'
it(name, { timeout: 0 }, async () => {
  const start = await loadProcess()
  const worlds = {
    run: (seed: number, isRecorded: boolean) => runWorld(start, seed, {}, isRecorded),
    counts: ({ answers, holders }: Outcome) => ({ answers, holders }),
    least: { answers: 300, holders: 2 },
    report: (seed: number, replay: string, { violation, moments }: Outcome) =>
      tell(seed, replay, violation?.text, 'servers of a strict group', moments),
  }
  await expectNoViolationIn(worlds, file, name, 60)
})

describe('the simulation notices', () => {
  it.each(mutations)('that $defect', async (mutation) => {
    const { seed = 1 } = mutation
    const [mutant, original] = [await loadProcess(mutation), await loadProcess()]
    expect((await runWorld(mutant, seed)).violation?.text).toContain('was given')
    expect((await runWorld(original, seed)).violation).toBeUndefined()
  })

  it('that a program reads the term after it has made the id', async () => {
    const start = await loadProcess()
    // The node goes from one server to another all the time.
    const faults = { release: 8, pauseInAnswer: 0.02, clockStep: 6, cut: 0 }
    expect((await runWorld(start, lateSeed, { faults, takesTermLate: true })).violation?.text).toContain('was given')
    expect((await runWorld(start, lateSeed, { faults })).violation).toBeUndefined()
  })
})

describe('the checker of real-time order', () => {
  /** Returns what is out of order. Each answer has the times of its request and of itself. */
  const found = (...answers: readonly (readonly [madeMs: number, givenMs: number, ...ids: number[]])[]) => {
    const order = new RealTimeOrder()
    for (const [madeMs, givenMs, ...ids] of answers) {
      const [first, last] = [BigInt(ids[0] as number), BigInt(ids.at(-1) as number)]
      order.add({ madeMs, givenMs, first, last })
    }
    return order.inversions.map(({ before, after }: { before: Answer; after: Answer }) => [before.last, after.first])
  }

  it('has nothing against answers whose requests overlap, in any order', () => {
    expect(found([0, 10, 7], [5, 11, 3], [10, 12, 5], [13, 14, 8])).toEqual([])
  })

  it('finds an answer that is not above an answer from before its request', () => {
    expect(found([0, 10, 7], [11, 12, 6])).toEqual([[7n, 6n]])
    expect(found([0, 10, 7], [11, 12, 7])).toEqual([[7n, 7n]])
    expect(found([0, 10, 7], [1, 20, 2], [2, 30, 3], [21, 31, 6])).toEqual([[7n, 6n]])
  })

  it('compares the least id of an answer with the largest ids before', () => {
    expect(found([0, 10, 1, 9], [11, 12, 8, 20])).toEqual([[9n, 8n]])
    expect(found([0, 10, 1, 9], [11, 12, 10, 20])).toEqual([])
  })

  it('forgets only what no open request needs', () => {
    const order = new RealTimeOrder()
    for (const [givenMs, id] of [
      [10, 1n],
      [20, 2n],
      [30, 3n],
    ] as const)
      order.add({ madeMs: 0, givenMs, first: id, last: id })
    order.forget(25)
    order.add({ madeMs: 25, givenMs: 40, first: 2n, last: 4n })
    expect(order.inversions).toHaveLength(1)
  })
})
