import { high, low } from '../../core/typed-array.js'
import type { Binding, Fault } from '../../state/addon.js'
import type { PageStep } from '../../state/claims.js'
import {
  bounds,
  type CeilingWaited,
  type Core,
  type CoreSpec,
  type IdArray,
  type Observation,
  places,
  type Reservation,
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
   * @param step - The step of the key's claim that leaves the key to the page, if there is a claim.
   * @param reopen - Opens the core that replaces this one in `moveTo`; a core of the same engine.
   * @throws errors that `errorOf` makes of faults.
   */
  open(spec: CoreSpec, step: PageStep | undefined, reopen: (spec: CoreSpec) => Core): Core
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
const reservationAt = 14

/** The kinds of clocks, as in `native/binding/environment.h`. */
export const clockKinds = { wall: 0, steady: 1, injected: 2 } as const

/** Returns a function that reads the generation of the machine. */
export function generationReader({ mailbox, generation }: Binding): () => number {
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
  const generation = generationReader(binding)
  const seen: Observation = {
    status: 0,
    nowMs: 0,
    nowTick: 0,
    headTick: 0,
    lastTick: 0,
    highTick: 0,
    issued: 0,
    ceilingTick: 0,
  }

  /**
   * The engine in C++. A call writes into the mailbox, calls a function without arguments and result, and
   * reads the mailbox.
   */
  class NativeCore implements Core {
    #handle: number
    readonly #clock: (() => number) | undefined
    readonly #reopen: (spec: CoreSpec) => Core
    /** Ids that were made with former states. */
    #issuedBefore = 0
    #isClosed = false
    /** The addon forgets the generator when this is collected. */
    owner: unknown

    constructor(spec: CoreSpec, step: PageStep | undefined, reopen: (spec: CoreSpec) => Core) {
      this.#reopen = reopen
      this.#clock = typeof spec.clock === 'function' ? spec.clock : undefined
      numbers[nowAt] = spec.nowMs
      this.owner = binding.open({
        ...spec,
        claimStep: step?.name ?? '',
        claimNext: step?.next ?? '',
        claimFloor: step?.floor ?? 0n,
        maxTick: BigInt(spec.maxTick),
        sequenceStart: startModes[spec.sequenceStart],
        place: places[spec.place],
        bound: bounds[spec.bound],
        clock: clockKinds[typeof spec.clock === 'function' ? 'injected' : spec.clock],
      })
      if (this.owner === undefined) throw errorOf(binding.fault(), spec)
      this.#handle = words32[handleAt] as number
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

    step(): number {
      // The clock first, because a user's function may use another generator.
      if (this.#clock !== undefined) numbers[nowAt] = this.#clock()
      words32[handleAt] = this.#handle
      next()
      return words32[statusAt] as number
    }

    machine(): number {
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
      seen.issued = this.#issuedBefore + (numbers[issuedAt] as number)
      seen.ceilingTick = numbers[ceilingAt] as number
      return seen
    }

    grant(nowTick: number, limitTick: number): number {
      this.#permit(nowTick, limitTick)
      binding.grant()
      return words32[statusAt] as number
    }

    grantUnused(nowTick: number): number {
      this.#permit(nowTick, 0)
      binding.grantUnused()
      return words32[statusAt] as number
    }

    fill(array: IdArray, from: number, to: number): number {
      if (this.#clock !== undefined) numbers[nowAt] = this.#clock()
      words32[handleAt] = this.#handle
      numbers[limitAt] = -1
      return binding.fill(array, from, to)
    }

    fillGranted(array: IdArray, from: number, to: number, nowTick: number, limitTick: number): number {
      this.#permit(nowTick, limitTick)
      return binding.fill(array, from, to)
    }

    fillUnused(array: IdArray, from: number, to: number, nowTick: number): number {
      this.#permit(nowTick, 0, to - from)
      binding.grantUnused()
      return words32[statusAt] === Status.ok ? this.fillGranted(array, from, to, nowTick, nowTick) : 0
    }

    awaitCeiling(attempt: number, blockMs: number): CeilingWaited {
      // observe() has left the clock's time in the mailbox.
      words32[handleAt] = this.#handle
      const waitedFor = binding.awaitCeiling(attempt, blockMs)
      return { outcome: words32[statusAt] as number, attempt: waitedFor }
    }

    raiseCeiling(slot: bigint): void {
      words32[handleAt] = this.#handle
      binding.raiseCeiling(slot)
    }

    raiseFloor(slot: bigint, highTick: number): bigint {
      if (this.#isClosed) return slot
      words32[handleAt] = this.#handle
      const former = binding.raiseFloor(slot, highTick)
      if (former === undefined) throw this.failure()
      return former
    }

    moveTo(spec: CoreSpec): void {
      if (this.#isClosed) return
      const next = this.#reopen(spec) as NativeCore
      // A user's clock is not called, because it could use the generator between the two states. The mailbox
      // has the time of opening.
      words32[handleAt] = this.#handle
      binding.observe()
      this.#issuedBefore += numbers[issuedAt] as number
      binding.close()
      this.#handle = next.#handle
      this.owner = next.owner
    }

    reservation(): Reservation {
      words32[handleAt] = this.#handle
      binding.reservation()
      const [number, tick, sequence, count] = numbers.subarray(reservationAt) as unknown as number[]
      return { number, tick, sequence, count } as Reservation
    }

    failure(): Error {
      return errorOf(binding.fault())
    }

    statePath(): string | undefined {
      words32[handleAt] = this.#handle
      return binding.page()
    }

    close(): void {
      this.#isClosed = true
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
    open: (spec, step, reopen) => new NativeCore(spec, step, reopen),
  }
}
