import { describe, expect, it } from 'vitest'
import { judge, type Situation, situationOf, type Verdict } from '../../src/policy/judge.js'
import type { OverflowAction, Policy, RollbackAction } from '../../src/policy/policy.js'
import type { Observation } from '../../src/state/engine.js'

const policy: Policy = { onRollback: 'advance', onOverflow: 'wait', maxAheadMs: 1000, maxWaitMs: 50 }

/**
 * The clock shows `now`, the next free slot is in `head`, the last one issued in `last`, the clock has shown
 * `high`.
 */
const seen = (now: number, head: number, last = head, high = now, tickMs = 1): Observation => ({
  status: 0,
  nowMs: now * tickMs,
  nowTick: now,
  headTick: head,
  lastTick: last,
  highTick: high,
  observedTick: 0,
  issued: 0,
  ceilingTick: -1,
})

const observed = (observation: Observation, observedTick: number): Observation => ({ ...observation, observedTick })

describe('what is a rollback, and what an overflow', () => {
  it.each<[string, Observation, object | undefined]>([
    ['nothing issued yet', seen(100, 0, -1, 0), undefined],
    ['the word is in the past', seen(100, 90), undefined],
    ['the tick has room', seen(100, 100), undefined],
    ['the tick is full', seen(100, 101, 100, 100), { kind: 'overflow', rollbackMs: 0, aheadMs: 1 }],
    ['the word ran ahead by making ids', seen(100, 140, 139, 100), { kind: 'overflow', rollbackMs: 0, aheadMs: 40 }],
    ['the clock has been later', seen(100, 105, 105, 105), { kind: 'rollback', rollbackMs: 5, aheadMs: 5 }],
    ['both: ran ahead, then stepped back', seen(100, 140, 139, 120), { kind: 'rollback', rollbackMs: 20, aheadMs: 40 }],
    // The clock has been at 103, but the last id was made before that, in the tick the clock shows now.
    [
      'stepped back into a tick that is full',
      seen(100, 101, 100, 103),
      { kind: 'overflow', rollbackMs: 0, aheadMs: 1 },
    ],
    ['an observed id is later', observed(seen(100, 140), 140), { kind: 'observed', rollbackMs: 0, aheadMs: 40 }],
    ['made on from an observed id', observed(seen(100, 140), 120), { kind: 'observed', rollbackMs: 0, aheadMs: 40 }],
    ['passed an observed id', observed(seen(100, 140), 100), { kind: 'overflow', rollbackMs: 0, aheadMs: 40 }],
    [
      'an observed id is later, and the clock has stepped back',
      observed(seen(100, 140, 139, 120), 140),
      { kind: 'rollback', rollbackMs: 20, aheadMs: 40 },
    ],
    ['stepped back behind nothing that was issued', seen(100, 90, 90, 120), undefined],
  ])('%s', (_, observation, situation) => {
    expect(situationOf(observation, 1)).toEqual(situation)
  })

  it('is told in milliseconds, for each length of the tick', () => {
    expect(situationOf(seen(100, 105, 105, 105, 10), 10)).toMatchObject({ rollbackMs: 50, aheadMs: 50 })
  })
})

