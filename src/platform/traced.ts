import type { CeilingWaited, Core, CoreSpec, IdArray, Observation, Reservation } from '../state/engine.js'
import { nameOfIds } from '../state/key.js'
import type { Debug } from './debug.js'

/**
 * A core that prints its reservations, with `NODE_DEBUG=graupel`. Both engines keep their last reservation,
 * and this class asks for it after each call. Without the variable no core is wrapped, so nobody asks.
 */
export class TracedCore implements Core {
  readonly #core: Core
  readonly #engine: string
  readonly #print: Debug
  #spec: CoreSpec
  /** How many reservations were printed, or made by a core of the former state. */
  #printed = 0

  constructor(core: Core, engine: string, spec: CoreSpec, print: Debug) {
    this.#core = core
    this.#engine = engine
    this.#spec = spec
    this.#print = print
  }

  get id(): bigint {
    return this.#core.id
  }

  get idHigh(): number {
    return this.#core.idHigh
  }

  get idLow(): number {
    return this.#core.idLow
  }

  step(): number {
    return this.#traced(this.#core.step())
  }

  grant(nowTick: number, limitTick: number): number {
    return this.#traced(this.#core.grant(nowTick, limitTick))
  }

  grantUnused(nowTick: number): number {
    return this.#traced(this.#core.grantUnused(nowTick))
  }

  fill(array: IdArray, from: number, to: number): number {
    return this.#traced(this.#core.fill(array, from, to))
  }

  fillGranted(array: IdArray, from: number, to: number, nowTick: number, limitTick: number): number {
    return this.#traced(this.#core.fillGranted(array, from, to, nowTick, limitTick))
  }

  fillUnused(array: IdArray, from: number, to: number, nowTick: number): number {
    return this.#traced(this.#core.fillUnused(array, from, to, nowTick))
  }

  moveTo(spec: CoreSpec): void {
    this.#core.moveTo(spec)
    this.#spec = spec
    this.#printed = this.#core.reservation().number
  }

  machine(): number {
    return this.#core.machine()
  }

  observe(): Observation {
    return this.#core.observe()
  }

  awaitCeiling(attempt: number, blockMs: number): CeilingWaited {
    return this.#core.awaitCeiling(attempt, blockMs)
  }

  raiseCeiling(slot: bigint): void {
    this.#core.raiseCeiling(slot)
  }

  raiseFloor(slot: bigint, highTick: number): bigint {
    return this.#core.raiseFloor(slot, highTick)
  }

  reservation(): Reservation {
    return this.#core.reservation()
  }

  failure(): Error {
    return this.#core.failure()
  }

  statePath(): string | undefined {
    return this.#core.statePath()
  }

  close(): void {
    this.#core.close()
  }

  /** Prints the reservation of a call, if the call has made one, and returns the result of the call. */
  #traced(result: number): number {
    const { number, tick, sequence, count } = this.#core.reservation()
    if (number > this.#printed) {
      this.#printed = number
      const { key, description, epochMs, tickMs } = this.#spec
      const time = new Date(epochMs + tick * tickMs).toISOString()
      const engine = this.#engine
      this.#print('reservation', { ...nameOfIds(key, description), engine, tick, time, sequence, count })
    }
    return result
  }
}
