import { high, low, two32 } from '../halves.js'
import type { Claims } from './claims.js'
import { type CeilingWait, type Core, type CoreSpec, type IdArray, type Observation, Status } from './engine.js'
import { JsClaim } from './js-claim.js'
import type { Lease } from './lease.js'
import { SequenceStart } from './start.js'
import { isGivenBack, movedAway, type Reserved, State } from './state.js'
import type { StateTable } from './state-table.js'
import { SteadyTime } from './steady.js'
import { type BaseId, writeNarrow, writeWide } from './write.js'

/** What the js engine needs of where it runs. */
export interface JsSurroundings {
  /** The wall clock; milliseconds since 1970. */
  wallMs(): number
  monotonicMs(): number
  sleep(ms: number): void
  /** What keeps other processes away; none where there are no others, or none that could be seen. */
  readonly claims: Claims | undefined
  /** Opens the engine that counts a key in place of this one; throws where it cannot. */
  openElsewhere(spec: CoreSpec): Core
}

/** A state with what this thread knows of it. */
interface Counted {
  readonly state: State
  readonly claim: JsClaim | undefined
}

/** By key, for all generators of this thread. Kept for as long as the thread lives. */
const counted = new Map<string, Counted>()
const steady = new SteadyTime()
let lastId = 0

// One for all generators of the thread, because what they hold is read before anybody can call another.
const id64 = new BigUint64Array(1)
const id32 = new Uint32Array(id64.buffer)
const observation: Observation = {
  status: 0,
  nowMs: 0,
  nowTick: 0,
  headTick: 0,
  lastTick: 0,
  highTick: 0,
  issued: 0,
  ceilingTick: -1,
}

/**
 * The engine in TypeScript. Imports nothing from Node, and holds ticks and sequence numbers as numbers: a bigint is
 * made once for an id, when `id` is read.
 */
export class JsCore implements Core {
  readonly #state: State
  readonly #claim: JsClaim | undefined
  readonly #lease: Lease
  readonly #id: number
  readonly #clock: () => number
  readonly #spec: CoreSpec
  readonly #nodeLow: number
  readonly #nodeHigh: number
  /** The sequence lies in the lower half of the id, where integer arithmetic does. */
  readonly #narrow: boolean
  readonly #start: SequenceStart
  readonly #surroundings: JsSurroundings
  #issued = 0
  #closed = false
  /** The core that took over, if another engine counts this key now. */
  #elsewhere: Core | undefined

