/**
 * The contract of both engines. An engine only reserves: it moves the state word and hands out the slots it passed over.
 * The policy (`src/policy`) decides whether the word may run ahead of the clock. It is the same for both.
 */

/** The outcomes of a call. The numbers are the ones of `native/core/generator.h`. */
export const Status = {
  ok: 0,
  /** The state word is ahead of the clock: ask the policy. */
  ahead: 1,
  beforeEpoch: 2,
  expired: 3,
  closed: 4,
  /** The next slot lies above the ceiling: wait for it to rise. */
  ceiling: 5,
  /** The state was lost, and no other can be had. */
  unavailable: 6,
} as const

/** An array that ids can be written to: a `BigUint64Array` or a `BigInt64Array` over an `ArrayBuffer`. */
export type IdArray = ReturnType<typeof BigUint64Array.of> | ReturnType<typeof BigInt64Array.of>

/** Where the state word stands against a fresh reading of the clock. */
export interface Observation {
  status: number
  nowMs: number
  /** -1 before the epoch. */
  nowTick: number
  /** Tick of the first slot that is free. */
  headTick: number
  /** Tick of the last slot that was issued; -1 where there is none. */
  lastTick: number
  /** The latest tick that the clock has shown to a reservation. */
  highTick: number
  /** Ids that this generator has made. */
  issued: number
  /** Tick of the first slot above the ceiling; -1 where there is none. */
  ceilingTick: number
}

/** The outcomes of waiting for a ceiling. The numbers are the ones of `native/host/durable_ceiling.h`. */
export const CeilingOutcome = { raised: 0, failed: 1, timeout: 2 } as const

export interface CeilingWaited {
  /** One of {@link CeilingOutcome}. */
  readonly outcome: number
  /** Which attempt to raise the ceiling the call waited for. */
  readonly attempt: number
}

/** One generator's access to an engine. */
export interface Core {
  /** The id of the last call that ended with `ok`. Getters, because the memory behind them is one per thread. */
  readonly id: bigint
  /** The same in two halves of 32 bits. */
  readonly idHigh: number
  readonly idLow: number

  /** Makes one id at the time the clock shows; a status. */
  step(): number
  /** Reads the clock afresh. The result is reused by the next call. */
  observe(): Observation
  /** Makes one id no later than `limitTick`, though the clock shows `nowTick`; a status. */
  grant(nowTick: number, limitTick: number): number
  /** Makes one id from what was left unused in the past tick `nowTick`; a status. */
  grantUnused(nowTick: number): number

  /** Fills `array[from]` up to, but not including, `array[to]` as far as the clock allows; how many were filled. */
  fill(array: IdArray, from: number, to: number): number
  fillGranted(array: IdArray, from: number, to: number, nowTick: number, limitTick: number): number
  fillUnused(array: IdArray, from: number, to: number, nowTick: number): number

  /**
   * Blocks until an attempt to raise the ceiling has ended, or for `blockMs`. To be called after `observe()`. An external
   * ceiling is not waited for: the outcome is `timeout` at once.
   *
   * @param attempt - 0 at first; what the last call returned, for a caller that goes on waiting.
   */
  awaitCeiling(attempt: number, blockMs: number): CeilingWaited
  /**
   * Lets every slot below `slot` be issued, in all threads of the process. Does nothing where the ceiling is as high already,
   * or the core is closed. Only for cores whose bound is `external`, which issue nothing before the first call.
   */
  raiseCeiling(slot: bigint): void
  /**
   * Lets no slot below `slot` be reserved any more, and counts `highTick` as shown by the clock. Threads still hand out
   * the runs that they have. Does nothing where the core is closed.
   *
   * @returns The word as it was before: the first slot that no reservation had taken before the call. Every id of the state
   * that any thread has made, or can still hand out of the runs it has, lies below it, and those of later calls lie at `slot`
   * or above. Where the core is closed, `slot`, which says that everything below may have been taken.
   * @throws GraupelError as {@link failure} says, where the state was lost.
   * @example
   * // Takes all that is left, so that nothing more is reserved in any thread: how far were slots used?
   * const end = core.raiseFloor(ceiling, highTick)
   */
  raiseFloor(slot: bigint, highTick: number): bigint
  /**
   * Goes on with another state; the one it had is left as `close()` leaves it. The same object, so that functions that were
   * made for it stay good, and `issued` counts on. Does nothing where the core is closed.
   *
   * Ids of the new state may be smaller than the last one, unless its floor is raised first. A ceiling that calls raise is the
   * one of the new state.
   *
   * @param spec - With another key and other node bits; layout, clock, bound and sequence start as before.
   * @throws what opening a core throws; the core then keeps the state it has.
   */
  moveTo(spec: CoreSpec): void
  /** Why the last call ended with `unavailable`, or a ceiling did not rise. */
  failure(): Error
  /**
   * The path of the page in which the word is, or of the claim that keeps other processes away; undefined where the word is
   * in memory of the process alone.
   */
  statePath(): string | undefined

  /** Every call after this one ends with `closed`. */
  close(): void
}

/** How a new tick's sequence begins. The numbers are the ones of `native/core/sequence_start.h`. */
export const startModes = { zero: 0, random: 1, rotate: 2 } as const
/** The first sequence number of a new tick: 0, a random one, or the next of a rotation. */
export type SequenceStartMode = keyof typeof startModes

/** Where the state word is. The numbers are the ones of `native/host/home.h`. */
export const places = { process: 0, host: 1 } as const
export type Place = keyof typeof places

/** What keeps the state word below a ceiling: nothing, a state file, or the calls of `raiseCeiling`. Numbers as above. */
export const bounds = { none: 0, file: 1, external: 2 } as const
export type Bound = keyof typeof bounds

/** What an engine needs to know, worked out by `src/engine/source/core-spec.ts`. */
export interface CoreSpec {
  /** Names the state (`src/engine/key.ts`). Equal keys share one word. */
  key: string
  /** The key in the state file; empty for other states. */
  fileKey: string
  /** The layout with its names (`src/engine/key.ts`). */
  description: string
  place: Place
  bound: Bound
  /** No other thread uses the node, so a thread that shares no memory with the others may count. */
  isThread: boolean
  /** The state file; empty for other bounds. */
  path: string
  /** How far ahead a ceiling is set. */
  windowTicks: number
  /** How long opening may wait for the locks of a state file, and for the first tick of a new state, in milliseconds. */
  lockMs: number
  /** The parent of the folder of pages; empty for the default. */
  stateFolder: string
  epochMs: number
  tickMs: number
  maxTick: number
  sequenceBits: number
  sequenceShift: number
  timestampShift: number
  /** The node's fields at their places. */
  nodeBits: bigint
  sequenceStart: SequenceStartMode
  /** For `sequenceStart: 'random'`; 32 bits. */
  seed: number
  /** Whether the marks of past ticks have to be kept. */
  history: boolean
  /** What the clock shows. */
  nowMs: number
  clock: 'wall' | 'steady' | (() => number)
}
