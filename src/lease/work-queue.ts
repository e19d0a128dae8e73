import { next, type Phase, type PhaseEvent } from './phase.js'

/**
 * The phase of a lease, and the queue of its work: renewals, and the calls of the program. New work aborts
 * the work before, and begins when that has ended. Work that is aborted changes no phase, because the call
 * that has aborted it has decided the phase.
 */
export class WorkQueue {
  #phase: Phase = 'acquiring'
  #current = new AbortController()
  #last: Promise<void> = Promise.resolve()
  #idle: Promise<void> = Promise.resolve()

  get phase(): Phase {
    return this.#phase
  }

  /** The work that was begun last. */
  get last(): Promise<void> {
    return this.#last
  }

  /** Resolves when all work has ended, also if it has failed. */
  get idle(): Promise<void> {
    return this.#idle
  }

  /** Changes the phase. @returns whether the event changes it */
  enter(event: PhaseEvent): boolean {
    const phase = next(this.#phase, event)
    if (phase !== undefined) this.#phase = phase
    return phase !== undefined
  }

  /** Changes the phase by the outcome of work, unless the work is aborted. */
  leave(event: PhaseEvent, { aborted }: AbortSignal): void {
    if (!aborted) this.enter(event)
  }

  /** Aborts the work that is under way, and begins other work after it. @param reason - Of the signal. */
  begin(work: (signal: AbortSignal) => Promise<void>, reason?: unknown): Promise<void> {
    const before = this.#current
    this.#current = new AbortController()
    const { signal } = this.#current
    const last = this.#idle.then(() => work(signal))
    this.#last = last
    this.#idle = last.catch(() => {})
    // A store that hears of it may call the lease again.
    before.abort(reason)
    return last
  }
}
