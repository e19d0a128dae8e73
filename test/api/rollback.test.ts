import { describe, expect, it } from 'vitest'
import { caught, engines } from '../support/engines.js'
import { parts, simulatedOn } from '../support/simulated.js'

describe.each(engines)('onRollback on the %s engine', (engine) => {
  const simulated = simulatedOn(engine)

  it("'advance' counts on from the last id", () => {
    const { ids, time } = simulated()
    ids.take(6)
    time.now = 990
    expect(ids.take(3).map(parts)).toEqual([
      [1000, 6],
      [1000, 7],
      [1001, 0],
    ])
    expect(ids.stats()).toMatchObject({ rollbacks: 1, overflows: 0, aheadMs: 11 })
  })

  it("'advance' goes as far as maxAheadMs and no further", () => {
    const { ids, time } = simulated({ maxAheadMs: 10, maxWaitMs: 0 })
    ids.next()
    time.now = 990
    expect(ids.take(7).map(parts).at(-1)).toEqual([1000, 7])
    const error = caught(() => ids.next())
    expect(error).toMatchObject({ code: 'ERR_CLOCK_ROLLBACK', rollbackMs: 10, retryAfterMs: 1 })
    time.now = 991
    expect(parts(ids.next())).toEqual([1001, 0])
  })

  it("'throw' refuses until the clock has passed the last id", () => {
    const { ids, time } = simulated({ onRollback: 'throw' })
    ids.next()
    time.now = 995
    expect(caught(() => ids.next())).toMatchObject({
      code: 'ERR_CLOCK_ROLLBACK',
      rollbackMs: 5,
      retryAfterMs: 5,
      name: 'GraupelError',
    })
    time.now = 999
    expect(caught(() => ids.next())).toMatchObject({ retryAfterMs: 1 })
    expect(ids.stats()).toMatchObject({ issued: 1, rollbacks: 1 })
    time.now = 1000
    expect(parts(ids.next())).toEqual([1000, 1])
  })

  it("'wait' waits for a clock that goes on", () => {
    let now = 1000
    let step = 0
    const { ids } = simulated({
      onRollback: 'wait',
      clock: () => {
        now += step
        return now
      },
    })
    ids.next()
    now = 960
    step = 0.25
    expect(parts(ids.next())).toEqual([1000, 1])
    expect(ids.stats()).toMatchObject({ waits: 1, rollbacks: 1 })
  })

  it("'wait' throws at once if the wait would take longer than maxWaitMs", () => {
    const { ids, time } = simulated({ onRollback: 'wait', maxWaitMs: 40 })
    ids.next()
    time.now = 959
    expect(caught(() => ids.next())).toMatchObject({ code: 'ERR_CLOCK_ROLLBACK', rollbackMs: 41, retryAfterMs: 41 })
    expect(ids.stats().waits).toBe(0)
  })

  it("'advance' goes on when the clock is back, though the word is ahead of it still", () => {
    const { ids, time } = simulated({ maxWaitMs: 0 })
    ids.next()
    time.now = 990
    ids.take(400)
    time.now = 1001
    expect(ids.stats().aheadMs).toBeGreaterThan(40)
    expect(ids.take(100).length).toBe(100)
  })

  it("'wait' gives up on a clock that goes to and fro", () => {
    let now = 1000
    let calls = 0
    const { ids } = simulated({
      onRollback: 'wait',
      clock: () => {
        calls++
        return now - (calls % 2)
      },
    })
    ids.next()
    now -= 10
    expect(caught(() => ids.next()).code).toBe('ERR_CLOCK_ROLLBACK')
  })

  it.each(['advance', 'reuse'] as const)('%j makes ids by a clock that jitters by a tick', (onRollback) => {
    let readings = 0
    const { ids } = simulated({ onRollback, clock: () => 1000 + (readings++ % 2) })
    const made = Array.from({ length: 5 }, () => ids.next())
    expect(new Set([...made, ...ids.take(3)]).size).toBe(8)
  })

  it("'wait' gives up on a clock that jitters, and waits for a clock that does so for a moment", () => {
    let readings = 0
    let lastJitter = Number.POSITIVE_INFINITY
    const { ids } = simulated({
      onRollback: 'wait',
      clock: () => {
        if (readings++ > lastJitter) return 1002
        return readings % 3 === 0 ? 1001 : 1000
      },
    })
    const some = () => Array.from({ length: 9 }, () => ids.next())
    expect(caught(some)).toMatchObject({ code: 'ERR_CLOCK_ROLLBACK', rollbackMs: 1 })
    lastJitter = readings + 50
    expect(some().map(parts)).toContainEqual([1002, 0])
  })

  it("'wait' gives up on a clock that stands still", () => {
    const { ids, time } = simulated({ onRollback: 'wait' })
    ids.next()
    time.now = 999
    expect(caught(() => ids.next())).toMatchObject({ code: 'ERR_CLOCK_ROLLBACK', retryAfterMs: 1 })
  })

  it("'reuse' gives out what was skipped or left over, and nothing twice", () => {
    const { ids, time } = simulated({ onRollback: 'reuse', maxWaitMs: 0 })
    time.now = 1002
    ids.take(3)
    time.now = 1005
    ids.next()
    time.now = 1002
    expect(ids.take(5).map(parts)).toEqual([3, 4, 5, 6, 7].map((sequence) => [1002, sequence]))
    expect(caught(() => ids.next())).toMatchObject({ code: 'ERR_CLOCK_ROLLBACK', retryAfterMs: 3 })
    time.now = 1003
    expect(ids.take(8).map(parts)).toEqual([0, 1, 2, 3, 4, 5, 6, 7].map((sequence) => [1003, sequence]))
    time.now = 1005
    expect(parts(ids.next())).toEqual([1005, 1])
  })

  it("'reuse' leaves alone what is older than itself, or than its memory", () => {
    const { ids, time } = simulated({ onRollback: 'reuse', maxWaitMs: 0 })
    ids.next()
    time.now = 999
    expect(caught(() => ids.next()).code).toBe('ERR_CLOCK_ROLLBACK')
    for (const now of [1500 + 1024, 4000]) {
      time.now = now
      ids.next()
    }
    time.now = 1501
    expect(parts(ids.next())).toEqual([1501, 0])
    // Its place in the ring is taken by the tick 1024 later.
    time.now = 1500
    expect(caught(() => ids.next()).code).toBe('ERR_CLOCK_ROLLBACK')
  })

  it('is asked though the clock stepped back by one tick before the first id', () => {
    const { ids, time } = simulated({ onRollback: 'reuse', maxWaitMs: 0 })
    time.now = 999
    // Nothing of that tick is known to be free.
    expect(caught(() => ids.next())).toMatchObject({
      code: 'ERR_CLOCK_ROLLBACK',
      rollbackMs: 1,
      retryAfterMs: expect.any(Number),
    })
    const rollbacks: number[] = []
    const other = simulated({
      onRollback: ({ rollbackMs }) => {
        rollbacks.push(rollbackMs)
        return 'advance'
      },
    })
    other.time.now = 999
    expect(parts(other.ids.next())[0]).toBe(1000)
    expect(rollbacks).toEqual([1])
  })

  it('may be a function, which is told how far the clock went', () => {
    const events: unknown[] = []
    const { ids, time } = simulated({
      onRollback: (event) => {
        events.push(event)
        return event.rollbackMs > 5 ? 'throw' : 'advance'
      },
    })
    ids.next()
    time.now = 997
    expect(parts(ids.next())[0]).toBe(1000)
    time.now = 990
    expect(caught(() => ids.next()).code).toBe('ERR_CLOCK_ROLLBACK')
    expect(events[0]).toMatchObject({
      type: 'rollback',
      rollbackMs: 3,
      aheadMs: 3,
      nowMs: 997,
      node: 5,
      layout: 'tiny',
    })
  })

  it('refuses what a function returns if it is no policy', () => {
    const { ids, time } = simulated({ onRollback: (() => 'ignore') as never })
    ids.next()
    time.now = 999
    expect(caught(() => ids.next())).toMatchObject({ code: 'ERR_OPTION_INVALID', name: 'TypeError' })
  })

  it('is not asked when the clock stepped back to a time that is still free', () => {
    const { ids, time } = simulated({ onRollback: 'throw' })
    ids.next()
    time.now = 2000
    expect(ids.stats().rollbacks).toBe(0)
    time.now = 1500
    expect(parts(ids.next())[0]).toBe(1500)
  })
})
