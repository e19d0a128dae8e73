import type { CallClock } from '../../src/stores/calls.js'
import type { Random } from '../support/random.ts'

interface Surroundings {
  readonly time: CallClock
  readonly random: Random
  note(process: number | undefined, node: number | undefined, text: () => string): void
}

/**
 * A process from its start to its crash, with its timers. It may be stopped for a while, and cut off from the
 * server.
 */
export class Machine implements CallClock {
  readonly number: number
  isCut = false
  isDead = false
  #pausedUntilMs = 0
  readonly #surroundings: Surroundings
  readonly #pauseMs: number
  readonly #longPauseMs: number

  /** @param pauseMs - The longest of its short pauses. @param longPauseMs - All of its long pauses. */
  constructor(number: number, surroundings: Surroundings, pauseMs: number, longPauseMs = 25_000) {
    this.number = number
    this.#surroundings = surroundings
    this.#pauseMs = pauseMs
    this.#longPauseMs = longPauseMs
  }

  get isStopped(): boolean {
    return this.isDead || this.#pausedUntilMs > this.monotonicMs()
  }

  monotonicMs(): number {
    return this.#surroundings.time.monotonicMs()
  }

  random(): number {
    return this.#surroundings.random()
  }

  /**
   * Sets a timer. Timers of a stopped process wait until it resumes, and timers of a dead process never fire.
   */
  later(callback: () => void, ms: number): () => void {
    const { time, random } = this.#surroundings
    const fire = () => {
      if (this.isDead) return
      const leftMs = this.#pausedUntilMs - this.monotonicMs()
      if (leftMs <= 0) callback()
      // Timers fire in any order after a stop, as on a real system, and soon after the faults have ended.
      else cancel = time.later(fire, Math.min(leftMs, 5000) + random())
    }
    let cancel = time.later(fire, ms)
    return () => cancel()
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.later(resolve, ms))
  }

  /** Calls back while the process is not stopped: at once, or later. Never calls back if it is dead. */
  whenAwake(callback: () => void): void {
    if (!this.isStopped) callback()
    else if (!this.isDead) this.later(callback, 0)
  }

  /** Resolves while the process is not stopped. Never resolves if it is dead. */
  awake(): Promise<void> {
    return new Promise((resolve) => this.whenAwake(resolve))
  }

  pause(when: string): void {
    const { random, note } = this.#surroundings
    const ms = random() < 0.5 ? random() * this.#pauseMs : this.#longPauseMs
    this.#pausedUntilMs = Math.max(this.#pausedUntilMs, this.monotonicMs() + ms)
    note.call(this.#surroundings, this.number, undefined, () => `is stopped ${when} for ${Math.round(ms)} ms`)
  }

  /** Ends the faults of the process. */
  recover(): void {
    this.isCut = false
    this.#pausedUntilMs = 0
  }
}
