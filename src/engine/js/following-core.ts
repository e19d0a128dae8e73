import { type CeilingWaited, type Core, type CoreSpec, type IdArray, type Observation, Status } from '../engine.js'
import type { JsCore } from './core.js'

/** How a {@link FollowingCore} goes on. */
interface Openers {
  /** Opens the engine that counts a key in place of the js engine; throws where it cannot. */
  follow(spec: CoreSpec): Core
  /** Opens the core of another state. */
  move(spec: CoreSpec): Core
}

/**
 * The js engine of a generator for as long as that counts the key, and from then on the engine that has taken the key over:
 * a native generator of the same process does so.
 */
export class FollowingCore implements Core {
  #js: JsCore
  /** The js engine, or the one that counts in its place. */
  #core: Omit<Core, 'moveTo'>
  #spec: CoreSpec
  readonly #openers: Openers
  /** Ids that were made by others than `#core`. */
  #issuedBefore = 0
  #isClosed = false

  /** @throws what the openers throw, where another engine counts the key already. */
  constructor(js: JsCore, spec: CoreSpec, openers: Openers) {
    this.#js = js
    this.#core = js
    this.#spec = spec
    this.#openers = openers
    try {
      this.#follow()
    } catch (error) {
      this.#js.close()
      throw error
    }
  }

  get id(): bigint {
    return this.#core.id
  }

  get idHigh(): number {
    return this.#core.idHigh
  }

  get idLow(): number {
    return this.#core.idLow
  }

  // The hot path: one field and one comparison more than the js engine by itself, which is within 1 % of next().
  step(): number {
    const status = this.#core.step()
    return status !== Status.ok && this.#follow() ? this.#core.step() : status
  }

  observe(): Observation {
    let seen = this.#core.observe()
    if (this.#follow()) seen = this.#core.observe()
    seen.issued += this.#issuedBefore
    return seen
  }

  grant(nowTick: number, limitTick: number): number {
    const status = this.#core.grant(nowTick, limitTick)
    return status !== Status.ok && this.#follow() ? this.#core.grant(nowTick, limitTick) : status
  }

  grantUnused(nowTick: number): number {
    const status = this.#core.grantUnused(nowTick)
    return status !== Status.ok && this.#follow() ? this.#core.grantUnused(nowTick) : status
  }

  fill(array: IdArray, from: number, to: number): number {
    const filled = this.#core.fill(array, from, to)
    return from + filled < to && this.#follow() ? filled + this.#core.fill(array, from + filled, to) : filled
  }

  fillGranted(array: IdArray, from: number, to: number, nowTick: number, limitTick: number): number {
    const fill = (begin: number) => this.#core.fillGranted(array, begin, to, nowTick, limitTick)
    const filled = fill(from)
    return from + filled < to && this.#follow() ? filled + fill(from + filled) : filled
  }

  fillUnused(array: IdArray, from: number, to: number, nowTick: number): number {
    const filled = this.#core.fillUnused(array, from, to, nowTick)
    return filled === 0 && this.#follow() ? this.#core.fillUnused(array, from, to, nowTick) : filled
  }

  awaitCeiling(attempt: number, blockMs: number): CeilingWaited {
    return this.#core.awaitCeiling(attempt, blockMs)
  }

  raiseCeiling(slot: bigint): void {
    this.#core.raiseCeiling(slot)
    if (this.#follow()) this.#core.raiseCeiling(slot)
  }

  raiseFloor(slot: bigint, highTick: number): bigint {
    const former = this.#core.raiseFloor(slot, highTick)
    return this.#follow() ? this.#core.raiseFloor(slot, highTick) : former
  }

  moveTo(spec: CoreSpec): void {
    if (this.#isClosed) return
    const next = this.#openers.move(spec)
    const [js, core] = [this.#js, this.#core]
    // The clock of a js core is the user's, and is not asked.
    this.#issuedBefore += core === js ? js.issued : core.observe().issued
    this.#spec = spec
    if (next instanceof FollowingCore) {
      this.#js = next.#js
      this.#core = next.#core
    } else {
      this.#core = next
    }
    js.close()
    core.close()
  }

  failure(): Error {
    return this.#core.failure()
  }

  statePath(): string | undefined {
    return this.#core.statePath()
  }

  close(): void {
    this.#isClosed = true
    this.#js.close()
    this.#core.close()
  }

  /** Opens the other engine where the js engine has just said that it counts the key; whether it did. */
  #follow(): boolean {
    if (this.#core !== this.#js || !this.#js.hasMoved) return false
    this.#core = this.#openers.follow(this.#spec)
    this.#issuedBefore += this.#js.issued
    return true
  }
}
