import { type Core, type CoreSpec, type IdArray, type Observation, Status, startModes } from './engine.js'

/** The functions of the addon (`native/binding/addon.cc`). All but the last three take what they need from the mailbox. */
export interface Binding {
  readonly mailbox: ArrayBuffer
  next(): void
  observe(): void
  grant(): void
  grantUnused(): void
  close(): void
  fill(array: IdArray, from: number, to: number): number
  /** Keeps the generator alive for as long as the result; its handle is left in the mailbox. */
  open(options: object): unknown
  /** Nothing below the slot is issued for that key any more. */
  raise(key: string, slot: bigint): void
}

/** A binding with the views of its mailbox; one per thread. */
export interface NativeEngine {
  readonly binding: Binding
  readonly id64: BigUint64Array
  readonly words32: Uint32Array
  readonly numbers: Float64Array
  /** What `observe` returns. */
  readonly observation: Observation
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

const clockKinds = { wall: 0, steady: 1 } as const
const injectedClock = 2

export function nativeEngine(binding: Binding): NativeEngine {
  const { mailbox } = binding
  return {
    binding,
    id64: new BigUint64Array(mailbox),
    words32: new Uint32Array(mailbox),
    numbers: new Float64Array(mailbox),
    observation: { status: 0, nowMs: 0, nowTick: 0, headTick: 0, lastTick: 0, highTick: 0, issued: 0 },
  }
}

/** The engine in C++. Every call writes into the mailbox, calls a function that takes and returns nothing, and reads. */
export class NativeCore implements Core {
  readonly id64: BigUint64Array
  readonly id32: Uint32Array
  readonly #engine: NativeEngine
  readonly #next: () => void
  readonly #handle: number
  readonly #clock: (() => number) | undefined
  /** The addon forgets the generator when this is collected. */
  readonly owner: unknown

  constructor(spec: CoreSpec, engine: NativeEngine) {
    const { binding, words32, numbers } = engine
    this.id64 = engine.id64
    this.id32 = words32
    this.#engine = engine
    this.#next = binding.next
    this.#clock = typeof spec.clock === 'function' ? spec.clock : undefined
    numbers[nowAt] = spec.historyFromMs ?? 0
    this.owner = binding.open({
      ...spec,
      maxTick: BigInt(spec.maxTick),
      sequenceStart: startModes[spec.sequenceStart],
      history: spec.historyFromMs !== undefined,
      clock: typeof spec.clock === 'function' ? injectedClock : clockKinds[spec.clock],
    })
    this.#handle = words32[handleAt] as number
  }

  step(): number {
    // The clock first: it is the user's, and may use another generator.
    if (this.#clock !== undefined) this.#engine.numbers[nowAt] = this.#clock()
    this.id32[handleAt] = this.#handle
    this.#next()
    return this.id32[statusAt] as number
  }

  observe(): Observation {
    if (this.#clock !== undefined) this.#engine.numbers[nowAt] = this.#clock()
    this.id32[handleAt] = this.#handle
    this.#engine.binding.observe()
    const numbers = this.#engine.numbers
    const seen = this.#engine.observation
    seen.status = this.id32[statusAt] as number
    seen.nowMs = numbers[nowMsAt] as number
    seen.nowTick = numbers[nowAt] as number
    seen.headTick = numbers[headTickAt] as number
    seen.lastTick = numbers[lastTickAt] as number
    seen.highTick = numbers[highTickAt] as number
    seen.issued = numbers[issuedAt] as number
    return seen
  }

  grant(nowTick: number, limitTick: number): number {
    this.#permit(nowTick, limitTick)
    this.#engine.binding.grant()
    return this.id32[statusAt] as number
  }

  grantUnused(nowTick: number): number {
    this.#permit(nowTick, 0)
    this.#engine.binding.grantUnused()
    return this.id32[statusAt] as number
  }

  fill(array: IdArray, from: number, to: number): number {
    if (this.#clock !== undefined) this.#engine.numbers[nowAt] = this.#clock()
    this.id32[handleAt] = this.#handle
    this.#engine.numbers[limitAt] = -1
    return this.#engine.binding.fill(array, from, to)
  }

  fillGranted(array: IdArray, from: number, to: number, nowTick: number, limitTick: number): number {
    this.#permit(nowTick, limitTick)
    return this.#engine.binding.fill(array, from, to)
  }

  fillUnused(array: IdArray, from: number, to: number, nowTick: number): number {
    this.#permit(nowTick, 0, to - from)
    this.#engine.binding.grantUnused()
    return this.id32[statusAt] === Status.ok ? this.fillGranted(array, from, to, nowTick, nowTick) : 0
  }

  close(): void {
    this.id32[handleAt] = this.#handle
    this.#engine.binding.close()
  }

  /** @param want - Slots to lease without handing one out; 0 makes one id. */
  #permit(nowTick: number, limitTick: number, want = 0): void {
    this.id32[handleAt] = this.#handle
    this.#engine.numbers[nowAt] = nowTick
    this.#engine.numbers[limitAt] = limitTick
    this.#engine.numbers[wantAt] = want
  }
}
