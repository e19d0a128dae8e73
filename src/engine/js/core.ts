import { high, lengthGetter, low, two32 } from '../../core/typed-array.js'
import {
  type Bounds,
  CeilingOutcome,
  type CeilingWaited,
  type Core,
  type CoreReport,
  type CoreSpec,
  type IdArray,
  noObservation,
  type Observation,
  type Permit,
  Status,
} from '../../state/engine.js'
import { clockFor } from './clock.js'
import { IdWriter } from './id-writer.js'
import { Reserver } from './reserver.js'
import { slotAbove } from './slot-above.js'
import { dropBelow, endRun, type Run, type ThreadStates } from './thread-states.js'

// All generators of the thread share these: a caller reads them before another call can write them.
const id64 = new BigUint64Array(1)
const id32 = /* @__PURE__ */ (() => new Uint32Array(id64.buffer))()
const observation: Observation = { ...noObservation }

/**
 * The engine in TypeScript. It uses nothing of Node. Ticks and sequence numbers are numbers; an id becomes a
 * bigint once, when `id` is read.
 */
export class JsCore implements Core {
  readonly #clock: () => number
  readonly #reopen: (spec: CoreSpec) => Core
  /** The lower 32 bits of the present generation of the machine, and of the spec's. */
  readonly #present: Int32Array
  #generation: number
  #reserver: Reserver
  #writer: IdWriter
  #run: Run
  #id: number
  #issued = 0
  #isClosed = false
  /** The halves of the largest observed id of this state: all ids are larger now. -1 if there is none. */
  #passedHigh = -1
  #passedLow = 0
  /** The core of a view, with which it shares the reserver, and the tags. */
  readonly #viewed: { readonly core: JsCore; readonly tagBits: bigint } | undefined

  /**
   * @param reopen - Opens the core that replaces this one in `moveTo`; a core of the same engine.
   * @throws GraupelError as {@link Claims} says, if the state is of the host.
   */
  static open(spec: CoreSpec, states: ThreadStates, reopen: (spec: CoreSpec) => Core): JsCore {
    const clock = clockFor(spec, states.clocks)
    const reserver = new Reserver(spec, states)
    const core = new JsCore(clock, reserver, states.table.generationWord, spec.generation | 0, reopen)
    if (!spec.history) return core
    try {
      // The state of a lease begins at the floor that a call raises, and so does its history. The clock may
      // be far above the ceiling.
      const nowTick = core.#hasCeiling ? 0 : core.#tickAt(spec.nowMs)
      reserver.state.enableHistory(Math.max(0, nowTick))
    } catch (error) {
      reserver.close()
      throw error
    }
    return core
  }

  // A spec is not kept: it would be a quarter of a generator's memory.
  private constructor(
    clock: () => number,
    reserver: Reserver,
    present: Int32Array,
    generation: number,
    reopen: (spec: CoreSpec) => Core,
    viewed?: { readonly core: JsCore; readonly tagBits: bigint },
  ) {
    this.#clock = clock
    this.#present = present
    this.#generation = generation
    this.#reopen = reopen
    this.#viewed = viewed
    this.#reserver = reserver
    this.#writer = viewed === undefined ? reserver.writer : new IdWriter(reserver.geometry, viewed.tagBits)
    this.#run = reserver.run
    this.#id = reserver.id
  }

  get id(): bigint {
    return id64[0] as bigint
  }

  get idHigh(): number {
    return id32[high] as number
  }

  get idLow(): number {
    return id32[low] as number
  }

