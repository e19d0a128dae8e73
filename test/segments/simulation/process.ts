import { createSegmentGenerator } from '../../../src/segments/create.js'
import type { SegmentGenerator } from '../../../src/segments/segment-generator.js'
import { Machine } from '../../simulation/machine.ts'
import { storeOf } from '../../simulation/network.ts'
import { on } from './platform.ts'
import type { World } from './world.ts'

/** Errors that a call may have during faults. */
const usual = ['ERR_EMPTY', 'ERR_STATE_UNREACHABLE', 'ERR_STORE_UNAVAILABLE']

/** One life of a process: a shipped generator of segments, and threads that have its handle. */
export class Process extends Machine {
  /** The last number of all its threads. */
  last = -1n
  readonly #world: World

  constructor(number: number, world: World) {
    super(number, world, 5000)
    this.#world = world
  }

  crash(): void {
    this.isDead = true
    this.#world.note(this.number, undefined, () => 'crashes')
  }

  /** Does nothing when the network has an answer, because the threads continue on their own. */
  issue(): void {}

  async live(): Promise<void> {
    const { threads } = this.#world.shape
    const numbers = await this.#begin()
    if (numbers === undefined) return this.#world.settles(this.number)
    const all = [numbers]
    for (let thread = 1; thread < threads; thread++) {
      all.push(await on(this, () => createSegmentGenerator({ handle: numbers.handle })))
    }
    let [settled, segments] = [0, -1]
    // After the faults have ended, each thread has to see a new segment.
    const isFresh = () => {
      if (!this.#world.isCalm) return false
      if (segments === -1) segments = numbers.stats().segments
      return numbers.stats().segments > segments + 1
    }
    const lives = all.map(async (generator, thread) => {
      await this.#use(generator, `thread ${thread} of process ${this.number}`, isFresh)
      if (++settled === threads) this.#world.settles(this.number)
    })
    await Promise.all(lives)
  }

  /** The generator; `undefined` if there are no numbers for it. */
  async #begin(): Promise<SegmentGenerator | undefined> {
    const { numbering } = this.#world.shape
    const store = storeOf(this, this.#world, (...words) => this.#world.write(this.number, ...words))
    for (;;) {
      try {
        return await on(this, () => createSegmentGenerator({ store, name: 'orders', ...numbering }))
      } catch (error) {
        if (this.#isEnd(`process ${this.number}`, error)) return undefined
      }
      await this.sleep(this.#world.random() * 500)
    }
  }

  async #use(generator: SegmentGenerator, who: string, isFresh: () => boolean): Promise<void> {
    const { random, judge, shape } = this.#world
    let last = -1n
    const issue = (number: bigint) => {
      judge.issues(who, number, last)
      last = number
      if (number > this.last) this.last = number
    }
    for (;;) {
      const count = 1 + Math.floor(random() * shape.burst)
      const array = new BigUint64Array(count)
      const kind = random()
      let filled = 0
      try {
        if (kind < 0.3) {
          for (; filled < count; filled++) issue(generator.next())
        } else if (kind < 0.5) {
          for (; filled < count; filled++) issue(await generator.nextAsync())
        } else if (kind < 0.6) {
          for (; filled < count; filled++) issue(BigInt(generator.nextString()))
        } else {
          await (kind < 0.8 ? generator.fill(array) : generator.fillAsync(array))
          for (const number of array) issue(number)
        }
        this.#world.note(this.number, undefined, () => `${who} has ${count} numbers up to ${last}`)
        if (isFresh()) return
      } catch (error) {
        // The numbers that were written before the error are used.
        const { filled: written = 0 } = error as { filled?: number }
        for (const number of array.subarray(0, written)) issue(number)
        if (this.#isEnd(who, error)) return
      }
      await this.sleep(random() * shape.restMs)
    }
  }

  /** Whether an error says that there are no more numbers. */
  #isEnd(who: string, error: unknown): boolean {
    const { judge, note } = this.#world
    const { code = '', message } = error as { code?: string; message: string }
    note.call(this.#world, this.number, undefined, () => `${who}: ${code} ${message.slice(0, 90)}`)
    if (code === 'ERR_SEGMENT_OVERFLOW') {
      judge.overflows(who)
      return true
    }
    if (!usual.includes(code)) judge.fails(who, error)
    return false
  }
}
