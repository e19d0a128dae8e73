import type { Lease } from '../../../src/lease/lease.js'
import { Machine } from '../../simulation/machine.ts'
import { storeOf } from '../../simulation/network.ts'
import type { Modules, Start } from '../programs-simulation/load.ts'
import type { World } from './world.ts'

const layoutSpec = {
  name: 'strict',
  epochMs: 0,
  tickMs: 1,
  fields: [
    ['timestamp', 41],
    ['worker', 1],
    ['sequence', 12],
  ],
} as const

/** The part of a lease's store calls after which the service gives up one. */
const callsOfWindow = 3

/** One life of a server of the group, which answers as `graupel-server --strict` does. */
export class Program extends Machine {
  readonly #world: World
  readonly #modules: Modules
  /** The part by which its monotonic clock runs fast. */
  readonly #drift: number
  #skewMs = 0
  #lease: Lease | undefined
  #ids: { next(): bigint; close(): void } | undefined

  constructor(number: number, world: World, start: Start) {
    super(number, world, world.shape.windowMs / 2, 1.5 * world.shape.windowMs)
    this.#world = world
    // Two clocks differ by 1 % at most, which is the bound that a term allows for.
    this.#drift = (world.random() - 0.5) * 0.0099
    this.setClock()
    this.#modules = start({
      wallMs: () => this.#wallMs(),
      monotonicMs: () => this.monotonicMs(),
      later: (callback, ms) => this.later(callback, ms),
      background: (callback, ms) => this.later(callback, ms),
      random: world.random,
    })
  }

  override monotonicMs(): number {
    return super.monotonicMs() * (1 + this.#drift)
  }

  /**
   * Sets the clock by the store's, mostly within the skew that is allowed. After the faults, always within:
   * a server whose clock is wrong may not answer.
   */
  setClock(): void {
    const { random, shape, store, isCalm } = this.#world
    const part = isCalm ? (random() - 0.5) * 0.5 : (random() - 0.6) * 1.6
    this.#skewMs = store.aheadMs() + part * shape.maxClockSkewMs
  }

  stepClock(): void {
    const { random } = this.#world
    this.#skewMs += (random() - 0.7) * (random() < 0.6 ? 2000 : 20_000)
    this.#world.note(this.number, undefined, () => `its clock is now ${Math.round(this.#skewMs)} ms ahead`)
  }

  override recover(): void {
    super.recover()
    this.setClock()
  }

  crash(): void {
    this.isDead = true
    this.#world.note(this.number, undefined, () => 'crashes')
  }

  /** For the network; the clients of a world ask by themselves. */
  issue(): void {}

  /** Whether it answers. */
  get isHolder(): boolean {
    return !this.isDead && this.#lease?.term?.isOver === false
  }

  /** Acquires a lease, and another one when it is over. */
  async live(): Promise<void> {
    const { acquireLease, defineLayout } = this.#modules
    const { windowMs, maxClockSkewMs } = this.#world.shape
    const { server, aheadMs } = this.#world.store
    const store = storeOf(this, this.#world, (key, value, expected) => server.write(key, value, expected))
    const nowMs = async () => ((await store.nowMs?.()) as number) + aheadMs()
    for (;;) {
      try {
        const lease = (await acquireLease({
          ...{ store: { ...store, nowMs }, layout: defineLayout(layoutSpec as never), node: 0, strict: true },
          ...{ windowMs, maxClockSkewMs, callTimeoutMs: windowMs / callsOfWindow, acquireTimeoutMs: 1e9 },
          owner: `program ${this.number}`,
        } as never)) as Lease
        this.#lease = lease
        this.#begin('acquires')
        lease.on('moved', () => this.#begin('moves'))
        await new Promise<void>((resolve) => lease.signal.addEventListener('abort', () => resolve()))
        this.#ids?.close()
        this.#ids = undefined
        this.#world.note(this.number, undefined, () => 'has no lease any more')
      } catch {
        // An operator sets a clock that the store's contradicts.
        this.setClock()
      }
      await this.sleep(100)
    }
  }

  async release(): Promise<void> {
    this.#world.note(this.number, undefined, () => 'gives its node back')
    await this.#lease?.release()
  }

  /** Answers a request that has arrived; `undefined` is a refusal. */
  async answer(): Promise<{ readonly first: bigint; readonly last: bigint } | undefined> {
    const before = this.#lease?.term
    if (before === undefined) return undefined
    await this.#work()
    const made = this.#make()
    if (made === undefined) return undefined
    await this.#work()
    const term = this.#world.setting.takesTermLate ? this.#lease?.term : before
    if (term === undefined || term.isOver) return undefined
    this.#world.note(this.number, 0, () => `answers ${made.last}`)
    await this.#work()
    return made
  }

  #make(): { readonly first: bigint; readonly last: bigint } | undefined {
    try {
      const first = this.#ids?.next()
      let last = first
      // Generators reserve more slots at once for callers that need many.
      for (let more = this.#world.random() < 0.2 ? 20 : 0; more > 0; more--) last = this.#ids?.next()
      return first === undefined || last === undefined ? undefined : { first, last }
    } catch {
      return undefined
    }
  }

  #begin(what: string): void {
    const { createGenerator } = this.#modules
    this.#ids?.close()
    this.#ids = undefined
    const { ceilingMs } = (this.#lease as Lease).stats()
    this.#world.note(this.number, 0, () => `${what}, up to ${ceilingMs}`)
    this.#world.holders++
    try {
      this.#ids = createGenerator({
        lease: this.#lease,
        maxWaitMs: 0,
        maxAheadMs: 10_000,
        onOverflow: 'throw',
      } as never)
    } catch {
      void this.#lease?.release()
    }
  }

  /** Some work of the event loop, in which the process may be stopped. */
  async #work(): Promise<void> {
    const { random, shape } = this.#world
    if (this.#world.happens(shape.faults.pauseInAnswer)) this.pause('while it answers')
    if (random() < 0.3) await this.sleep(random() * (random() < 0.1 ? 1000 : 20))
    await this.awake()
  }

  #wallMs(): number {
    return this.#world.trueMs() + this.#skewMs
  }
}
