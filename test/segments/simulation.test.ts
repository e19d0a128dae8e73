import { describe, expect, it } from 'vitest'
import { describeWorld } from '../simulation/describe-world.ts'
import { Judge } from './simulation/judge.ts'
import { loadWorld } from './simulation/load.ts'
import { reportOf } from './simulation/report.ts'
import { expectNoViolation } from './simulation/runs.ts'
import type { Setting } from './simulation/shape.ts'

const file = 'test/segments/simulation.test.ts'

describe('no number is issued twice, and each thread has new numbers in the end', () => {
  it('on a durable store', () => expectNoViolation(file, 'on a durable store', 20, { durable: true }))

  it('on a store that may lose writes', () =>
    expectNoViolation(file, 'on a store that may lose writes', 20, { durable: false }))
})

/** A gap that exceeds the writes that one failover forgets. */
const numbering = {
  start: 1,
  max: 2n ** 64n - 1n,
  stride: 1,
  offset: 0,
  step: 8,
  maxStep: 8,
  batchMs: 1000,
  prefetchAt: 0.8,
  failoverGap: 1_000_000,
}
const noFaults = {
  lostRequest: 0,
  lostReply: 0,
  sentTwice: 0,
  slow: 0,
  pauseInCall: 0,
  lossInCall: 0,
  failover: 0,
  restore: 0,
  cut: 0,
  pause: 0,
  crash: 0,
}

describe('numbers are issued twice, which no gap prevents, if', () => {
  it.each<[string, Setting]>([
    [
      'a second failover forgets the gap that was skipped after the first failover',
      { durable: false, faults: { ...noFaults, failover: 1 }, shape: { processes: 2, numbering, forgets: 'gaps' } },
    ],
    [
      'the record is lost, and a process begins that never read it',
      {
        durable: false,
        faults: { ...noFaults, failover: 1, crash: 1 },
        shape: { processes: 2, numbering, forgets: 'all' },
      },
    ],
    [
      'a durable store is restored from a copy, and no process that fetched after the copy goes on',
      {
        durable: true,
        faults: { ...noFaults, restore: 1, crash: 1 },
        shape: { processes: 2, numbering, forgets: 'copies' },
      },
    ],
  ])('%s', async (_name, setting) => {
    const runWorld = await loadWorld()
    for (let seed = 1; seed <= 500; seed++) {
      const { violation } = await runWorld(seed, setting)
      if (violation === undefined) continue
      expect(violation).toContain('is issued twice')
      return
    }
    expect.fail('not found in 500 worlds')
  })
})

describeWorld(loadWorld, reportOf, {
  defect: 'the record is one number short',
  file: 'segments/store-source.ts',
  from: 'lastOf(segment, range) + 1n',
  to: 'lastOf(segment, range)',
})

describe('the judge', () => {
  const judge = () => {
    const numbering = { start: 1, max: 100, stride: 3, offset: 1, step: 1, maxStep: 1, batchMs: 1, prefetchAt: 1 }
    const of = new Judge({ numbering: { ...numbering, failoverGap: 10 } }, () => {})
    of.applied(90n)
    return of
  }

  it.each<[string, (of: Judge) => void]>([
    ['is issued twice, by a and b', (of) => of.issues('b', 4n, 1n)],
    ['is not above 7', (of) => of.issues('a', 7n, 7n)],
    ['mod 3 is not 1', (of) => of.issues('a', 8n, 4n)],
    ['is not from 1 to 100', (of) => of.issues('a', 103n, 4n)],
    ['was given by no record', (of) => of.issues('a', 91n, 4n)],
    [
      'is far below 100',
      (of) => {
        of.highest = 60n
        of.overflows('a')
      },
    ],
    ['has no numbers of a new segment', (of) => of.hasNone('a', 1000)],
    ['a fails', (of) => of.fails('a', new Error('x'))],
  ])('sees what must not be: %s', (text, call) => {
    const of = judge()
    of.issues('a', 4n, 1n)
    of.overflows('a')
    expect(of.violation).toBeUndefined()
    call(of)
    expect(of.violation).toContain(text)
  })
})
