import { high, low } from '../../core/typed-array.js'
import type { Binding, Fault } from '../../state/addon.js'
import type { PageLink } from '../../state/claims.js'
import {
  type Bounds,
  type CeilingWaited,
  type Core,
  type CoreReport,
  type CoreSpec,
  type IdArray,
  noObservation,
  type Observation,
  type Permit,
  Status,
  startModes,
} from '../../state/engine.js'
import type { Identity } from '../../state/key.js'

/** The native engine of a thread: a binding, and the views of its mailbox. */
export interface NativeEngine {
  readonly binding: Binding
  /** Reads the generation of the machine. */
  generation(): number
  /**
   * @param link - The link of the key's claim that leaves the key to the page, if there is a claim.
   * @param reopen - Opens the core that replaces this one in `moveTo`; a core of the same engine.
   * @throws errors that `errorOf` makes of faults.
   */
  open(spec: CoreSpec, link: PageLink | undefined, reopen: (spec: CoreSpec) => Core): Core
}

// The mailbox (`native/binding/environment.h`), in units of each view.
const statusAt = 2
const handleAt = 3
const nowAt = 2
const limitAt = 3
const wantAt = 4
const nowMsAt = 5
const headTickAt = 6
const lastTickAt = 7
const highTickAt = 8
const issuedAt = 9
const ceilingAt = 10
const generationAt = 11
/** Four words of 32 bits. */
export const uuidAt = 24
const observedTickAt = 14

type Reopen = (spec: CoreSpec) => Core

/** The kinds of clocks, as in `native/binding/environment.h`. */
export const clockKinds = { wall: 0, steady: 1, injected: 2 } as const

/** The kinds of states, as in `native/host/home.h`. */
export const stateKinds = { process: 0, thread: 1, host: 2, lease: 3, file: 4 } as const

/** The options of the addon that only a state file, or a claim that leaves its key to the page, has. */
const noFile = { path: '', fileKey: '', reserveTicks: 0, claimLink: '', claimNext: '', claimFloor: 0n }

/** Returns a function that reads the generation of the machine. */
export function makeGenerationReader({ mailbox, generation }: Binding): () => number {
  const numbers = new Float64Array(mailbox)
  return () => {
    generation()
    return numbers[generationAt] as number
  }
}

/**
 * Makes the native engine of a thread. The class is inside the function so that V8 takes the views and the
 * functions for constants, and does not check them: `next()` takes 25.8 ns instead of 28.0 with fields (Node
 * 20), and each generator is five fields smaller.
 */
