/**
 * The contract of both engines. An engine only reserves: it moves the state word and hands out what it passed over.
 * Whether the word may run ahead of the clock is the policy's business (`src/policy`), which is the same for both.
 */

/** What a call ended with. The numbers are the ones of `native/core/generator.h`. */
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

/** Where an engine writes ids: arrays over an `ArrayBuffer`, spelt so that TypeScript before 5.7 can read it. */
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
  /** The latest tick that the clock has shown to anybody who reserved. */
  highTick: number
  /** Ids that this generator made. */
  issued: number
  /** Tick of the first slot above the ceiling; -1 where there is none. */
  ceilingTick: number
}

/** What waiting for a ceiling ended with. */
export const CeilingOutcome = { raised: 0, failed: 1, timeout: 2 } as const

/** Somebody who waits for a ceiling to rise. */
export interface CeilingWait {
  /** Set by the engine: which attempt it is that is waited for; 0 at first. */
  attempt: number
}

/** One generator's access to an engine. */
export interface Core {
  /** The id of the last call that ended with `ok`. Getters, because what is behind them is one per thread. */
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

  /** Blocks until an attempt to raise the ceiling has ended, or for `blockMs`; one of {@link CeilingOutcome}. To be called after `observe()`. */
  awaitCeiling(wait: CeilingWait, blockMs: number): number
  /** Why the last call ended with `unavailable`, or a ceiling did not rise. */
  failure(): Error
  /** The path of the page in which the word is, or of the claim by which other processes are kept away; undefined where it is in the process alone. */
  memory(): string | undefined

  /** Every call after this one ends with `closed`. */
  close(): void
}

/** How a new tick's sequence begins. The numbers are the ones of `native/core/sequence_start.h`. */
export const startModes = { zero: 0, random: 1, rotate: 2 } as const
export type SequenceStartMode = keyof typeof startModes

/** Where a state is kept. The numbers are the ones of `native/core/home.h`. */
export const places = { process: 0, host: 1, file: 2 } as const
export type Place = keyof typeof places

/** What an engine needs to know, checked and worked out by `src/options.ts`. */
export interface CoreSpec {
  /** Names the state: clock, geometry of the layout, node, namespace. Equal keys share one word. */
  key: string
  /** The layout with its names, for those who look at a page; JSON. */
  description: string
  place: Place
  /** No other thread uses the node, so a thread that cannot reach the others may count. */
  isThread: boolean
  /** The state file; empty for other states. */
  path: string
  /** How far ahead a ceiling is set. */
  windowTicks: number
  /** How long opening a state file may wait for the locks of others, in milliseconds. */
  lockMs: number
  /** In which the folder of pages is; empty for the usual one. */
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
