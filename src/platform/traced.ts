import type {
  Bounds,
  CeilingWaited,
  Core,
  CoreReport,
  CoreSpec,
  IdArray,
  Observation,
  Permit,
} from '../state/engine.js'
import { nameOfIds } from '../state/key.js'
import type { Debug } from './debug.js'

/**
 * A core that prints its reservations, with `NODE_DEBUG=graupel`. Both engines keep their last reservation,
 * and this class asks for it before and after each call. Without the variable no core is wrapped, so nobody
 * asks.
 */
export class TracedCore implements Core {
  readonly #core: Core
  readonly #engine: string
  readonly #print: Debug
  /** The present state, of which views know through the core that they view. */
  readonly #at: { spec: CoreSpec }
  // The id of the last call, read before its line is printed: the program may have replaced stderr by a
  // function that makes ids, and the core has the id of that call afterwards.
  id = 0n
  idHigh = 0
  idLow = 0

  constructor(core: Core, engine: string, at: { spec: CoreSpec }, print: Debug) {
    this.#core = core
    this.#engine = engine
    this.#at = at
    this.#print = print
  }

  takeOne(): number {
    return this.#taken(() => this.#core.takeOne())
  }

  grant(permit: Permit): number {
    return this.#taken(() => this.#core.grant(permit))
  }

  fill(array: IdArray, from: number, to: number, permit?: Permit): number {
    const before = this.#reserved
    return this.#traced(before, this.#core.fill(array, from, to, permit))
  }

  moveTo(spec: CoreSpec): void {
    this.#core.moveTo(spec)
    this.#at.spec = spec
  }

  view(tagBits: bigint): Core {
    return new TracedCore(this.#core.view(tagBits), this.#engine, this.#at, this.#print)
  }

  follow(): void {
    this.#core.follow()
  }

  generation(): number {
    return this.#core.generation()
  }

  observe(): Observation {
    return this.#core.observe()
  }

  awaitCeiling(round: number, blockMs: number): CeilingWaited {
    return this.#core.awaitCeiling(round, blockMs)
  }

  exceed(id: bigint, aheadTicks: number): number {
    return this.#core.exceed(id, aheadTicks)
  }

  raise(bounds: Bounds): bigint {
    return this.#core.raise(bounds)
  }

  report(): CoreReport {
    return this.#core.report()
  }

  close(): void {
    this.#core.close()
  }

  /** The number of the last reservation. On the js engine, views and their core have one number. */
  get #reserved(): number {
    return this.#core.report().reservation.number
  }

  #taken(take: () => number): number {
    const before = this.#reserved
    const result = take()
    const { id, idHigh, idLow } = this.#core
    this.#traced(before, result)
    Object.assign(this, { id, idHigh, idLow })
    return result
  }

  /** Prints the reservation of a call, if the call has made one, and returns the result of the call. */
  #traced(before: number, result: number): number {
    const { number, tick, sequence, count } = this.#core.report().reservation
    if (number > before) {
      const { key, description, epochMs, tickMs } = this.#at.spec
      const time = new Date(epochMs + tick * tickMs).toISOString()
      const engine = this.#engine
      this.#print('reservation', { ...nameOfIds(key, description), engine, tick, time, sequence, count })
    }
    return result
  }
}
