// The contract of both engines. An engine only reserves: it moves the state word, and hands out the slots
// that the word passes. The policy (`src/policy`) decides whether the word may run ahead of the clock; both
// engines have the same policy. The numbers are the numbers of the C++ headers; `test/engine/numbers.test.ts`
// compares them.

/** The outcomes of a call, as in `native/core/state.h`. */
export const Status = {
  ok: 0,
  /** The state word is ahead of the clock: ask the policy. */
  ahead: 1,
  beforeEpoch: 2,
  expired: 3,
  closed: 4,
  /** The next slot lies above the ceiling: wait for it to rise. */
  ceiling: 5,
  /** The state was lost, and cannot be replaced. */
  unavailable: 6,
  /** The machine was copied since the state was acquired, so another machine may have its slots. */
  cloned: 7,
  /** The word has risen above an observed id. */
  raised: 9,
} as const

/** An array that ids can be written to: a `BigUint64Array` or a `BigInt64Array` over an `ArrayBuffer`. */
export type IdArray = ReturnType<typeof BigUint64Array.of> | ReturnType<typeof BigInt64Array.of>

/** A fresh reading of the clock, and the state word beside it. */
export interface Observation {
  status: number
  nowMs: number
  /** The tick of `nowMs`; -1 before the epoch. */
  nowTick: number
  /** Tick of the first free slot. */
  headTick: number
  /** Tick of the last slot that was issued; -1 if there is none. */
  lastTick: number
  /** The latest tick that the clock has shown to a reservation. */
  highTick: number
  /** The latest tick to which observed ids have led the word, with the ids made from there on. */
  observedTick: number
  /** Ids that this generator has made. */
  issued: number
  /** Tick of the first slot above the ceiling; -1 if there is no ceiling. */
  ceilingTick: number
}

/** An observation before the first one. Each engine writes all its observations into one copy of it. */
export const noObservation: Readonly<Observation> = {
  status: 0,
  nowMs: 0,
  nowTick: 0,
  headTick: 0,
  lastTick: 0,
  highTick: 0,
  observedTick: 0,
  issued: 0,
  ceilingTick: -1,
}

/** The outcomes of waiting for a ceiling, as in `native/host/durable_ceiling.h`. */
export const CeilingOutcome = { raised: 0, failed: 1, timeout: 2 } as const

/** The result of waiting for a ceiling. */
export interface CeilingWaited {
  /** One of {@link CeilingOutcome}. */
  readonly outcome: number
  /** Number of the round that the call waited for. */
  readonly round: number
}

/** Slots that a core has reserved: `count` from a sequence number of a tick on, in consecutive ticks. */
export interface Reservation {
  /** How many reservations the core has made on its present state; 0 for none, and if it is closed. */
  readonly number: number
  readonly tick: number
  readonly sequence: number
  readonly count: number
}

/**
 * Slots that a policy allows: those up to `limitTick`, although the clock shows `nowTick`; or the unused
 * slots of the past tick `nowTick`, if there is no limit.
 */
export interface Permit {
  readonly nowTick: number
  readonly limitTick?: number
}

/** The bounds of a state: later reservations take slots from the floor on, and below the ceiling. */
export interface Bounds {
  /** The floor; by default it stays. */
  readonly floor?: bigint
  /** A tick that counts as shown by the clock, because ids below the floor may have its time. */
  readonly highTick?: number
  /** A tick to which an observed id leads the word. */
  readonly observedTick?: number
  /** The ceiling; by default it stays. Only the state of a lease has one, and issues nothing before. */
  readonly ceiling?: bigint
}

/** Facts about the state of a core, for messages and debugging. */
export interface CoreReport {
  /**
   * The path of the page that has the word, or of the claim; `undefined` if the word is in memory of this
   * process alone.
   */
  readonly path: string | undefined
  /** Why the last call ended with `unavailable`, or a ceiling did not rise. */
  readonly failure: Error
  /** The last reservation on the present state. Slots above 2^53 are rounded. */
  readonly reservation: Reservation
}

/** One generator's access to an engine. */
export interface Core {
  /**
   * The id of the last call that ended with `ok`. A getter, because all generators of a thread share the
   * memory behind it.
   */
  readonly id: bigint
  /** The halves of `id`, 32 bits each. */
  readonly idHigh: number
  readonly idLow: number

  /** Makes one id at the time that the clock shows; returns a status. */
  takeOne(): number
  /** Reads the present generation of the machine (`native/core/generation.h`). */
  generation(): number
  /** Reads the clock afresh. The next call reuses the result. */
  observe(): Observation
  /** Makes one id that a policy allows; returns a status. */
  grant(permit: Permit): number
  /**
   * Fills `array[from]` up to, but not including, `array[to]` as far as the clock allows, or the policy;
   * returns how many it filled.
   */
  fill(array: IdArray, from: number, to: number, permit?: Permit): number