  takeOne(): number {
    const nowMs = this.#clock()
    const run = this.#run
    const sequence = run.sequence
    if (
      sequence < run.end &&
      nowMs >= run.fromMs &&
      nowMs < run.untilMs &&
      (run.holder === 0 || run.holder === this.#id) &&
      !this.#isClosed
    ) {
      run.sequence = sequence + 1
      // Read after the slot is taken (`native/core/generation.h`).
      if (this.#present[0] !== this.#generation) return this.#dropRun()
      this.#issued++
      this.#writer.writeOne(id32, run, sequence)
      return Status.ok
    }
    return this.#refill(nowMs)
  }

  generation(): number {
    return this.#present[0] as number
  }

  observe(): Observation {
    const { state } = this.#reserver
    const seen = observation
    // Before the clock: a thread that is suspended in between must not mistake the reservations of others for
    // a rollback.
    const { word } = state
    const highTick = state.highTick()
    const nowMs = this.#clock()
    const nowTick = this.#tickAt(nowMs)
    const ceiling = this.#hasCeiling ? state.ceiling : undefined
    seen.status = this.#statusAt(nowTick)
    if (seen.status === Status.ok && this.generation() !== this.#generation) seen.status = Status.cloned
    if (seen.status === Status.ok && ceiling !== undefined && state.isAbove(ceiling, word, nowTick)) {
      seen.status = Status.ceiling
    }
    seen.ceilingTick = ceiling === undefined ? -1 : state.tickOf(ceiling)
    seen.nowMs = nowMs
    seen.nowTick = Math.max(-1, nowTick)
    seen.headTick = state.tickOf(word)
    seen.lastTick = word === 0n ? -1 : state.tickOf(word - 1n)
    seen.highTick = highTick
    seen.observedTick = state.observedTick()
    seen.issued = this.#issued
    return seen
  }

  grant({ nowTick, limitTick }: Permit): number {
    if (this.#isClosed) return Status.closed
    if (limitTick === undefined) {
      return this.#reserver.reserveUnusedRun(nowTick) === 'reserved' ? this.#takeNext() : Status.ahead
    }
    const run = this.#run
    const isUsable =
      run.sequence < run.end &&
      !run.reused &&
      run.tick <= limitTick &&
      nowTick <= run.tick &&
      run.tick - nowTick <= run.span
    if (!isUsable) {
      const reserved = this.#reserver.reserveRun(nowTick, limitTick)
      if (reserved !== 'reserved') return statusOf(reserved)
    }
    run.holder = run.span === 0 ? 0 : this.#id
    return this.#takeNext()
  }

  fill(array: IdArray, from: number, to: number, permit?: Permit): number {
    if (this.#isClosed) return 0
    if (permit !== undefined) return this.#fillPermitted(array, from, to, permit)
    const nowTick = this.#tickAt(this.#clock())
    // The clock may be a user's function, which has detached the array. Then nothing is filled, and the
    // caller checks the array.
    if (lengthGetter.call(array) === 0) return 0
    if (this.#statusAt(nowTick) !== Status.ok || this.#isClosed) return 0
    return this.#fillPermitted(array, from, to, { nowTick, limitTick: nowTick })
  }

  #fillPermitted(array: IdArray, from: number, to: number, { nowTick, limitTick }: Permit): number {
    if (limitTick !== undefined)
      return this.#counted(this.#reserver.fill(array, from, to, nowTick, limitTick, this.#writer))
    const reserved = this.#reserver.reserveUnusedRun(nowTick, to - from)
    return reserved === 'reserved' ? this.#counted(this.#reserver.drain(array, from, to, nowTick, this.#writer)) : 0
  }

  awaitCeiling(round: number, _blockMs: number): CeilingWaited {
    // The reserver raises the ceiling of a claim, so this is the ceiling of a lease.
    return { outcome: CeilingOutcome.timeout, round }
  }

  exceed(id: bigint, aheadTicks: number): number {
    if (this.#isClosed) return Status.closed
    id64[0] = id
    const { state, geometry } = this.#reserver
    const shift = geometry.timestampShift
    const upper = this.idHigh
    const lower = this.idLow
    if (upper < this.#passedHigh || (upper === this.#passedHigh && lower <= this.#passedLow)) return Status.ok
    // A division, because a power takes as long as the rest of the call.
    const above = upper * (two32 / ((1 << shift) >>> 0))
    const idTick = shift < 32 ? above + (lower >>> shift) : upper >>> (shift - 32)
    // The word is at the end of the run or above.
    if (idTick < this.#run.tick) return Status.ok
    const slot = slotAbove(geometry, id)
    if (slot === undefined) return Status.expired
    const isBelow = state.word < slot
    if (isBelow) {
      // The clock may be a function of the user's, which may use this core.
      const nowTick = this.#tickAt(this.#clock())
      if (this.#isClosed) return Status.closed
      if (nowTick < 0) return Status.beforeEpoch
      if (idTick > nowTick + aheadTicks) return Status.ahead
      state.exceed(slot)
    }
    dropBelow(this.#run, state.tickOf(slot), state.sequenceOf(slot))
    this.#passedHigh = upper
    this.#passedLow = lower
    return isBelow ? Status.raised : Status.ok
  }

  raise({ floor = 0n, highTick = 0, observedTick = 0, ceiling }: Bounds): bigint {
    if (this.#isClosed) return floor
    const { state } = this.#reserver
    // The floor first: a slot below it may belong to another holder.
    state.raiseObservedTick(observedTick)
    const former = state.raiseFloor(floor)
    state.raiseHighTick(highTick)
    if (ceiling !== undefined && this.#hasCeiling) state.raiseCeiling(ceiling)
    return former
  }

  moveTo(spec: CoreSpec): void {
    if (this.#isClosed) return
    const next = this.#reopen(spec) as JsCore
    const former = this.#reserver
    this.#share(next, next.#writer)
    former.close()
  }

  view(tagBits: bigint): JsCore {
    const viewed = { core: this, tagBits }
    return new JsCore(this.#clock, this.#reserver, this.#present, this.#generation, this.#reopen, viewed)
  }

  follow(): void {
    if (this.#viewed === undefined || this.#isClosed) return
    const { core, tagBits } = this.#viewed
    this.#share(core, new IdWriter(core.#reserver.geometry, tagBits))
  }

  /** Takes the state of another core. No function is called in between, where the program may be ended. */
  #share(other: JsCore, writer: IdWriter): void {
    this.#reserver = other.#reserver
    this.#writer = writer
    this.#run = other.#run
    this.#id = other.#id
    this.#generation = other.#generation
    this.#passedHigh = -1
  }

  report(): CoreReport {
    const { path, reservations, state } = this.#reserver
    // No call ends with `unavailable`, and no ceiling fails: errors of a claim are thrown at once.
    const failure = new Error('the js engine has not failed')
    return { path, failure, reservation: { number: this.#isClosed ? 0 : reservations, ...state.range } }
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    if (this.#viewed === undefined) this.#reserver.close()
  }

  /** Whether callers raise the ceiling. The claim of a key raises its ceiling by itself. */
  get #hasCeiling(): boolean {
    return this.#reserver.isLeased
  }

  #tickAt(nowMs: number): number {
    const { epochMs, tickMs } = this.#reserver.geometry
    return Math.floor((nowMs - epochMs) / tickMs)
  }

  #statusAt(nowTick: number): number {
    if (this.#isClosed) return Status.closed
    if (nowTick < 0) return Status.beforeEpoch
    return nowTick > this.#reserver.geometry.maxTick ? Status.expired : Status.ok
  }

  #refill(nowMs: number): number {
    const nowTick = this.#tickAt(nowMs)
    const status = this.#statusAt(nowTick)
    if (status !== Status.ok) return status
    const reserved = this.#reserver.reserveRun(nowTick, nowTick)
    return reserved === 'reserved' ? this.#takeNext() : statusOf(reserved)
  }

  #takeNext(): number {
    const sequence = this.#run.sequence++
    if (this.generation() !== this.#generation) return this.#dropRun()
    this.#issued++
    this.#writer.writeOne(id32, this.#run, sequence)
    return Status.ok
  }

  /** Counts ids that were written to an array, and returns their number: 0 in a copy of the machine. */
  #counted(filled: number): number {
    if (this.generation() !== this.#generation) {
      this.#dropRun()
      return 0
    }
    this.#issued += filled
    return filled
  }

  #dropRun(): number {
    endRun(this.#run)
    return Status.cloned
  }
}

function statusOf(reserved: 'ahead' | 'ceiling'): number {
  return reserved === 'ceiling' ? Status.ceiling : Status.ahead
}
