import { describe, expect, it } from 'vitest'
import { describeWorld } from '../simulation/describe-world.ts'
import { Judge } from './simulation/judge.ts'
import { loadWorld } from './simulation/load.ts'
import { reportOf } from './simulation/report.ts'
import { expectNoViolation } from './simulation/runs.ts'
import { clockAhead, type Faults, openTransactions } from './simulation/shape.ts'

const file = 'test/lease/simulation.test.ts'

describe('no id is issued twice, and each process has a node in the end', () => {
  it('on a durable store', () => expectNoViolation(file, 'on a durable store', 100, { durable: true }))

  it('on a store that may lose writes', () =>
    expectNoViolation(file, 'on a store that may lose writes', 100, { durable: false }))
})

describe('a process that is copied while it runs', () => {
  const copying: Partial<Faults> = { copy: 8 }
  // A server that forgets a renewal lets the other copy renew once more, and then the ids of another window
  // may be equal.
  const remembering = { failover: 0, flush: 0, restart: 0, lossInCall: 0, migrate: 0, evict: 0 }

  it.each([true, false])('issues no id of its original if it is told (durable: %s)', (durable) =>
    expectNoViolation(file, 'issues no id of its original', 300, { durable, faults: copying }),
  )

  it.each([true, false])(
    'issues ids of its original below the ceiling of the copy if it is not told (durable: %s)',
    async (durable) => {
      const setting = { durable, faults: { ...copying, ...(!durable && remembering) }, shape: { copiesAreTold: false } }
      await expectNoViolation(file, 'issues ids of its original', 300, setting)
      const runWorld = await loadWorld()
      let issuedByCopies = 0
      for (let seed = 1; seed <= 30; seed++) issuedByCopies += (await runWorld(seed, setting)).issuedByCopies
      expect(issuedByCopies).toBeGreaterThan(0)
    },
  )
})

it('after its clock was ahead, a server gives no tick twice, and each acquisition ends', () =>
  expectNoViolation(file, 'after its clock was ahead', 300, clockAhead))

describe('a connection whose transaction was left open', () => {
  it('leads to no tick twice if the store refuses its calls', () =>
    expectNoViolation(file, 'leads to no tick twice', 300, openTransactions))

  it('leads to a tick twice if the store answers, and ROLLBACK takes the write back', async () => {
    const runWorld = await loadWorld()
    const { violation } = await runWorld(1, { ...openTransactions, shape: { transactionsAreTold: false } })
    expect(violation?.text).toContain('at once')
  })
})

describeWorld(loadWorld, reportOf, {
  defect: 'the floor is low',
  file: 'lease/protocol.ts',
  from: 'const floor = Math.max(',
  to: 'const floor = Math.min(0,',
})

describe('the judge', () => {
  const judge = () => new Judge(() => {})

  it('has nothing against rectangles and ids that are apart', () => {
    const of = judge()
    const first = of.holds(1, 0, 10, 20)
    of.holds(2, 1, 10, 20)
    of.issues({ process: 1, lastId: -1 }, first, 20)
    of.ended(first, 15)
    of.raised(of.holds(2, 0, 15, 20), 30)
    expect(of.violation).toBeUndefined()
  })

  it('sees two holders of a tick', () => {
    const of = judge()
    of.holds(1, 3, 10, 20)
    of.holds(2, 3, 20, 30)
    of.holds(4, 3, 29, 40)
    expect(of.violation).toEqual({
      node: 3,
      processes: [2, 4],
      text: "node 3: the ticks [29, 30) are process 2 and process 4's at once: the one has [20, 30), the other [29, 40)",
    })
  })

  it('sees a ceiling that rises into the rectangle of another', () => {
    const of = judge()
    const own = of.holds(1, 0, 10, 20)
    of.holds(2, 0, 20, 30)
    of.raised(own, 21)
    expect(of.violation?.text).toContain('the ticks [20, 21)')
  })

  it('sees an id that was issued before, and one that does not ascend', () => {
    const twice = judge()
    const own = twice.holds(1, 0, 10, 20)
    twice.issues({ process: 1, lastId: -1 }, own, 22)
    twice.issues({ process: 1, lastId: -1 }, own, 22)
    expect(twice.violation?.text).toContain('tick 11 is issued twice')

    const back = judge()
    const caller = { process: 1, lastId: -1 }
    back.issues(caller, back.holds(1, 1, 10, 20), 23)
    back.issues(caller, back.holds(1, 0, 10, 20), 23)
    expect(back.violation?.text).toContain('is not above the one before')
  })

  it('sees writes below a floor', () => {
    const record = { owner: '', token: 'a', attempt: '', floor: 10, ceiling: 20, isReleased: false, windowMs: 1 }
    const low = judge()
    low.applied(1, 'x', 0, 0, record, { ...record, ceiling: 9 })
    expect(low.violation?.text).toContain('writes the ceiling 9 below the floor 10')
    const early = judge()
    early.applied(1, 'x', 0, 0, record, { ...record, token: 'b', floor: 19, ceiling: 30 })
    expect(early.violation?.text).toContain('writes the floor 19 below the ceiling 20')
  })

  it('sees a process that is told that it has lost its own node', () => {
    const of = judge()
    const own = of.holds(1, 0, 10, 20)
    of.toldLost(own, false)
    expect(of.violation).toBeUndefined()
    of.toldLost(own, true)
    expect(of.violation?.text).toContain('has lost what it has')
  })

  it('sees what is said of a write and is not so', () => {
    const never = judge()
    never.told(1, 'x', true, false, 0)
    expect(never.violation?.text).toContain('told that a write has landed that has not')
    const there = judge()
    there.told(1, 'x', false, true, 0)
    expect(there.violation?.text).toContain('told that a write has not landed that has')
    const late = judge()
    late.told(1, 'x', false, false, 0)
    late.applied(1, 'x', 0)
    expect(late.violation?.text).toContain('lands after it was told that it had not')
  })
})
