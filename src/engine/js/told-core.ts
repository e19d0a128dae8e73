import type { CoreSpec, IdArray, Observation } from '../../state/engine.js'
import { JsCore } from './core.js'
import type { ThreadStates } from './thread-states.js'

/**
 * A core of a thread whose table no other thread reaches, so that a hook of another thread cannot raise the
 * generation in the table. A function tells of the hook, and raises the table's generation itself.
 */
export class ToldCore extends JsCore {
  readonly #isRaised: () => boolean

  /** @param isRaised - Raises the generation of the table if there is a new one; returns whether it has. */
  constructor(spec: CoreSpec, states: ThreadStates, reopen: (spec: CoreSpec) => JsCore, isRaised: () => boolean) {
    super(spec, states, reopen)
    this.#isRaised = isRaised
  }

  override step(): number {
    return this.#checked(() => super.step())
  }

  override machine(): number {
    return this.#checked(() => super.machine())
  }

  override observe(): Observation {
    return this.#checked(() => super.observe())
  }

  override grant(nowTick: number, limitTick: number): number {
    return this.#checked(() => super.grant(nowTick, limitTick))
  }

  override grantUnused(nowTick: number): number {
    return this.#checked(() => super.grantUnused(nowTick))
  }

  override fill(array: IdArray, from: number, to: number): number {
    return this.#checked(() => super.fill(array, from, to))
  }

  override fillGranted(array: IdArray, from: number, to: number, nowTick: number, limitTick: number): number {
    return this.#checked(() => super.fillGranted(array, from, to, nowTick, limitTick))
  }

  override fillUnused(array: IdArray, from: number, to: number, nowTick: number): number {
    return this.#checked(() => super.fillUnused(array, from, to, nowTick))
  }

  /**
   * Makes a call again if the generation has changed after the call took its slots
   * (`native/core/generation.h`). The second call finds the new generation in the table, and drops the run.
   */
  #checked<T>(call: () => T): T {
    const result = call()
    return this.#isRaised() ? call() : result
  }
}
