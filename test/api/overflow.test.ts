import { describe, expect, it } from 'vitest'
import { caught, engines } from '../support/engines.js'
import { parts, simulatedOn } from '../support/simulated.js'

describe.each(engines)('onOverflow on the %s engine', (engine) => {
  const simulated = simulatedOn(engine)

  it("'throw' refuses the ninth id of a tick of eight", () => {
    const { ids, time } = simulated({ onOverflow: 'throw' })
    ids.take(8)
    expect(caught(() => ids.next())).toMatchObject({ code: 'ERR_SEQUENCE_OVERFLOW', retryAfterMs: 1 })
    time.now = 1001
    expect(parts(ids.next())).toEqual([1001, 0])
    expect(ids.stats()).toMatchObject({ overflows: 1, rollbacks: 0 })
  })

  it("'advance' carries into the next ticks, up to maxAheadMs", () => {
    const { ids } = simulated({ onOverflow: 'advance', maxAheadMs: 2, maxWaitMs: 0 })
    const made = ids.take(24).map(parts)
    expect(made.at(-1)).toEqual([1002, 7])
    expect(caught(() => ids.next())).toMatchObject({ code: 'ERR_SEQUENCE_OVERFLOW', retryAfterMs: 1 })
  })

  it("'wait' goes on in the next tick", () => {
    let now = 1000
    const { ids } = simulated({
      clock: () => {
        now += 1 / 64
        return now
      },
    })
    const made = ids.take(100)
    expect(new Set(made).size).toBe(100)
    expect(ids.stats().waits).toBeGreaterThan(5)
  })

  it("'wait' goes on with a clock that wraps Date.now(), however often it can be read within a millisecond", () => {
    const { ids } = simulated({ clock: () => Math.floor(performance.now()) + 1000 })
    expect(new Set(ids.take(200)).size).toBe(200)
    expect(ids.stats().waits).toBeGreaterThan(5)
  })

  it('is told from a rollback while the word is ahead', () => {
    const { ids, time } = simulated({ onOverflow: 'advance', onRollback: 'throw', maxAheadMs: 5 })
    ids.take(20)
    expect(ids.stats()).toMatchObject({ rollbacks: 0, aheadMs: 2 })
    time.now = 999
    expect(caught(() => ids.next())).toMatchObject({ code: 'ERR_CLOCK_ROLLBACK', rollbackMs: 1 })
  })
})

describe.each(engines)('sequenceStart on the %s engine', (engine) => {
  const simulated = simulatedOn(engine)

  const starts = (sequenceStart: 'zero' | 'random' | 'rotate', ticks: number, perTick: number) => {
    const { ids, time } = simulated({ sequenceStart })
    return Array.from({ length: ticks }, () => {
      time.now += 1
      return parts(ids.take(perTick)[0] as bigint)[1]
    })
  }

  it("'zero' begins every tick with 0", () => {
    expect(new Set(starts('zero', 20, 1))).toEqual(new Set([0]))
  })

  it("'rotate' goes on where the last tick ended, within the lower half", () => {
    expect(starts('rotate', 6, 1)).toEqual([0, 1, 2, 3, 0, 1])
    expect(starts('rotate', 4, 3)).toEqual([0, 3, 0, 3])
  })

  it("'random' begins anywhere in the lower half", () => {
    // 400 draws from 4 starts: each is expected 100 times; below 50 or above 150 is 5.8 standard deviations
    // away.
    const seen = starts('random', 400, 1)
    for (let start = 0; start < 4; start++) {
      const count = seen.filter((s) => s === start).length
      expect(count).toBeGreaterThan(50)
      expect(count).toBeLessThan(150)
    }
    expect(seen.every((s) => (s as number) < 4)).toBe(true)
  })

  it("'random' begins elsewhere in each generator", () => {
    // Two lists of 40 draws from 4 starts are equal once in 10^24.
    expect(starts('random', 40, 1)).not.toEqual(starts('random', 40, 1))
  })
})