export function nativeEngine(binding: Binding, errorOf: (fault: Fault, opened?: Identity) => Error): NativeEngine {
  const { mailbox, next } = binding
  const id64 = new BigUint64Array(mailbox)
  const words32 = new Uint32Array(mailbox)
  const numbers = new Float64Array(mailbox)
  const generation = makeGenerationReader(binding)
  const seen: Observation = { ...noObservation }

  /**
   * The engine in C++. A call writes into the mailbox, calls a function without arguments and result, and
   * reads the mailbox.
   */
  class NativeCore implements Core {
    #handle: number
    readonly #clock: (() => number) | undefined
    readonly #reopen: Reopen
    /** Ids that were made with former states. */
    #issuedBefore = 0
    #isClosed = false
    /** The halves of the largest observed id of this state: all ids are larger now. -1 if there is none. */
    #passedHigh = -1
    #passedLow = 0
    /** The addon forgets the generator when this is collected. */
    owner: unknown
    /** Views a core anew; `undefined` for a core that is no view. */
    readonly #viewed: (() => NativeCore) | undefined

    /** The addon has left the handle in the mailbox. */
    private constructor(owner: unknown, clock: CoreSpec['clock'], reopen: Reopen, viewed?: () => NativeCore) {
      this.owner = owner
      this.#handle = words32[handleAt] as number
      this.#clock = typeof clock === 'function' ? clock : undefined
      this.#reopen = reopen
      this.#viewed = viewed
    }

    static open(spec: CoreSpec, link: PageLink | undefined, reopen: Reopen): NativeCore {
      numbers[nowAt] = spec.nowMs
      const owner = binding.open({
        ...spec,
        ...noFile,
        ...spec.state,
        ...link,
        openTimeoutMs: Math.ceil(spec.openTimeoutMs),
        kind: stateKinds[spec.state.kind],
        maxTick: BigInt(spec.maxTick),
        sequenceStart: startModes[spec.sequenceStart],
        clock: clockKinds[typeof spec.clock === 'function' ? 'injected' : spec.clock],
      })
      if (owner === undefined) throw errorOf(binding.fault(), spec)
      return new NativeCore(owner, spec.clock, reopen)
    }

    get id(): bigint {
      return id64[0] as bigint
    }

    get idHigh(): number {
      return words32[high] as number
    }

    get idLow(): number {
      return words32[low] as number
    }

    takeOne(): number {
      // The clock first, because a user's function may use another generator.
      if (this.#clock !== undefined) numbers[nowAt] = this.#clock()
      words32[handleAt] = this.#handle
      next()
      return words32[statusAt] as number
    }

    generation(): number {
      return generation()
    }

    observe(): Observation {
      if (this.#clock !== undefined) numbers[nowAt] = this.#clock()
      words32[handleAt] = this.#handle
      binding.observe()
      seen.status = words32[statusAt] as number
      seen.nowMs = numbers[nowMsAt] as number
      seen.nowTick = numbers[nowAt] as number
      seen.headTick = numbers[headTickAt] as number
      seen.lastTick = numbers[lastTickAt] as number
      seen.highTick = numbers[highTickAt] as number
      seen.observedTick = numbers[observedTickAt] as number
      seen.issued = this.#issuedBefore + (numbers[issuedAt] as number)
      seen.ceilingTick = numbers[ceilingAt] as number
      return seen
    }

    grant({ nowTick, limitTick }: Permit): number {
      this.#permit(nowTick, limitTick ?? 0)
      if (limitTick === undefined) binding.grantUnused()
      else binding.grant()
      return words32[statusAt] as number
    }

    fill(array: IdArray, from: number, to: number, permit?: Permit): number {
      if (permit === undefined) {
        if (this.#clock !== undefined) numbers[nowAt] = this.#clock()
        words32[handleAt] = this.#handle
        numbers[limitAt] = -1
        return binding.fill(array, from, to)
      }
      const { nowTick, limitTick = nowTick } = permit
      if (permit.limitTick === undefined) {
        this.#permit(nowTick, 0, to - from)
        binding.grantUnused()
        if (words32[statusAt] !== Status.ok) return 0
      }
      this.#permit(nowTick, limitTick)
      return binding.fill(array, from, to)
    }

    awaitCeiling(round: number, blockMs: number): CeilingWaited {
      // observe() has left the clock's time in the mailbox.
      words32[handleAt] = this.#handle
      const waitedFor = binding.awaitCeiling(round, blockMs)
      return { outcome: words32[statusAt] as number, round: waitedFor }
    }

    exceed(id: bigint, aheadTicks: number): number {
      id64[0] = id
      const upper = words32[high] as number
      const lower = words32[low] as number
      if (upper < this.#passedHigh || (upper === this.#passedHigh && lower <= this.#passedLow)) return Status.ok
      let status = this.#exceedAt(Number.MIN_SAFE_INTEGER, id, aheadTicks)
      // A clock of the program's is asked only if the word is not above the id already.
      if (status === Status.beforeEpoch && this.#clock !== undefined)
        status = this.#exceedAt(this.#clock(), id, aheadTicks)
      if (status === Status.ok || status === Status.raised) {
        this.#passedHigh = upper
        this.#passedLow = lower
      }
      return status
    }

    /** @param nowMs - For a clock of the program's. */
    #exceedAt(nowMs: number, id: bigint, aheadTicks: number): number {
      id64[0] = id
      numbers[nowAt] = nowMs
      numbers[limitAt] = aheadTicks
      words32[handleAt] = this.#handle
      binding.exceed()
      return words32[statusAt] as number
    }

    raise({ floor = 0n, highTick = 0, observedTick = 0, ceiling }: Bounds): bigint {
      if (this.#isClosed) return floor
      words32[handleAt] = this.#handle
      // The floor first: a slot below it may belong to another holder.
      const former = binding.raiseFloor(floor, highTick, observedTick)
      if (former === undefined) throw errorOf(binding.fault())
      if (ceiling !== undefined) binding.raiseCeiling(ceiling)
      return former
    }

    moveTo(spec: CoreSpec): void {
      if (!this.#isClosed) this.#become(this.#reopen(spec) as NativeCore)
    }

    view(tagBits: bigint): NativeCore {
      words32[handleAt] = this.#handle
      return new NativeCore(binding.view(tagBits), this.#clock ?? 'wall', this.#reopen, () => this.view(tagBits))
    }

    follow(): void {
      if (!this.#isClosed && this.#viewed !== undefined) this.#become(this.#viewed())
    }

    #become(next: NativeCore): void {
      // A user's clock is not called, because it could use the generator between the two states. The mailbox
      // has the time of opening.
      words32[handleAt] = this.#handle
      binding.observe()
      this.#issuedBefore += numbers[issuedAt] as number
      binding.close()
      this.#handle = next.#handle
      this.#passedHigh = -1
      this.owner = next.owner
    }

    report(): CoreReport {
      words32[handleAt] = this.#handle
      const { path, number, tick = 0, sequence = 0, count = 0 } = binding.report()
      return {
        path,
        get failure() {
          return errorOf(binding.fault())
        },
        reservation: { number, tick, sequence, count },
      }
    }

    close(): void {
      this.#isClosed = true
      this.#passedHigh = -1
      words32[handleAt] = this.#handle
      binding.close()
    }

    /** @param want - Slots to reserve; 0 makes one id. */
    #permit(nowTick: number, limitTick: number, want = 0): void {
      words32[handleAt] = this.#handle
      numbers[nowAt] = nowTick
      numbers[limitAt] = limitTick
      numbers[wantAt] = want
    }
  }

  return {
    binding,
    generation,
    open: (spec, link, reopen) => NativeCore.open(spec, link, reopen),
  }
}
