import type { ClaimClock } from '../claims.js'
import type { CoreSpec } from '../engine.js'
import { Slots } from './slots.js'

/**
 * How far ahead of the clock a claim's ceiling is written, which takes some tenths of a millisecond. After a crash ids begin
 * at the ceiling, so this is well below the default of `maxAheadMs`.
 */
const windowMs = 500
/** Distance above another process's ceiling, if that ceiling is already ahead of the clock. */
const leadMs = 50

/** A clock in slots of a layout. */
export class SlotClock implements ClaimClock {
  readonly #spec: CoreSpec
  readonly #slots: Slots
  /** Milliseconds since 1970. */
  readonly nowMs: () => number

  constructor(spec: CoreSpec, nowMs: () => number) {
    this.#spec = spec
    this.#slots = new Slots(spec.sequenceBits)
    this.nowMs = nowMs
  }

  get maxTick(): number {
    return this.#spec.maxTick
  }

  get endSlot(): bigint {
    return this.#slots.at(this.maxTick + 1, 0)
  }

  nowTick(): number {
    const { epochMs, tickMs } = this.#spec
    return Math.floor((this.nowMs() - epochMs) / tickMs)
  }

  nowSlot(): bigint {
    return this.#slots.at(this.nowTick(), 0)
  }

  /** Milliseconds until the next tick. */
  msLeft(): number {
    const { epochMs, tickMs } = this.#spec
    return epochMs + (this.nowTick() + 1) * tickMs - this.nowMs()
  }

  slotAfter(tick: number): bigint {
    return this.#slots.at(Math.max(tick, this.nowTick()) + 1, 0)
  }

  ceilingFrom(floor: bigint, isOwn: boolean): bigint {
    const { maxTick, tickMs } = this.#spec
    const floorTick = floor === 0n ? 0 : this.#slots.tickOf(floor - 1n)
    // Little above the floor of another process: processes that are killed one after the other would lead away from the
    // clock.
    const aboveMs = isOwn ? windowMs : leadMs
    const tick = Math.max(this.nowTick() + Math.ceil(windowMs / tickMs), floorTick + Math.ceil(aboveMs / tickMs))
    return this.#slots.at(Math.min(maxTick, tick) + 1, 0)
  }
}
