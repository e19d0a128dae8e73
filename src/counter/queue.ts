import { closedError, GraupelError } from '../core/errors.js'
import { type Clock, sleep } from '../core/timing.js'
import type { StoreCalls } from '../stores/calls.js'
import type { Pace } from './pace.js'
import type { Moment } from './period.js'
import type { CounterProtocol } from './protocol.js'

/** The counts of one caller, in a row. */
export interface Taken {
  readonly first: number
  /** The time of counting, in milliseconds since 1970; 0 if no text needs it. */
  readonly timeMs: number
}

/** The options of the queue of a counter. */
export interface QueueRules {
  readonly name: string
  /** The last count that may be given. */
  readonly max: number
  /** Whether the time is needed. */
  readonly hasTime: boolean
  /** How long a call may meet conflicts, in milliseconds. */
  readonly conflictMs: number
  /** How long a call may wait for a store that does not answer, in milliseconds. */
  readonly answerMs: number
  /** How long a write has at least, in milliseconds. */
  readonly writeMs: number
}

/** Numbers that are given before other work has a turn. Their texts take some milliseconds. */
const turnLength = 16_384

/**
 * Divides the numbers that a process gives among turns of its event loop. The callers make texts of them at
 * once.
 */
export class Turns {
  readonly #clock: Pick<Clock, 'later'>
  #given = 0
  #next: Promise<void> | undefined

  constructor(clock: Pick<Clock, 'later'>) {
    this.#clock = clock
  }

  /** Whether the numbers of this turn are given. */
  get isOver(): boolean {
    return this.#given >= turnLength
  }

  /** Notes that numbers were given. */
  give(count: number): void {
    this.#given += count
  }

  /** Waits for the next turn, in which all counters that wait share the same numbers. */
  next(): Promise<void> {
    this.#next ??= sleep(this.#clock, 0).then(() => {
      this.#next = undefined
      this.#given = 0
    })
    return this.#next
  }
}

interface Caller {
  readonly count: number
  readonly sinceMs: number
  /** Monotonic milliseconds at which the call ends if the store does not answer. */
  untilMs: number
  /** Aborted by a caller that does not need its counts. */
  readonly signal: AbortSignal | undefined
  resolve(taken: Taken): void
  /** Rejects with the error, or with the reason of an aborted signal. */
  reject(error: unknown): void
}

/**
 * Serves the callers of a process in their order. Only a caller that held counts suffice for may come first.
 * One write takes the counts of all callers that wait; later callers wait for its end.
 */
export class CounterQueue {
  issued = 0
  writes = 0
  conflicts = 0
  readonly #calls: StoreCalls
  readonly #protocol: CounterProtocol
  readonly #rules: QueueRules
  readonly #clock: Pick<Clock, 'wallMs' | 'monotonicMs'>
  readonly #pace: Pace
  readonly #turns: Turns
  #waiting: Caller[] = []
  #isRunning = false
  #isClosed = false

  constructor(
    calls: StoreCalls,
    protocol: CounterProtocol,
    rules: QueueRules,
    clock: Pick<Clock, 'wallMs' | 'monotonicMs'>,
    pace: Pace,
    turns: Turns,
  ) {
    this.#calls = calls
    this.#protocol = protocol
    this.#rules = rules
    this.#clock = clock
    this.#pace = pace
    this.#turns = turns
  }

