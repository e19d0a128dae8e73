import { type Counter, type CounterSurroundings, openCounter } from '../../../src/counter/counter.js'
import { checkCounterOptions } from '../../../src/counter/options.js'
import type { Store } from '../../../src/stores/store.js'
import { callTimeoutMs } from './shape.ts'
import type { World } from './world.ts'

const patterns = {
  never: '{count}',
  day: '{yyyy}-{MM}-{dd} {count}',
  month: '{yyyy}-{MM} {count}',
  year: '{yyyy} {count}',
}

/** One life of a process: some callers of one counter, until it crashes. */
export class Process {
  readonly number: number
  /** Counts that its calls have asked for and not got, because they failed, or because it has crashed. */
  missed = 0
  counter: Counter | undefined
  readonly #world: World
  readonly #skewMs: number
  #isDead = false
  /** Counts that calls ask for which are under way. */
  #asked = 0

  constructor(number: number, world: World) {
    this.number = number
    this.#world = world
    this.#skewMs = (world.random() * 2 - 1) * (world.shape.skewMs ?? 0)
  }

  get isDead(): boolean {
    return this.#isDead
  }

  crash(): void {
    this.#isDead = true
    this.missed += this.#asked
  }

  /** Counts while things go wrong, and then until nothing is left that it has taken and given to none. */
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
      await this.#sleep(world.random() * world.shape.pauseMs)
    }
    // Until one that is made in calm is answered.
    while (!world.hasFailed && !(await this.#take(counter)));
  }

  /** One call; whether it got a number. */
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
      await this.#sleep(random() * 100)
      return false
    } finally {
      this.#asked -= count
    }
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.#later(resolve, ms))
  }

  /** What is dead hears of nothing. */
  #later(callback: () => void, ms: number): () => void {
    return this.#world.time.later(() => {
      if (!this.#isDead) callback()
    }, ms)
  }

  #surroundings(): CounterSurroundings {
    const world = this.#world
    return {
      wallMs: () => world.trueMs() + this.#skewMs,
      monotonicMs: () => world.time.monotonicMs(),
      later: (callback, ms) => this.#later(callback, ms),
      random: world.random,
      newToken: () => world.newToken(),
    }
  }

  /** The store as this process sees it: behind a network that loses and delays. */
  #store(): Store {
    const { time, server, random, shape } = this.#world
    const happens = (chance: number) => this.#world.happens(chance)
    const wayMs = () => (happens(shape.slow) ? random() * 3 * callTimeoutMs : random() * 4)
    const lose = (what: string): Promise<never> =>
      random() < 0.5 ? new Promise(() => {}) : Promise.reject(new Error(`the ${what} was lost`))
    const call = async <T>(apply: () => T): Promise<T> => {
      if (this.#isDead) return new Promise(() => {})
      if (happens(shape.lostRequest)) return lose('request')
      await time.sleep(wayMs())
      const answer = apply()
      if (happens(shape.lostReply)) return lose('reply')
      await time.sleep(wayMs())
      return this.#isDead ? new Promise(() => {}) : answer
    }
    const write = (key: string, value: string, expected: string | undefined) =>
      server.write(this.number, key, value, expected)
    const store: Store = {
      name: 'simulated',
      durable: true,
      read: () => call(() => server.read()),
      list: () => call(() => []),
      write: (key, value, expected) =>
        call(() => {
          const version = write(key, value, expected)
          return happens(shape.sentTwice) ? write(key, value, expected) : version
        }),
    }
    return shape.skewMs === undefined ? { ...store, nowMs: () => call(() => this.#world.trueMs()) } : store
  }
}
