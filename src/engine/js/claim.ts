import type { Claimant, Claims } from '../../state/claims.js'
import type { CoreSpec } from '../../state/engine.js'
import { tooEarly } from '../../state/errors.js'
import { SlotClock } from '../slots.js'
import { isGivenBack } from './shared-claim.js'
import type { State } from './state.js'

/** A thread's view of the claim by which its process holds a key. All threads share the {@link State}. */
export class JsClaim {
  readonly #claims: Claims
  readonly #claimant: Claimant
  readonly #state: State
  readonly #clock: SlotClock
  /** The tick in which the claim was last looked for. */
  #checkedTick = -1

  constructor(claims: Claims, owner: string, state: State, spec: CoreSpec, nowMs: () => number) {
    this.#claims = claims
    this.#claimant = { key: spec.key, description: spec.description, owner }
    this.#state = state
    this.#clock = new SlotClock(spec, nowMs)
  }

  get isHeld(): boolean {
    return this.#state.claim.step !== 0 && !isGivenBack(this.#state.word())
  }

  /** The path of the claim; `undefined` while the process does not hold the claim. */
  get path(): string | undefined {
    return this.isHeld ? this.#claims.pathOf(this.#claimant.key) : undefined
  }

  /**
   * Takes the key. Waits if the first id belongs to the next tick, because the generator's first call would
   * find its tick used up.
   *
   * @param maxWaitMs - How long to wait.
   * @throws as `take`; GraupelError `ERR_STATE_UNAVAILABLE` if the tick begins later
   */
  open(sleep: (ms: number) => void, maxWaitMs: number): void {
    this.take()
    const { path = '' } = this
    let waitedMs = 0
    while (this.#state.word() === this.#clock.slotAfter(0)) {
      const ms = this.#clock.msLeft() + 1
      if (waitedMs + ms > maxWaitMs) throw tooEarly('claim', path, ms)
      sleep(ms)
      waitedMs += ms
    }
  }

  /**
   * Takes the key again if the claim was deleted. Called before each reservation; looks once a tick. @throws
   * as `take`
   */
  check(nowTick: number): void {
    if (nowTick === this.#checkedTick || !this.isHeld) return
    const isThere = () => this.#claims.isHeld(this.#claimant, this.#state.claim.step)
    // Twice, because another thread may have made a step meanwhile, and removed the step that was looked for.
    if (!isThere() && !isThere()) this.take()
    this.#checkedTick = nowTick
  }

  /** Takes the key for this process, or raises its ceiling. @throws GraupelError as {@link Claims} says */
  take(): void {
    const state = this.#state
    const before = state.word()
    const { from, step, isOwn, floor, ceiling } = this.#claims.take(this.#claimant, this.#clock, state.claim)
    const isTakenUp = isGivenBack(before) && state.takeUp(before, floor)
    if (!isOwn) {
      // The key was given back meanwhile, as at the end of the process. The step has no floor then, so no
      // thread may use it.
      if (!isTakenUp && state.raiseFloor(floor) === undefined) return
      // Ids below the floor may have the time of the floor, so a clock that shows an earlier time is behind.
      if (floor > 0n) state.raiseHighTick(state.tickOf(floor - 1n))
    }
    state.claim.raiseCeiling(ceiling)
    // Another thread has made a step meanwhile. If the claim was deleted in between, the ceiling of that step
    // may be below the ceiling that was just raised, so it is raised as well.
    if (!state.claim.moveStep(from, step)) this.take()
  }

  /** Gives the key back, so that another process can take it at once. */
  release(): void {
    const state = this.#state
    // Read before the word is given back: after that, another thread may make the next step.
    const step = state.claim.step
    if (step === 0) return
    const word = state.claim.giveBack()
    if (word !== undefined) this.#claims.release(this.#claimant, step, word)
  }
}