  /**
   * Takes counts in a row, by one write. If the signal is aborted before they are given, they are held for
   * the next callers.
   */
  take(count: number, signal?: AbortSignal): Promise<Taken> {
    return new Promise((resolve, reject) => {
      if (this.#isClosed) return reject(this.#closedError())
      if (signal?.aborted) return reject(signal.reason)
      const sinceMs = this.#clock.monotonicMs()
      const untilMs = sinceMs + this.#rules.answerMs
      const rejectOwn = (error: unknown) => reject(signal?.aborted ? signal.reason : error)
      this.#waiting.push({ count, sinceMs, untilMs, signal, resolve, reject: rejectOwn })
      if (!this.#isRunning) this.#run()
    })
  }

  /**
   * Rejects the calls that wait. A write that is under way ends, and its callers get their numbers, so that
   * none is missing.
   */
  close(): void {
    this.#isClosed = true
    this.#rejectAll(this.#waiting.splice(0), this.#closedError())
  }

  async #run(): Promise<void> {
    this.#isRunning = true
    // All calls of this turn are served together.
    await undefined
    while (this.#waiting.length > 0) {
      const nowMs = this.#clock.monotonicMs()
      // The pause leaves time for a write that the store does not answer.
      const restMs = leastUntilMs(this.#waiting) - nowMs - this.#rules.writeMs
      const pauseMs = Math.min(this.#pace.pauseMs(nowMs), restMs)
      if (pauseMs > 0) await this.#calls.wait(pauseMs)
      const served = this.#waiting.splice(0)
      // All were closed, or have left, during the pause.
      if (served.length === 0) break
      try {
        const left = await this.#serve(served)
        if (this.#isClosed) this.#rejectAll(left, this.#closedError())
        else this.#waiting = [...left, ...this.#waiting]
      } catch (error) {
        this.#rejectAll(served, error)
        this.#waiting = this.#refuseUnanswered(this.#waiting)
      }
    }
    this.#isRunning = false
  }

  /** Makes one write for all callers. Returns the callers that have to try again. */
  async #serve(callers: readonly Caller[]): Promise<Caller[]> {
    // The oldest call decides, unless the thread was busy for so long that the store had no time to answer.
    const untilMs = Math.max(leastUntilMs(callers), this.#clock.monotonicMs() + this.#rules.writeMs)
    const leftMs = () => untilMs - this.#clock.monotonicMs()
    // Read after the calls were made: a number is counted between its call and its answer, on the right side
    // of a boundary.
    const storeMs = this.#rules.hasTime ? await this.#calls.nowMs(undefined, undefined, leftMs()) : 0
    const nowMs = storeMs ?? this.#clock.wallMs()
    const moment = this.#protocol.momentAt(nowMs)
    const left = await this.#giveHeld(callers, moment)
    const fitting = this.#refuseOverflow(left, moment.period)
    if (fitting.length === 0 || this.#isClosed) return fitting
    const count = fitting.reduce((sum, caller) => sum + caller.count, 0)
    const startMs = this.#clock.monotonicMs()
    const hasLanded = await this.#protocol.write(moment.period, count, leftMs())
    const endMs = this.#clock.monotonicMs()
    if (hasLanded) {
      this.writes++
      this.#pace.landed(endMs - startMs)
      return this.#giveHeld(fitting, moment)
    }
    this.conflicts++
    this.#pace.conflicted(endMs - startMs, endMs)
    // An earlier write of this process may have landed, and nobody calls after close().
    if (this.#isClosed) return this.#giveHeld(fitting, moment)
    return this.#refuseLate(fitting, endMs)
  }

  /**
   * Gives counts that have landed. Returns the callers that got none. A caller that was aborted is removed,
   * and its counts stay held.
   */
  async #giveHeld(callers: readonly Caller[], { period, timeMs }: Moment): Promise<Caller[]> {
    const left: Caller[] = []
    for (const caller of callers) {
      while (this.#turns.isOver) await this.#turns.next()
      const { count, signal, resolve, reject } = caller
      if (signal?.aborted) {
        reject(signal.reason)
        continue
      }
      const first = this.#protocol.giveHeld(period, count)
      if (first === undefined) {
        left.push(caller)
        continue
      }
      this.issued += count
      this.#turns.give(count)
      resolve({ first, timeMs })
    }
    return left
  }

  /** Refuses the callers that would exceed the last count. Returns the others. */
  #refuseOverflow(callers: readonly Caller[], period: string): Caller[] {
    const { name, max } = this.#rules
    let next = this.#protocol.nextOf(period)
    return refuse(callers, ({ count }) => {
      if (count <= max + 1 - next) {
        next += count
        return undefined
      }
      const asked =
        count === 1
          ? `the next count of '${name}' is ${next}`
          : `${count} counts of '${name}' from ${next} on were asked for`
      const rule = `the last one is ${max}; nothing was counted: give {count} more digits, or use a new name`
      return new GraupelError('ERR_COUNTER_OVERFLOW', `${asked}, and ${rule}`)
    })
  }

  /**
   * Refuses the callers that waited behind a failed write, and have too little time for another write. In
   * one write with other callers, they would make that write end too early. Returns the other callers.
   */
  #refuseUnanswered(callers: readonly Caller[]): Caller[] {
    const { name, writeMs } = this.#rules
    const nowMs = this.#clock.monotonicMs()
    return refuse(callers, ({ untilMs, sinceMs }) => {
      if (untilMs - nowMs >= writeMs) return undefined
      const waited = `waited for ${Math.round(nowMs - sinceMs)} ms behind a write that has failed`
      const text = `a call of the counter '${name}' ${waited}; nothing was counted: call again`
      return new GraupelError('ERR_STORE_UNAVAILABLE', text)
    })
  }

  /**
   * Refuses the callers that have met conflicts for too long. Returns the others, whose time begins anew,
   * because the store has answered.
   */
  #refuseLate(callers: readonly Caller[], nowMs: number): Caller[] {
    const { name, conflictMs, answerMs } = this.#rules
    return refuse(callers, (caller) => {
      caller.untilMs = nowMs + answerMs
      if (nowMs - caller.sinceMs < conflictMs) return undefined
      const lost = `the counter '${name}' lost every write to other processes for ${conflictMs} ms`
      const text = `${lost}; nothing was counted: take several numbers by one call`
      return new GraupelError('ERR_STORE_UNAVAILABLE', text)
    })
  }

  #rejectAll(callers: readonly Caller[], error: unknown): void {
    // A promise that has resolved ignores this.
    for (const { reject } of callers) reject(error)
  }

  #closedError(): GraupelError {
    return closedError(`the counter '${this.#rules.name}'`)
  }
}

/** Returns the monotonic milliseconds at which the first of the calls ends. */
function leastUntilMs(callers: readonly Caller[]): number {
  return callers.reduce((least, { untilMs }) => Math.min(least, untilMs), Number.POSITIVE_INFINITY)
}

/** Rejects the callers that have an error. Returns the others. */
function refuse(callers: readonly Caller[], errorOf: (caller: Caller) => GraupelError | undefined): Caller[] {
  return callers.filter((caller) => {
    const error = errorOf(caller)
    if (error !== undefined) caller.reject(error)
    return error === undefined
  })
}
