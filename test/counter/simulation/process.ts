import { type Counter, type CounterSurroundings, openCounter } from '../../../src/counter/counter.js'
import { checkCounterOptions } from '../../../src/counter/resolve.js'
import type { Store } from '../../../src/stores/store.js'
import { Machine } from '../../simulation/machine.ts'
import { storeOf } from '../../simulation/network.ts'
import { callTimeoutMs } from './shape.ts'
import type { World } from './world.ts'

const patterns = {
  never: '{count}',
  day: '{yyyy}-{MM}-{dd} {count}',
  month: '{yyyy}-{MM} {count}',
  year: '{yyyy} {count}',
}

/** One life of a process: some callers of one counter, until it crashes. */
export class Process extends Machine {
  /** Requested counts that the calls did not get, because they failed or the process crashed. */
  missed = 0
  counter: Counter | undefined
  readonly #world: World
  readonly #skewMs: number
  /** Requested counts of the calls in progress. */
  #asked = 0

  constructor(number: number, world: World) {
    super(number, world, 1000)
    this.#world = world
    this.#skewMs = (world.random() * 2 - 1) * (world.shape.skewMs ?? 0)
  }

  crash(): void {
    this.isDead = true
    this.missed += this.#asked
    this.#world.note(this.number, undefined, () => 'crashes')
  }

  /** Does nothing when the network has an answer, because the callers continue on their own. */
  issue(): void {}

  /** Counts during the faults, and then until every number that it has taken was given to a caller. */
  async live(): Promise<void> {
    const { shape } = this.#world
    this.counter = await this.#open()
    await Promise.all(Array.from({ length: shape.callersEach }, () => this.#call()))
    do await this.#take(this.counter)
    while (!this.#world.hasFailed && this.counter.stats().held > 0)
  }

  async #open(): Promise<Counter> {
    const { reset, timeZone, start } = this.#world.shape
    const options = { store: this.#store(), name: 'orders', pattern: patterns[reset], reset, timeZone, start }
    for (;;) {
      try {
        return await openCounter(checkCounterOptions({ ...options, callTimeoutMs }), this.#surroundings())
      } catch (error) {
        this.#world.judge.failed(error)
      }
    }
  }

  async #call(): Promise<void> {
    const { world, counter } = { world: this.#world, counter: this.counter as Counter }
    while (!world.isCalm) {
      await this.#take(counter)
      await this.sleep(world.random() * world.shape.restMs)
    }
    // Calls repeat until a call that was made after the faults is answered.
    while (!world.hasFailed && !(await this.#take(counter)));
  }

  /** Makes one call, and tells whether it got a number. */
  async #take(counter: Counter): Promise<boolean> {
    const { random, shape, judge } = this.#world
    const kind = random()
    const count = shape.hasTakes && kind < 0.3 ? 1 + Math.floor(random() * 3) : 1
    const fromMs = this.#world.trueMs()
    this.#asked += count
    try {
      if (kind < 0.3) judge.gave(this.number, await counter.take(count), count > 1, fromMs)
      else if (kind < 0.6 && shape.reset === 'never')
        judge.gave(this.number, [`${await counter.nextNumber()}`], false, fromMs)
      else judge.gave(this.number, [await counter.next()], false, fromMs)
      return true
    } catch (error) {
      this.missed += count
      judge.failed(error)
      await this.sleep(random() * 100)
      return false
    } finally {
      this.#asked -= count
    }
  }

  #surroundings(): CounterSurroundings {
    const world = this.#world
    return {
      wallMs: () => world.trueMs() + this.#skewMs,
      monotonicMs: () => this.monotonicMs(),
      later: (callback, ms) => this.later(callback, ms),
      random: world.random,
      newToken: () => world.newToken(),
      generation: () => 0,
    }
  }

  /** The store as this process sees it. It has no clock if the world's shape says so. */
  #store(): Store {
    const world = this.#world
    const { nowMs, ...store } = storeOf(this, world, (...words) => world.write(this.number, ...words))
    return world.shape.skewMs === undefined && nowMs !== undefined ? { ...store, nowMs } : store
  }
}
