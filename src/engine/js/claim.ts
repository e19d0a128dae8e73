import type { Claimant, Claims } from '../../state/claims.js'
import type { CoreSpec } from '../../state/engine.js'
import { tooEarly } from '../../state/errors.js'
import { SlotClock } from '../slots.js'
import type { State } from './state.js'
import { fields32, fields64, type StateTable } from './state-table.js'

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

/**
 * Values of a state word whose key was given back. The process has to claim the key again before it reserves.
 * Each release uses the next value, so a slow thread takes up only the value that it has read. No layout has
 * so high a slot: of 64 bits of timestamp and sequence, the sequence has 11 at least.
 */
const givenBack = { from: 0xffff_ffff_ffff_fc00n, count: 1024 } as const

export function isGivenBack(word: bigint): boolean {
  return word >= givenBack.from
}

/** @param times - How often the key was given back before; 32 bits, which may have wrapped around. */
function givenBackSign(times: number): bigint {
  return givenBack.from + BigInt((times >>> 0) % givenBack.count)
}

/** The lowest ceiling that lets no slot be issued; 0 means that there is no ceiling. */
const lowestCeiling = 1n

/**
 * The fields of a state that describe the claim by which the process holds the key. All threads share them.
 */
export class SharedClaim {
  readonly #table: StateTable
  readonly #at32: number
  readonly #wordAt: number
  readonly #ceilingAt: number

  /** @param at - The record's offset in bytes. */
  constructor(table: StateTable, at: number) {
    this.#table = table
    this.#at32 = at / 4
    this.#wordAt = at / 8 + fields64.word
    this.#ceilingAt = at / 8 + fields64.claimCeiling
  }

  /** The claim's step, as {@link Held} says. It stays when the key is given back or the claim is lost. */
  get step(): number {
    return Atomics.load(this.#table.words32, this.#at32 + fields32.claimStep)
  }

  /** The state word, also if the key was given back at that word. */
  get word(): bigint {
    const word = Atomics.load(this.#table.words64, this.#wordAt)
    return isGivenBack(word) ? this.ceiling : word
  }

  /**
   * Replaces the step. False if the step is no longer `from`, because another thread has made a later step.
   */
  moveStep(from: number, to: number): boolean {
    return Atomics.compareExchange(this.#table.words32, this.#at32 + fields32.claimStep, from, to) === from
  }

  /** The first slot that may not be issued; 0 if there is no ceiling. */
  get ceiling(): bigint {
    return Atomics.load(this.#table.words64, this.#ceilingAt)
  }

  raiseCeiling(slot: bigint): void {
    this.#table.raise(this.#ceilingAt, slot)
  }

  /** Changes the number of generators that all threads have on the key, and returns the new number. */
  countGenerators(change: 1 | -1): number {
    return Atomics.add(this.#table.words32, this.#at32 + fields32.generators, change) + change
  }

  /** Stops every thread at the word, and returns the word; `undefined` if it was given back before. */
  giveBack(): bigint | undefined {
    const { words32, words64 } = this.#table
    const sign = givenBackSign(Atomics.add(words32, this.#at32 + fields32.timesGivenBack, 1))
    for (;;) {
      const word = Atomics.load(words64, this.#wordAt)
      if (isGivenBack(word)) return undefined
      if (Atomics.compareExchange(words64, this.#wordAt, word, sign) !== word) continue
      // The ceiling keeps the word. The next claim may have a lower ceiling than this claim had, and a
      // ceiling is only raised.
      Atomics.store(words64, this.#ceilingAt, word === 0n ? lowestCeiling : word)
      return word
    }
  }

  /** Continues from a slot. False if the word is no longer `sign`. */
  takeUp(sign: bigint, slot: bigint): boolean {
    return Atomics.compareExchange(this.#table.words64, this.#wordAt, sign, slot) === sign
  }
}
