import { type Claimant, type ClaimClock, type Claims, countedNatively } from './claims.js'
import type { CoreSpec } from './engine.js'
import { isGivenBack, type State } from './state.js'

/**
 * How far ahead a ceiling is written, which takes some tenths of a millisecond. After a crash ids begin at the ceiling, so
 * it is well below the default of `maxAheadMs`.
 */
const windowMs = 500
/** How far above the ceiling of another process, where that is further ahead already. */
const leadMs = 50

/** A clock in slots of a layout. */
export class SlotClock implements ClaimClock {
  readonly #spec: CoreSpec
  /** Milliseconds since 1970. */
  readonly nowMs: () => number

  constructor(spec: CoreSpec, nowMs: () => number) {
    this.#spec = spec
    this.nowMs = nowMs
  }

  nowTick(): number {
    const { epochMs, tickMs } = this.#spec
    return Math.floor((this.nowMs() - epochMs) / tickMs)
  }

  nowSlot(): bigint {
    return this.#slotOf(this.nowTick())
  }

  /** Milliseconds until the next tick. */
  msLeft(): number {
    const { epochMs, tickMs } = this.#spec
    return epochMs + (this.nowTick() + 1) * tickMs - this.nowMs()
  }

  slotAfter(tick: number): bigint {
    return this.#slotOf(Math.max(tick, this.nowTick()) + 1)
  }

  ceilingFrom(floor: bigint, isOwn: boolean): bigint {
    const { maxTick, tickMs, sequenceBits } = this.#spec
    const floorTick = floor === 0n ? 0 : Number((floor - 1n) >> BigInt(sequenceBits))
    // Little above the floor of another process: those that are killed one after the other would lead away from the clock.
    const aboveMs = isOwn ? windowMs : leadMs
    const tick = Math.max(this.nowTick() + Math.ceil(windowMs / tickMs), floorTick + Math.ceil(aboveMs / tickMs))
    return this.#slotOf(Math.min(maxTick, tick) + 1)
  }

  #slotOf(tick: number): bigint {
    return BigInt(tick) << BigInt(this.#spec.sequenceBits)
  }
}

/** What this thread knows of the claim by which its process holds a key; all threads share the {@link State}. */
export class JsClaim {
  readonly #claims: Claims
  readonly #claimant: Claimant
  readonly #state: State
  readonly #clock: SlotClock
  readonly #hasInjectedClock: boolean
  /** When it was last asked whether the claim is still held. */
  #checkedTick = -1

  constructor(claims: Claims, token: string, state: State, spec: CoreSpec, nowMs: () => number) {
    this.#claims = claims
    this.#claimant = { key: spec.key, description: spec.description, token }
    this.#state = state
    this.#clock = new SlotClock(spec, nowMs)
    this.#hasInjectedClock = typeof spec.clock === 'function'
  }

  get isHeld(): boolean {
    return this.#state.claimStep !== 0
  }

  /** Where the claim is; undefined where there is none. */
  get path(): string | undefined {
    return this.isHeld ? this.#claims.pathOf(this.#claimant.key) : undefined
  }

  /**
   * Takes the key, and waits until the clock has reached what may be issued, one tick at the most: the first call of a
   * generator is not to find its tick used up.
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
    const isThere = this.#claims.isHeld(this.#claimant, this.#state.claimStep)
    // Another thread may have made a step in between, and removed the one that was looked for.
    const isFine = isThere || this.#claims.isHeld(this.#claimant, this.#state.claimStep) || this.take()
    this.#checkedTick = nowTick
    return isFine
  }

  /**
   * Takes the key for this process, or raises its ceiling.
   *
   * @param beginning - Where to begin if no former holder is known: a claim may have been deleted in this very tick, and its
   * holder go on until the tick is over.
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
    // Ids up to there may bear such a time, so a clock that shows less is behind.
    if (!isOwn && claimed.floor !== undefined && floor > 0n) state.raiseHighTick(state.tickOf(floor - 1n))
    state.raiseCeiling(ceiling)
    state.claimStep = step
    return true
  }

  /** Gives the key back, so that another process may have it at once. */
  release(): void {
    const state = this.#state
    // Before the word is given back: from then on another thread may make the next step.
    const step = state.claimStep
    if (step === 0) return
    const word = state.giveBack()
    state.forgetStep(step)
    if (word !== undefined) this.#claims.release(this.#claimant, step, word)
  }
}
