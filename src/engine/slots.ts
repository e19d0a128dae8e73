import type { ClaimClock } from '../state/claims.js'
import type { CoreSpec } from '../state/engine.js'

/**
 * The slots of one layout: `tick << sequenceBits | sequence`. They have up to 64 bits, so they are bigints.
 */
export class Slots {
  /** How many sequence numbers a tick has. */
  readonly capacity: number
  readonly #bits: bigint
  readonly #sequenceBits: number

  constructor(sequenceBits: number) {
    this.capacity = 2 ** sequenceBits
    this.#bits = BigInt(sequenceBits)
    this.#sequenceBits = sequenceBits
  }

  at(tick: number, sequence: number): bigint {
    return (BigInt(tick) << this.#bits) + BigInt(sequence)
  }

  tickOf(slot: bigint): number {
    return Number(slot >> this.#bits)
  }

  sequenceOf(slot: bigint): number {
    return Number(BigInt.asUintN(this.#sequenceBits, slot))
  }
}

/** Consecutive slots of a reservation. The sequence carries into the next tick. */
export interface SlotRange {
  /** Tick and sequence number of the first slot. */
  tick: number
  sequence: number
  count: number
}

/**
 * How far ahead of the clock a claim's ceiling is written. Writing it takes some tenths of a millisecond.
 * After a crash ids begin at the ceiling, so this is well below the default of `maxAheadMs`.
 */
const reserveMs = 500
/** Distance above another process's ceiling, if that ceiling is already ahead of the clock. */
const leadMs = 50

/** A clock that is read in slots of a layout. */
export class SlotClock implements ClaimClock {
  /** A spec would keep the program's clock function for the life of the thread. */
  readonly #ticks: Pick<CoreSpec, 'epochMs' | 'tickMs' | 'maxTick'>
  readonly #slots: Slots
  readonly #nowMs: () => number

  /** @param nowMs - The clock; milliseconds since 1970. */
  constructor({ epochMs, tickMs, maxTick, sequenceBits }: CoreSpec, nowMs: () => number) {
    this.#ticks = { epochMs, tickMs, maxTick }
    this.#slots = new Slots(sequenceBits)
    this.#nowMs = nowMs
  }

  get maxTick(): number {
    return this.#ticks.maxTick
  }

  get endSlot(): bigint {
    return this.#slots.at(this.maxTick + 1, 0)
  }

  nowSlot(): bigint {
    return this.#slots.at(this.#nowTick(), 0)
  }

  /** The first slot of a tick. */
  startOf(tick: number): bigint {
    return this.#slots.at(tick, 0)
  }

  /** Milliseconds until the next tick. */
  msLeft(): number {
    const { epochMs, tickMs } = this.#ticks
    return epochMs + (this.#nowTick() + 1) * tickMs - this.#nowMs()
  }

  slotAfter(tick: number): bigint {
    return this.#slots.at(Math.max(tick, this.#nowTick()) + 1, 0)
  }

  ceilingFrom(floor: bigint, isOwn: boolean): bigint {
    const { maxTick, tickMs } = this.#ticks
    const floorTick = floor === 0n ? 0 : this.#slots.tickOf(floor - 1n)
    // Little above the floor of another process: a series of processes that are killed would lead away from
    // the clock.
    const aboveMs = isOwn ? reserveMs : leadMs
    const tick = Math.max(this.#nowTick() + Math.ceil(reserveMs / tickMs), floorTick + Math.ceil(aboveMs / tickMs))
    return this.#slots.at(Math.min(maxTick, tick) + 1, 0)
  }

  #nowTick(): number {
    const { epochMs, tickMs } = this.#ticks
    return Math.floor((this.#nowMs() - epochMs) / tickMs)
  }
}
