import { type Claimant, type Claims, countedNatively } from '../claims.js'
import type { CoreSpec } from '../engine.js'
import { SlotClock } from './slot-clock.js'
import type { State } from './state.js'
import { isGivenBack } from './word.js'

/** What this thread knows of the claim by which its process holds a key; all threads share the {@link State}. */
export class JsClaim {
  readonly #claims: Claims
  readonly #claimant: Claimant
  readonly #state: State
  readonly #clock: SlotClock
  readonly #hasInjectedClock: boolean
  /** The tick in which the claim was last looked for. */
  #checkedTick = -1

  constructor(claims: Claims, token: string, state: State, spec: CoreSpec, nowMs: () => number) {
    this.#claims = claims
    this.#claimant = { key: spec.key, description: spec.description, token }
    this.#state = state
    this.#clock = new SlotClock(spec, nowMs)
    this.#hasInjectedClock = typeof spec.clock === 'function'
  }

  get isHeld(): boolean {
    return this.#state.claim.step !== 0
  }

  /** Where the claim is; undefined where there is none. */
  get path(): string | undefined {
    return this.isHeld ? this.#claims.pathOf(this.#claimant.key) : undefined
  }

  /**
   * Takes the key, and waits until the clock has reached what may be issued, one tick at the most, so that the first call of a
   * generator does not find its tick used up.
   *
   * @returns As `take`. @throws as `take`
   */
  open(sleep: (ms: number) => void): boolean {
    return this.take(() => {
      const clock = this.#clock
      const nowMs = clock.nowMs()
      const next = clock.slotAfter(0)
      sleep(clock.msLeft() + 1)
      // A clock that a test has set to stand still has no next tick.
      return clock.nowMs() === nowMs ? clock.nowSlot() : next
    })
  }

  /**
   * Takes the key again where the claim was deleted; to be called before a reservation. Looks once in each tick.
   *
   * @returns False where the native engine counts the key. @throws as `take`
   */
  check(nowTick: number): boolean {
    if (!this.isHeld || nowTick === this.#checkedTick) return true
    const isThere = this.#claims.isHeld(this.#claimant, this.#state.claim.step)
    // Another thread may have made a step meanwhile, and removed the one that was looked for.
    const isFine = isThere || this.#claims.isHeld(this.#claimant, this.#state.claim.step) || this.take()
    this.#checkedTick = nowTick
    return isFine
  }

  /**
   * Takes the key for this process, or raises its ceiling.
   *
   * @param beginning - Where to begin if no former holder is known. A claim may have been deleted in this very tick, and its
   * holder goes on until the tick is over.
   * @returns False where the native engine of this process counts the key in a thread that shares no memory with this one.
   * @throws GraupelError as {@link Claims} says
   */
  take(beginning = () => this.#clock.slotAfter(0)): boolean {
    const state = this.#state
    const before = state.word()
    const claimed = this.#claims.take(this.#claimant, this.#clock)
    if (claimed === countedNatively) return false
    // The tick of an injected clock is not known to end.
    const { step, isOwn, floor = this.#hasInjectedClock ? 0n : beginning(), ceiling } = claimed
    if (isGivenBack(before)) state.takeUp(before, floor)
    else if (!isOwn) state.raiseFloor(floor)
    // Ids below the floor may have its time, so a clock that shows less is behind.
    if (!isOwn && claimed.floor !== undefined && floor > 0n) state.raiseHighTick(state.tickOf(floor - 1n))
    state.claim.raiseCeiling(ceiling)
    state.claim.step = step
    return true
  }

  /** Gives the key back, so that another process can take it at once. */
  release(): void {
    const state = this.#state
    // Before the word is given back: from then on another thread may make the next step.
    const step = state.claim.step
    if (step === 0) return
    const word = state.claim.giveBack()
    state.claim.forgetStep(step)
    if (word !== undefined) this.#claims.release(this.#claimant, step, word)
  }
}