  /**
   * Lets every later id of this thread on this state be larger than an id of the layout, whose timestamp is
   * the most significant field. Other threads follow with their next reservation.
   *
   * @param aheadTicks - How many ticks the id may be after the clock's tick. If the word is above the id
   * already, the clock is not asked.
   * @returns `ok`; `raised` if the word had to rise; `ahead` if the id is too far ahead; `expired` if the
   * node has no larger id. Nothing has changed unless it is `ok` or `raised`.
   */
  exceed(id: bigint, aheadTicks: number): number

  /**
   * Blocks until a round of raising the ceiling has ended, or for `blockMs`. Called after `observe()`. For
   * the ceiling of a lease the outcome is `timeout` at once.
   *
   * @param round - 0 at first; the round that the last call returned, if the caller continues to wait.
   */
  awaitCeiling(round: number, blockMs: number): CeilingWaited
  /**
   * Raises the bounds of the state, in all threads of the process. Threads still hand out the runs that they
   * have. Does nothing to a bound that is already as high, or if the core is closed.
   *
   * @returns The former word: the first slot that no reservation had taken before the call. Every id that a
   * thread has made, or can still make of its run, lies below the former word. If the core is closed, the
   * floor, because every slot below it may have been taken.
   * @throws GraupelError the failure of {@link CoreReport}, if the state was lost.
   * @example
   * // Prevents every later reservation, and tells how far slots were used.
   * const end = core.raise({ floor: ceiling })
   */
  raise(bounds: Bounds): bigint
  /**
   * Continues with another state, and leaves the former state as `close()` does. The core stays the same
   * object, so functions that were made for it stay valid, and `issued` continues. Does nothing if the core
   * is closed.
   *
   * Ids of the new state may be smaller than the last id, unless its floor is raised first. The ceiling of a
   * lease belongs to the new state afterwards.
   *
   * @param spec - A spec with another key and other node bits, but the same layout, clock, kind of state and
   * sequence start.
   * @throws as opening a core does; the core then keeps its state.
   */
  moveTo(spec: CoreSpec): void
  /**
   * Makes a core of the same generator: it shares the state, the runs and what a policy has obtained. Only
   * its count of issued ids is its own. To be closed before this core, and to `follow` after `moveTo`.
   *
   * @param tagBits - The tags, shifted as in an id; its ids have them, too.
   */
  view(tagBits: bigint): Core
  /** Continues with the state to which the core of a view has moved. */
  follow(): void
  report(): CoreReport
  /** Every call after this one ends with `closed`. */
  close(): void
}

/** The modes of a sequence start, as in `native/core/sequence_start.h`. */
export const startModes = { zero: 0, random: 1, rotate: 2 } as const
/** The first sequence number of a new tick: 0, a random one, or the next of a rotation. */
export type SequenceStartMode = keyof typeof startModes

/**
 * The memory that has the state word, and the bound of the word.
 *
 * - `process`: memory of this process
 * - `thread`: the same, and no other thread uses the node, so a thread without shared memory may count
 * - `host`: memory that the processes of this user share; a page of the native engine, and a claim of the js
 *   engine, which shares no memory with other processes
 * - `file`: a page, below the ceiling of a state file
 * - `lease`: memory of this process, below the ceiling that a lease raises
 */
export type StateSpec =
  | { readonly kind: 'process' | 'thread' | 'host' | 'lease' }
  | {
      readonly kind: 'file'
      readonly path: string
      /** The key in the file. */
      readonly fileKey: string
      /** How far ahead of the clock the file's ceiling is. */
      readonly reserveTicks: number
    }

/** The state that an engine opens, and its limits; `src/engine/source/core-spec.ts` makes it. */
export interface CoreSpec {
  /** Names the state (`src/state/key.ts`). Equal keys have one state. */
  key: string
  /** The layout with its names (`src/state/key.ts`). */
  description: string
  state: StateSpec
  /**
   * Milliseconds that opening may wait for the locks of a state file, and for the first tick of a new state.
   */
  openTimeoutMs: number
  /** The parent of the folder of pages; empty for the default. */
  stateFolder: string
  epochMs: number
  tickMs: number
  maxTick: number
  sequenceBits: number
  sequenceShift: number
  timestampShift: number
  /** The node's fields, shifted as in an id. */
  nodeBits: bigint
  sequenceStart: SequenceStartMode
  /** For `sequenceStart: 'random'`; 32 bits. */
  seed: number
  /** Whether the marks of past ticks are kept, for `onRollback: 'reuse'`. */
  history: boolean
  /** The present reading of the clock. */
  nowMs: number
  /** The generation of the machine at which the state was acquired: `readGeneration()` of `generation.ts`. */
  generation: number
  clock: 'wall' | 'steady' | (() => number)
}
