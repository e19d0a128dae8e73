import type { Claims } from '../claims.js'
import type { CoreSpec } from '../engine.js'
import type { JsClaim } from './claim.js'
import type { SystemClocks } from './clocks.js'
import type { IdWriter } from './id-writer.js'
import type { Run } from './run.js'
import { SequenceStart } from './sequence-start.js'
import type { Reserved, State } from './state.js'
import type { StateTable } from './state-table.js'
import { type ThreadState, threadStateFor } from './thread-states.js'
import { isGivenBack, movedAway } from './word.js'

/** What the js engine needs of where it runs. */
export interface JsSurroundings extends SystemClocks {
  sleep(ms: number): void
  /** What keeps other processes away; undefined where there are no others, or none that can be seen. */
  readonly claims: Claims | undefined
}

let lastId = 0

/** One generator's reservations, and the runs that its thread hands out of them. Not the hot path. */
export class Reserver {
  readonly spec: CoreSpec
  /** Names the generator as the holder of a run. */
  readonly id = ++lastId
  /** Whether the last call found that another engine counts the key. */
  hasMoved = false
  readonly #own: ThreadState
  readonly #start: SequenceStart

  /** @throws GraupelError as {@link Claims} says, where the spec's place is the host. */
  constructor(spec: CoreSpec, table: StateTable, surroundings: JsSurroundings) {
    this.#own = threadStateFor(spec, table, surroundings.claims, surroundings)
    this.spec = spec
    const { state, claim } = this.#own
    this.#start = SequenceStart.of(spec.sequenceStart, spec.seed, spec.sequenceBits)
    state.claim.countGenerators(1)
    try {
      if (spec.place === 'host' && claim?.isHeld === false && state.word() !== movedAway) {
        this.hasMoved = !claim.open(surroundings.sleep)
      }
    } catch (error) {
      state.claim.countGenerators(-1)
      throw error
    }
  }

  get state(): State {
    return this.#own.state
  }

  get run(): Run {
    return this.#own.run
  }

  get writer(): IdWriter {
    return this.#own.writer
  }

  /** Where the claim of the key is; undefined where there is none. */
  get path(): string | undefined {
    return this.#own.claim?.path
  }

  /** The bound that the caller of `raiseCeiling` sets; undefined where there is none. */
  externalCeiling(): bigint | undefined {
    return this.spec.bound === 'external' ? this.state.externalCeiling() : undefined
  }

  /** The state word. Takes the key again where it was given back. */
  word(): bigint {
    this.hasMoved = false
    for (;;) {
      const word = this.state.word()
      const isGone = isGivenBack(word)
      this.hasMoved = word === movedAway || (isGone && !this.#takeClaim())
      if (this.hasMoved || !isGone) return word
    }
  }

  /** Reserves the thread's next run. */
  reserveRun(nowTick: number, limitTick: number): Reserved {
    const size = this.#nextSize(nowTick)
    const reserved = this.#reserve(nowTick, () =>
      this.state.reserve(nowTick, limitTick, size, true, this.#start, this.externalCeiling()),
    )
    if (reserved === 'reserved') this.#beginRun(nowTick, size)
    return reserved
  }

  /** The same, for this generator alone, of what was left unused in a past tick. @param size - As the next run by default. */
  reserveUnusedRun(nowTick: number, size = this.#nextSize(nowTick)): Reserved {
    const reserved = this.#reserve(nowTick, () => this.state.reserveUnused(nowTick, size))
    if (reserved === 'reserved') {
      this.#beginRun(nowTick, size)
      this.run.holder = this.id
      this.run.reused = true
    }
    return reserved
  }

  /** Reserves up to `want` slots, which are in `state.range` then, and not in the run. */
  reserveRange(nowTick: number, limitTick: number, want: number): Reserved {
    return this.#reserve(nowTick, () =>
      this.state.reserve(nowTick, limitTick, want, false, this.#start, this.externalCeiling()),
    )
  }

  /** Raises the bound of all generators that have one. */
  raiseCeiling(slot: bigint): void {
    // In this order: an engine that takes the key over reads the bound after it has moved the word.
    this.state.raiseExternalCeiling(slot)
    this.hasMoved = this.state.word() === movedAway
  }

  /** Lets nothing below a slot be reserved; the word as it was before. */
  raiseFloor(slot: bigint, highTick: number): bigint {
    for (;;) {
      this.word()
      if (this.hasMoved) return slot
      const former = this.state.raiseFloor(slot)
      if (former === undefined) continue
      this.state.raiseHighTick(highTick)
      return former
    }
  }

  /** The generator makes no ids any more. The last one of the process on this key gives it back. */
  close(): void {
    this.hasMoved = false
    if (this.state.claim.countGenerators(-1) === 0) this.#own.claim?.release()
  }

  /**
   * Reserves below the claim's ceiling, which is raised where it is met.
   *
   * @throws GraupelError as {@link Claims} says
   */
  #reserve(nowTick: number, reserve: () => Reserved): Reserved {
    this.hasMoved = false
    let reserved: Reserved = this.#own.claim?.check(nowTick) === false ? 'moved' : reserve()
    while (reserved === 'claim ceiling') reserved = this.#takeClaim() ? reserve() : 'moved'
    this.hasMoved = reserved === 'moved'
    return reserved
  }

  /** There is a claim, because only claims have ceilings, and only what was claimed is given back. */
  #takeClaim(): boolean {
    return (this.#own.claim as JsClaim).take()
  }

  /** Runs double within a tick, up to a 64th of it; `NextSize` of `generator.h` has the reason. */
  #nextSize(nowTick: number): number {
    const { size, tick, span } = this.run
    if (size === 0 || tick - span !== nowTick) return 1
    return Math.max(1, Math.min(size * 2, Math.floor(2 ** this.spec.sequenceBits / 64)))
  }

  /** Makes the range that was just reserved the run of the thread. */
  #beginRun(nowTick: number, size: number): void {
    const run = this.run
    const { tick, sequence, count } = this.state.range
    const { epochMs, tickMs } = this.spec
    run.tick = tick
    run.span = tick - nowTick
    run.fromMs = epochMs + nowTick * tickMs
    run.untilMs = epochMs + (tick + 1) * tickMs
    run.sequence = sequence
    run.end = sequence + count
    run.size = size
    run.holder = 0
    run.reused = false
    this.writer.setBase(run, tick)
  }
}