describe('the verdict', () => {
  const overflow = { kind: 'overflow' } as const
  const clock = { epochMs: 0, tickMs: 1, maxTick: 2000 }
  it.each<[string, RollbackAction | OverflowAction, Observation, Verdict]>([
    ['throw: how long until the word is passed', 'throw', seen(100, 107), { do: 'throw', retryAfterMs: 7 }],
    ['wait: at the limit', 'wait', seen(100, 150), { do: 'wait', untilTick: 150, waitMs: 50 }],
    ['wait: at the limit + 1', 'wait', seen(100, 151), { do: 'throw', retryAfterMs: 51 }],
    ['wait: at the limit + 2', 'wait', seen(100, 152), { do: 'throw', retryAfterMs: 52 }],
    ['advance: within its bound', 'advance', seen(100, 101), { do: 'grant', limitTick: 1100 }],
    ['advance: at its bound', 'advance', seen(100, 1100), { do: 'grant', limitTick: 1100 }],
    [
      'advance: at its bound + 1, until it is within again',
      'advance',
      seen(100, 1101),
      { do: 'wait', untilTick: 101, waitMs: 1 },
    ],
    [
      'advance: as far beyond as may be waited for',
      'advance',
      seen(100, 1150),
      { do: 'wait', untilTick: 150, waitMs: 50 },
    ],
    ['advance: further beyond', 'advance', seen(100, 1151), { do: 'throw', retryAfterMs: 51 }],
    ['advance: in the last tick of the layout', 'advance', seen(2000, 2000), { do: 'grant', limitTick: 3000 }],
    [
      'advance: beyond the last tick of the layout',
      'advance',
      seen(1990, 2001),
      { do: 'wait', untilTick: 2001, waitMs: 11 },
    ],
    [
      'reuse: try the past, and otherwise wait',
      'reuse',
      seen(100, 105),
      { do: 'unused', otherwise: { do: 'wait', untilTick: 105, waitMs: 5 } },
    ],
    [
      'reuse: try the past, and otherwise throw beyond the limit',
      'reuse',
      seen(100, 152),
      { do: 'unused', otherwise: { do: 'throw', retryAfterMs: 52 } },
    ],
  ])('%s', (_, action, observation, verdict) => {
    expect(judge(action, overflow, observation, policy, clock, true)).toEqual(verdict)
  })

  it('counts from the time within the tick', () => {
    const inTick = { ...seen(100, 101, 100, 100, 10), nowMs: 1007 }
    expect(judge('wait', overflow, inTick, policy, { epochMs: 0, tickMs: 10, maxTick: 2000 }, true)).toEqual({
      do: 'wait',
      untilTick: 101,
      waitMs: 3,
    })
    expect(judge('throw', overflow, inTick, policy, { epochMs: 0, tickMs: 10, maxTick: 2000 }, true)).toEqual({
      do: 'throw',
      retryAfterMs: 3,
    })
  })

  it('rounds maxAheadMs down to whole ticks', () => {
    const verdict = judge(
      'advance',
      overflow,
      seen(100, 101, 100, 100, 10),
      { ...policy, maxAheadMs: 19 },
      { epochMs: 0, tickMs: 10, maxTick: 2000 },
      true,
    )
    expect(verdict).toEqual({ do: 'grant', limitTick: 101 })
  })

  describe('on a wait, by whether it blocks, with maxWaitMs 50', () => {
    const waits = (ms: number, tickMs: number) => ({ do: 'wait', untilTick: 100 + ms / tickMs, waitMs: ms })
    const refuses = (ms: number) => ({ do: 'throw', retryAfterMs: ms })
    it.each<[string, Situation['kind'], number, number, boolean, object]>([
      ['a call that blocks: at the limit', 'overflow', 1, 50, true, waits(50, 1)],
      ['a call that blocks: at the limit + 1', 'overflow', 1, 51, true, refuses(51)],
      ['a call that blocks: a tick of a second', 'overflow', 1000, 1000, true, refuses(1000)],
      ['a call that blocks: a step back of a second, which is a tick', 'rollback', 1000, 1000, true, refuses(1000)],
      ['one that does not: a full tick beyond the limit', 'overflow', 1, 51, false, waits(51, 1)],
      ['one that does not: a tick of a second', 'overflow', 1000, 1000, false, waits(1000, 1000)],
      ['one that does not: ticks of a minute', 'overflow', 60_000, 180_000, false, waits(180_000, 60_000)],
      ['one that does not: a step back at the limit', 'rollback', 1, 50, false, waits(50, 1)],
      ['one that does not: a step back at the limit + 1', 'rollback', 1, 51, false, refuses(51)],
      ['one that does not: a step back of a second, which is a tick', 'rollback', 1000, 1000, false, waits(1000, 1000)],
      ['one that does not: a step back of two ticks', 'rollback', 1000, 2000, false, refuses(2000)],
      ['one that does not: a step back of an hour', 'rollback', 1, 3_600_000, false, refuses(3_600_000)],
    ])('%s', (_, kind, tickMs, waitMs, mayBlock, verdict) => {
      const observation = seen(100, 100 + waitMs / tickMs, 100 + waitMs / tickMs, 100, tickMs)
      expect(judge('wait', { kind }, observation, policy, { ...clock, tickMs }, mayBlock)).toEqual(verdict)
    })

    it.each([true, false])("is none if the policy is 'throw', even if the call may block: %s", (mayBlock) => {
      expect(judge('throw', overflow, seen(100, 101), policy, clock, mayBlock)).toEqual(refuses(1))
    })
  })
})
