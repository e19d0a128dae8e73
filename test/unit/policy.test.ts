import { describe, expect, it } from 'vitest'
import type { Observation } from '../../dist/engine/engine.js'
import { judge, situationOf, type Verdict } from '../../dist/policy/judge.js'
import type { OverflowAction, Policy, RollbackAction } from '../../dist/policy/policy.js'

const policy: Policy = { onRollback: 'advance', onOverflow: 'wait', maxAheadMs: 1000, maxWaitMs: 50 }

/** The clock shows `now`, the next free slot is in `head`, the last one issued in `last`, the clock has shown `high`. */
const seen = (now: number, head: number, last = head, high = now, tickMs = 1): Observation => ({
  status: 0,
  nowMs: now * tickMs,
  nowTick: now,
  headTick: head,
  lastTick: last,
  highTick: high,
  issued: 0,
  ceilingTick: -1,
})

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
    ['stepped back behind nothing that was issued', seen(100, 90, 90, 120), undefined],
  ])('%s', (_, observation, situation) => {
    expect(situationOf(observation, 1)).toEqual(situation)
  })

  it('is told in milliseconds, whatever the tick', () => {
    expect(situationOf(seen(100, 105, 105, 105, 10), 10)).toMatchObject({ rollbackMs: 50, aheadMs: 50 })
  })
})

describe('the verdict', () => {
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
    ['reuse: try the past', 'reuse', seen(100, 105), { do: 'unused' }],
  ])('%s', (_, action, observation, verdict) => {
    expect(judge(action, observation, policy, clock)).toEqual(verdict)
  })

  it('counts from where the clock is in its tick', () => {
    const inTick = { ...seen(100, 101, 100, 100, 10), nowMs: 1007 }
    expect(judge('wait', inTick, policy, { epochMs: 0, tickMs: 10, maxTick: 2000 })).toEqual({
      do: 'wait',
      untilTick: 101,
      waitMs: 3,
    })
    expect(judge('throw', inTick, policy, { epochMs: 0, tickMs: 10, maxTick: 2000 })).toEqual({
      do: 'throw',
      retryAfterMs: 3,
    })
  })

  it('rounds maxAheadMs down to whole ticks', () => {
    const verdict = judge(
      'advance',
      seen(100, 101, 100, 100, 10),
      { ...policy, maxAheadMs: 19 },
      { epochMs: 0, tickMs: 10, maxTick: 2000 },
    )
    expect(verdict).toEqual({ do: 'grant', limitTick: 101 })
  })
})
