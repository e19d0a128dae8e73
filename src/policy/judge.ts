import type { Observation } from '../state/engine.js'
import type { OverflowAction, Policy, RollbackAction } from './policy.js'

/** How far the state word is ahead of the clock, and why. */
export interface Situation {
  kind: 'rollback' | 'observed' | 'overflow'
  rollbackMs: number
  aheadMs: number
}

/** Wait until the clock shows `untilTick`, `waitMs` from now, or throw. */
type Delay =
  | { readonly do: 'wait'; readonly untilTick: number; readonly waitMs: number }
  | { readonly do: 'throw'; readonly retryAfterMs: number }

/** The decision of a policy about a situation. */
export type Verdict =
  /** Go on counting, up to this tick. */
  | { readonly do: 'grant'; readonly limitTick: number }
  /** Take the unused slots of the tick that the clock shows. If there are none, do `otherwise`. */
  | { readonly do: 'unused'; readonly otherwise: Delay }
  | Delay

/**
 * Tells a rollback, an observed id and an overflow apart. Returns `undefined` if the word is not ahead.
 *
 * A clock that shows less than the latest tick it has shown (`highTick`) has stepped back. Otherwise an
 * observed id has led the word ahead (`observedTick`), or the ids made have.
 */
export function situationOf(seen: Observation, tickMs: number): Situation | undefined {
  if (seen.headTick <= seen.nowTick) return undefined
  const stepped = seen.lastTick > seen.nowTick && seen.highTick > seen.nowTick
  return {
    kind: stepped ? 'rollback' : seen.observedTick > seen.nowTick ? 'observed' : 'overflow',
    rollbackMs: stepped ? (seen.highTick - seen.nowTick) * tickMs : 0,
    aheadMs: (seen.headTick - seen.nowTick) * tickMs,
  }
}

/**
 * Decides what happens when the word is ahead of the clock, for both engines, and for calls that block and
 * calls that do not. Pure.
 *
 * @param mayBlock - Whether the call blocks while it waits.
 */
export function judge(
  action: RollbackAction | OverflowAction,
  { kind }: Pick<Situation, 'kind'>,
  seen: Observation,
  policy: Policy,
  clock: { readonly epochMs: number; readonly tickMs: number; readonly maxTick: number },
  mayBlock: boolean,
): Verdict {
  const startOf = (tick: number) => clock.epochMs + tick * clock.tickMs
  // The clock may be within its tick, so this is no multiple of the tick.
  const msUntil = (tick: number) => startOf(tick) - seen.nowMs
  // A call that does not block may wait for ticks to pass. After a step back it waits no longer than one
  // that blocks, or a tick: requests would pile up for as long as the clock is wrong.
  const maxMs = mayBlock
    ? policy.maxWaitMs
    : kind === 'rollback'
      ? Math.max(policy.maxWaitMs, clock.tickMs)
      : Number.POSITIVE_INFINITY
  const waitFor = (tick: number): Delay => {
    const waitMs = msUntil(tick)
    return waitMs <= maxMs ? { do: 'wait', untilTick: tick, waitMs } : { do: 'throw', retryAfterMs: waitMs }
  }
  switch (action) {
    case 'throw':
      return { do: 'throw', retryAfterMs: msUntil(seen.headTick) }
    case 'wait':
      return waitFor(seen.headTick)
    case 'reuse':
      return { do: 'unused', otherwise: waitFor(seen.headTick) }
    case 'advance': {
      // The layout has no slot after its last tick. When the clock has passed that, the layout has expired.
      if (seen.headTick > clock.maxTick) return waitFor(seen.headTick)
      const aheadTicks = Math.floor(policy.maxAheadMs / clock.tickMs)
      const limitTick = seen.nowTick + aheadTicks
      // Beyond the bound it is enough to wait until the next slot is within it again.
      return seen.headTick <= limitTick ? { do: 'grant', limitTick } : waitFor(seen.headTick - aheadTicks)
    }
  }
}
