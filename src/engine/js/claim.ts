import type { Claimant, Claims } from '../../state/claims.js'
import type { CoreSpec } from '../../state/engine.js'
import { tooEarly } from '../../state/errors.js'
import { SlotClock } from '../slots.js'
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

  /** The path of the claim; `undefined` while the process does not hold the claim. */
  get path(): string | undefined {
    return this.#state.isClaimed ? this.#claims.pathOf(this.#claimant.key) : undefined
  }

  /**
   * Takes the key, unless the process has it. Waits if the first id belongs to the next tick, because the
   * generator's first call would find its tick used up.
   *
   * @param timeoutMs - How long to wait.
   * @throws as `take`; GraupelError `ERR_STATE_UNAVAILABLE` if the tick begins later
   */
  open(sleep: (ms: number) => void, timeoutMs: number): void {
    if (this.#state.isClaimed) return
    this.take()
    const { path = '' } = this
    let waitedMs = 0
    while (this.#state.word === this.#clock.slotAfter(0)) {
      const ms = this.#clock.msLeft() + 1
      if (waitedMs + ms > timeoutMs) throw tooEarly('claim', path, ms)
      sleep(ms)
      waitedMs += ms
    }
  }

  /**
   * Takes the key again if it was given back, or the claim was deleted. Called before each reservation; looks
   * for the claim once a tick. @throws as `take`
   */
  check(nowTick: number): void {
    const { isClaimed, link } = this.#state
    if (isClaimed ? nowTick === this.#checkedTick : link === 0) return
    const isThere = () => this.#claims.isHeld(this.#claimant, this.#state.link)
    // Twice, because another thread may have made a link meanwhile, and removed the link that was looked for.
    if (!isClaimed || (!isThere() && !isThere())) this.take(nowTick)
    this.#checkedTick = nowTick
  }

  /**
   * Takes the key for this process, or raises its ceiling above a tick, which may be of another clock than
   * that of the claim. @throws GraupelError as {@link Claims} says
   */
  take(tick = 0): void {
    const state = this.#state
    const wanted = this.#clock.startOf(tick)
    const { from, link, isOwn, floor, ceiling } = this.#claims.take(this.#claimant, this.#clock, state, wanted)
    if (!isOwn) {
      state.raiseFloor(floor)
      // Ids below the floor may have the time of the floor, so a clock that shows an earlier time is behind.
      if (floor > 0n) state.raiseHighTick(state.tickOf(floor - 1n))
    }
    state.raiseCeiling(ceiling)
    if (state.moveLink(from, link)) state.markClaimed()
    // Another thread has made a link meanwhile. If the claim was deleted in between, the ceiling of that link
    // may be below the ceiling that was just raised, so it is raised as well.
    else this.take(tick)
  }

  /** Ends a generator. The last one gives the key back, so that another process can take it at once. */
  leave(): void {
    const link = this.#state.leave()
    if (link !== 0) this.#claims.release(this.#claimant, link, this.#state.word)
  }

  /** Gives the key back at the end of the process. Other threads make a link before they go on. */
  end(): void {
    const state = this.#state
    const { link } = state
    if (state.isClaimed) this.#claims.release(this.#claimant, link, state.raiseFloor(state.ceiling))
  }
}