  /** @throws GraupelError as {@link Claims} says, where the spec's place is the host. */
  constructor(spec: CoreSpec, table: StateTable, surroundings: JsSurroundings) {
    this.#spec = spec
    this.#surroundings = surroundings
    this.#clock = clockFor(spec, surroundings)
    const { state, claim } = countedFor(spec, table, surroundings)
    this.#state = state
    this.#claim = claim
    this.#lease = state.lease
    this.#id = ++lastId
    this.#nodeLow = Number(BigInt.asUintN(32, spec.nodeBits))
    this.#nodeHigh = Number(spec.nodeBits >> 32n)
    this.#narrow = spec.sequenceShift + spec.sequenceBits <= 32
    this.#start = SequenceStart.of(spec.sequenceStart, spec.seed, spec.sequenceBits)
    state.countGenerators(1)
    try {
      if (
        spec.place === 'host' &&
        claim?.isHeld === false &&
        state.word() !== movedAway &&
        !claim.open(surroundings.sleep)
      ) {
        this.#openElsewhere()
      }
    } catch (error) {
      state.countGenerators(-1)
      throw error
    }
    if (spec.history) state.enableHistory(Math.max(0, this.#tickAt(spec.nowMs)))
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

  step(): number {
    const nowMs = this.#clock()
    const lease = this.#lease
    const sequence = lease.sequence
    if (
      sequence < lease.end &&
      nowMs >= lease.fromMs &&
      nowMs < lease.untilMs &&
      (lease.holder === 0 || lease.holder === this.#id) &&
      !this.#closed
    ) {
      lease.sequence = sequence + 1
      this.#issued++
      this.#write(lease, sequence)
      return Status.ok
    }
    return this.#refill(nowMs)
  }

  observe(): Observation {
    if (this.#elsewhere !== undefined) {
      const seen = this.#elsewhere.observe()
      seen.issued += this.#issued
      return seen
    }
    const state = this.#state
    // Before the clock is read: a thread that is put aside in between must not take what others did for a rollback.
    const word = state.word()
    const isGone = isGivenBack(word)
    if (word === movedAway || (isGone && !this.#takeClaim())) this.#openElsewhere()
    if (word === movedAway || isGone) return this.observe()
    const highTick = state.highTick()
    const nowMs = this.#clock()
    const nowTick = this.#tickAt(nowMs)
    const seen = observation
    seen.status = this.#statusAt(nowTick)
    seen.nowMs = nowMs
    seen.nowTick = Math.max(-1, nowTick)
    seen.headTick = state.tickOf(word)
    seen.lastTick = word === 0n ? -1 : state.tickOf(word - 1n)
    seen.highTick = highTick
    seen.issued = this.#issued
    return seen
  }

  grant(nowTick: number, limitTick: number): number {
    if (this.#closed) return Status.closed
    if (this.#elsewhere !== undefined) return this.#copy(this.#elsewhere.grant(nowTick, limitTick))
    const lease = this.#lease
    const left =
      lease.sequence < lease.end &&
      !lease.reused &&
      lease.tick <= limitTick &&
      nowTick <= lease.tick &&
      lease.tick - nowTick <= lease.span
    if (!left) {
      const reserved = this.#leaseUpTo(nowTick, limitTick)
      if (reserved !== 'run') return reserved === 'moved' ? this.grant(nowTick, limitTick) : Status.ahead
    }
    lease.holder = lease.span === 0 ? 0 : this.#id
    return this.#take()
  }

  grantUnused(nowTick: number): number {
    if (this.#closed) return Status.closed
    if (this.#elsewhere !== undefined) return this.#copy(this.#elsewhere.grantUnused(nowTick))
    const size = this.#nextSize(nowTick)
    const reserved = this.#leaseUnused(nowTick, size)
    if (reserved !== 'run') return reserved === 'moved' ? this.grantUnused(nowTick) : Status.ahead
    return this.#take()
  }

  fill(array: IdArray, from: number, to: number): number {
    if (this.#closed) return 0
    if (this.#elsewhere !== undefined) return this.#elsewhere.fill(array, from, to)
    const nowTick = this.#tickAt(this.#clock())
    // The clock is the user's, and may have given the array away: nothing is filled, and the caller looks at it again.
    if (typeof this.#spec.clock === 'function' && array.buffer.byteLength === 0) return 0
    return this.#statusAt(nowTick) === Status.ok ? this.fillGranted(array, from, to, nowTick, nowTick) : 0
  }

  fillGranted(array: IdArray, from: number, to: number, nowTick: number, limitTick: number): number {
    if (this.#closed) return 0
    if (this.#elsewhere !== undefined) return this.#elsewhere.fillGranted(array, from, to, nowTick, limitTick)
    let filled = this.#drain(array, from, to, nowTick)
    if (from + filled < to) {
      const state = this.#state
      let reserved: Reserved
      try {
        const want = to - from - filled
        reserved = this.#reserve(nowTick, () => state.reserve(nowTick, limitTick, want, false, this.#start))
      } catch (error) {
        // What is in the array is counted first; the next call meets the error again.
        if (filled > 0) return filled
        throw error
      }
      if (reserved === 'moved') return filled + this.fillGranted(array, from + filled, to, nowTick, limitTick)
      if (reserved === 'run') {
        // What an old lease still holds lies below this run: handing it out after a step of the clock would go back.
        this.#lease.sequence = this.#lease.end
        this.#writeRun(array, from + filled, state.tick, state.sequence, state.count)
        this.#issued += state.count
        filled += state.count
      }
    }
    return filled
  }

  fillUnused(array: IdArray, from: number, to: number, nowTick: number): number {
    if (this.#closed) return 0
    if (this.#elsewhere !== undefined) return this.#elsewhere.fillUnused(array, from, to, nowTick)
    const reserved = this.#leaseUnused(nowTick, to - from)
    if (reserved === 'moved') return this.fillUnused(array, from, to, nowTick)
    if (reserved !== 'run') return 0
    return this.#drain(array, from, to, nowTick)
  }

  // A claim's ceiling is raised where it is met, and its errors are thrown there: what is asked here is about the core
  // that took over.

  awaitCeiling(wait: CeilingWait, blockMs: number): number {
    return (this.#elsewhere as Core).awaitCeiling(wait, blockMs)
  }

  failure(): Error {
    return (this.#elsewhere as Core).failure()
  }

  memory(): string | undefined {
    return this.#elsewhere === undefined ? this.#claim?.path : this.#elsewhere.memory()
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#elsewhere?.close()
    if (this.#state.countGenerators(-1) === 0) this.#claim?.release()
  }

  #tickAt(nowMs: number): number {
    return Math.floor((nowMs - this.#spec.epochMs) / this.#spec.tickMs)
  }

  #statusAt(nowTick: number): number {
    if (this.#closed) return Status.closed
    if (nowTick < 0) return Status.beforeEpoch
    return nowTick > this.#spec.maxTick ? Status.expired : Status.ok
  }

  #refill(nowMs: number): number {
    if (this.#elsewhere !== undefined && !this.#closed) return this.#copy(this.#elsewhere.step())
    const nowTick = this.#tickAt(nowMs)
    const status = this.#statusAt(nowTick)
    if (status !== Status.ok) return status
    const reserved = this.#leaseUpTo(nowTick, nowTick)
    if (reserved !== 'run') return reserved === 'moved' ? this.#refill(nowMs) : Status.ahead
    return this.#take()
  }

  /**
   * Reserves below the ceiling, which is raised where it is met. After `moved`, the core that took over is there.
   *
   * @throws GraupelError as {@link Claims} says
   */
  #reserve(nowTick: number, reserve: () => Reserved): Reserved {
    let reserved: Reserved = this.#claim?.check(nowTick) === false ? 'moved' : reserve()
    while (reserved === 'ceiling') reserved = this.#takeClaim() ? reserve() : 'moved'
    if (reserved === 'moved') this.#openElsewhere()
    return reserved
  }

  /** There is one, because only claims have ceilings, and only what was claimed is given back. */
  #takeClaim(): boolean {
    return (this.#claim as JsClaim).take()
  }

  #openElsewhere(): void {
    this.#elsewhere = this.#surroundings.openElsewhere(this.#spec)
  }

  #copy(status: number): number {
    id64[0] = (this.#elsewhere as Core).id
    return status
  }

  #take(): number {
    this.#issued++
    this.#write(this.#lease, this.#lease.sequence++)
    return Status.ok
  }

  /** Leases double within a tick, up to a 64th of it; `NextSize` of `generator.h` has the reason. */
  #nextSize(nowTick: number): number {
    const lease = this.#lease
    if (lease.size === 0 || lease.tick - lease.span !== nowTick) return 1
    return Math.max(1, Math.min(lease.size * 2, Math.floor(2 ** this.#spec.sequenceBits / 64)))
  }

  #leaseUpTo(nowTick: number, limitTick: number): Reserved {
    const size = this.#nextSize(nowTick)
    const reserved = this.#reserve(nowTick, () => this.#state.reserve(nowTick, limitTick, size, true, this.#start))
    if (reserved === 'run') this.#setLease(nowTick, size)
    return reserved
  }

  #leaseUnused(nowTick: number, size: number): Reserved {
    const reserved = this.#reserve(nowTick, () => this.#state.reserveUnused(nowTick, size))
    if (reserved === 'run') {
      this.#setLease(nowTick, size)
      this.#lease.holder = this.#id
      this.#lease.reused = true
    }
    return reserved
  }

  #setLease(nowTick: number, size: number): void {
    const lease = this.#lease
    const state = this.#state
    const { epochMs, tickMs } = this.#spec
    lease.tick = state.tick
    lease.span = state.tick - nowTick
    lease.fromMs = epochMs + nowTick * tickMs
    lease.untilMs = epochMs + (state.tick + 1) * tickMs
    lease.sequence = state.sequence
    lease.end = state.sequence + state.count
    lease.size = size
    lease.holder = 0
    lease.reused = false
    this.#setBase(lease, state.tick)
  }

  #setBase(base: BaseId, tick: number): void {
    // Exact: a product with a power of two only changes the exponent. Node and timestamp share no bit, so adding is or.
    const timestamp = tick * 2 ** this.#spec.timestampShift
    base.baseLow = (timestamp % two32) + this.#nodeLow
    base.baseHigh = Math.floor(timestamp / two32) + this.#nodeHigh
  }

  #write(lease: Lease, sequence: number): void {
    if (this.#narrow) {
      id32[low] = lease.baseLow + (sequence << this.#spec.sequenceShift)
      id32[high] = lease.baseHigh
    } else {
      writeWide(id32, 0, 1, lease, sequence, this.#spec.sequenceShift)
    }
  }

  #drain(array: IdArray, from: number, to: number, nowTick: number): number {
    const lease = this.#lease
    const usable =
      nowTick <= lease.tick && lease.tick - nowTick <= lease.span && (lease.holder === 0 || lease.holder === this.#id)
    const count = usable ? Math.min(to - from, lease.end - lease.sequence) : 0
    if (count > 0) {
      this.#writeRun(array, from, lease.tick, lease.sequence, count)
      lease.sequence += count
      this.#issued += count
    }
    return count
  }

  #writeRun(array: IdArray, from: number, tick: number, sequence: number, count: number): void {
    const { sequenceBits, sequenceShift } = this.#spec
    const capacity = 2 ** sequenceBits
    const signed = new Int32Array(array.buffer, array.byteOffset + from * 8, count * 2)
    const unsigned = new Uint32Array(array.buffer, array.byteOffset + from * 8, count * 2)
    const base: BaseId = { baseLow: 0, baseHigh: 0 }
    let at = 0
    let left = count
    let first = sequence
    for (let of = tick; left > 0; of++) {
      const now = Math.min(left, capacity - first)
      this.#setBase(base, of)
      if (this.#narrow) writeNarrow(signed.subarray(at * 2, (at + now) * 2), base, first, sequenceShift)
      else writeWide(unsigned, at, now, base, first, sequenceShift)
      at += now
      left -= now
      first = 0
    }
  }
}

/** Ends what this thread is handing out for a key, because another engine goes on from its end. */
export function endLease(key: string): void {
  const lease = counted.get(key)?.state.lease
  if (lease !== undefined) lease.sequence = lease.end
}

/** Gives back every key that this process has claimed and this thread knows of, because the process is about to end. */
export function releaseClaims(): void {
  for (const { claim } of counted.values()) claim?.release()
}

function clockFor({ clock }: CoreSpec, { wallMs, monotonicMs }: JsSurroundings): () => number {
  if (clock === 'wall') return wallMs
  return clock === 'steady' ? () => Math.floor(steady.read(wallMs(), monotonicMs())) : clock
}

function countedFor(spec: CoreSpec, table: StateTable, surroundings: JsSurroundings): Counted {
  const { key, sequenceBits, maxTick } = spec
  let found = counted.get(key)
  if (found === undefined) {
    const state = new State(table, table.find(key), sequenceBits, maxTick)
    const { claims } = surroundings
    const claim = claims && new JsClaim(claims, table.token, state, spec, clockFor(spec, surroundings))
    found = { state, claim }
    counted.set(key, found)
  }
  return found
}
