import type { IdArray } from '../state/engine.js'

/**
 * Numbers that can be handed out at once. The core of an engine is such an object, and so is a batch that was
 * fetched.
 */
export interface ReadyNumbers {
  /** Takes the next number. Returns 0, or another number if none is ready. */
  takeOne(): number
  /** The number that the last `takeOne()` has taken. */
  readonly id: bigint
  /** The upper and the lower 32 bits of `id`, without a sign. */
  readonly idHigh: number
  readonly idLow: number
  /**
   * Takes numbers, and writes them to `array[from]` up to, but not including, `array[to]`. Returns how many
   * were ready. Takes none of them if the machine was copied since they were made ready.
   */
  fill(array: IdArray, from: number, to: number): number
  /**
   * Reads the generation of the machine (`native/core/generation.h`): if two readings are equal, no copy of
   * the machine has a number that was taken between them.
   */
  generation(): number
  /** Puts the last number back. Needed if `nextNumber()` may meet a number above 2^53 - 1. */
  putBack?(): void
}

/** Has no numbers: those of a generator or client whose tags have to be chosen. */
export const noNumbers: ReadyNumbers = {
  takeOne: () => 1,
  id: 0n,
  idHigh: 0,
  idLow: 0,
  fill: () => 0,
  generation: () => 0,
}

/** A call that needs more numbers than were ready. */
export interface Task {
  /** How many numbers are missing. */
  readonly missing: number
  /**
   * Takes the numbers that are ready. @param by - Takes them in another way than `takeOne()` and `fill()` do.
   */
  proceed(by?: Pick<ReadyNumbers, 'takeOne' | 'fill'>): Progress
}

/** How far a task got: to its end, somewhat, or not at all. */
export type Progress = 'done' | 'some' | 'none'

/**
 * The result of one try of a waiting task: the task is done, or is tried again at once, after some
 * milliseconds, or when a promise settles.
 */
export type Round = 'done' | 'again' | number | Promise<void>

/** Makes more numbers ready. */
export interface MoreNumbers {
  /** Finishes a task without a turn of the event loop. @throws if that is impossible */
  finish(task: Task): void
  /**
   * Tries a task that may wait. @param sinceMs - When its call was made, on the monotonic clock. @throws if
   * the task fails; the promise rejects if all tasks that wait fail.
   */
  round(task: Task, sinceMs: number): Round
  /**
   * Makes the error of one task from a rejection that all tasks have in common, because each gets its own
   * `filled`.
   */
  errorOf?(failure: unknown): unknown
}
