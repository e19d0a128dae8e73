import { type Core, type IdArray, Status } from '../engine/engine.js'
import type { Layout } from '../layout/index.js'
import type { PolicyRunner, Progress, Task } from '../policy/runner.js'
import { checkIdArray, isSigned, lengthOf, signError } from './array.js'

/** Ids that a call that must not block makes in one go. They take far less time than the shortest tick. */
const sliceLength = 16_384

/** The making of one id. */
export class OneTask implements Task {
  /** Kept here, because other calls overwrite the engine's id before the reader of the promise runs. */
  id = 0n
  readonly #core: Core

  constructor(core: Core) {
    this.#core = core
  }

  proceed(): Progress {
    return this.#keep(this.#core.step())
  }

  grant(nowTick: number, limitTick: number): Progress {
    return this.#keep(this.#core.grant(nowTick, limitTick))
  }

  unused(nowTick: number): Progress {
    return this.#keep(this.#core.grantUnused(nowTick))
  }

  #keep(status: number): Progress {
    if (status !== Status.ok) return 'none'
    this.id = this.#core.id
    return 'done'
  }
}

/** The filling of an array. */
export class FillTask implements Task {
  readonly #core: Core
  readonly #array: IdArray
  readonly #layout: Layout
  readonly #isSliced: boolean
  readonly #length: number
  #filled = 0
  /** The array has just been checked. */
  #isFresh: boolean

  /**
   * @param array - Checked by the caller.
   * @param isSliced - For a call that must not block: no more than {@link sliceLength} ids in one go.
   */
  constructor(core: Core, array: IdArray, layout: Layout, isSliced: boolean) {
    this.#core = core
    this.#array = array
    this.#layout = layout
    this.#isSliced = isSliced
    this.#isFresh = !isSliced
    this.#length = lengthOf(array)
  }

  get isDone(): boolean {
    return this.#filled === this.#length
  }

  /** Fills all of it at once, blocking where the policy waits. An error carries how far it got. */
  run(runner: () => PolicyRunner): void {
    try {
      if (!this.isDone && this.proceed() !== 'done') runner().run(this)
    } catch (error) {
      this.rethrow(error)
    }
  }

  /** Throws an error on, with how far the filling got. */
  rethrow(error: unknown): never {
    if (error instanceof Error && 'code' in error) Object.assign(error, { filled: this.#filled })
    throw error
  }

  proceed(): Progress {
    return this.#slice((to) => this.#core.fill(this.#array, this.#filled, to))
  }

  grant(nowTick: number, limitTick: number): Progress {
    return this.#slice((to) => this.#core.fillGranted(this.#array, this.#filled, to, nowTick, limitTick))
  }

  unused(nowTick: number): Progress {
    return this.#slice((to) => this.#core.fillUnused(this.#array, this.#filled, to, nowTick))
  }

  #slice(fill: (to: number) => number): Progress {
    // Again, because a clock or policy function, or other code that ran while this waited, may have transferred the array.
    if (!this.#isFresh) checkIdArray(this.#array)
    this.#isFresh = false
    const to = this.#isSliced ? Math.min(this.#length, this.#filled + sliceLength) : this.#length
    const made = fill(to)
    this.#filled += made
    if (made > 0 && isSigned(this.#array, this.#layout)) this.#refuseNegative()
    if (this.isDone) return 'done'
    return made > 0 ? 'some' : 'none'
  }

  /** The time of what was just filled may have passed 2^63 after the array was checked. */
  #refuseNegative(): void {
    const filled = this.#filled
    while (this.#filled > 0 && (this.#array[this.#filled - 1] as bigint) < 0n) this.#filled--
    if (this.#filled < filled) throw signError(this.#layout)
  }
}
