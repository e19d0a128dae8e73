import { type Counter, openCounter } from '../../src/counter/counter.js'
import type { CounterOptions } from '../../src/counter/options.js'
import { checkCounterOptions } from '../../src/counter/resolve.js'
import { memoryStore } from '../../src/stores/memory.js'
import type { Store } from '../../src/stores/store.js'
import { VirtualTime } from '../support/virtual-time.ts'

/** A fault of a write. It decides whether the write is applied. */
export type Fault = (apply: () => Promise<string | undefined>) => Promise<string | undefined>

/** Counters on one store in memory, with the test's clock and faults. */
export class World {
  readonly time = new VirtualTime()
  readonly inner = memoryStore()
  /** The time of the store's clock. */
  nowMs = Date.UTC(2026, 10, 22, 12)
  /** The fault of the next writes; `undefined` for none. */
  faults: (Fault | undefined)[] = []
  /** Rises when the machine is copied. */
  generation = 0
  /** The requested writes. */
  writes = 0
  #tokens = 0
  readonly store: Store = {
    ...this.inner,
    nowMs: async () => this.nowMs,
    write: (key, value, expected) => {
      this.writes++
      // The signal is dropped, because a write in progress cannot be recalled.
      const apply = () => this.inner.write(key, value, expected)
      const fault = this.faults.shift()
      return fault === undefined ? apply() : fault(apply)
    },
  }

  async open(options: Partial<CounterOptions> = {}, wallMs = () => this.nowMs): Promise<Counter> {
    const choice = checkCounterOptions({ store: this.store, name: 'orders', callTimeoutMs: 100, ...options })
    return openCounter(choice, {
      wallMs,
      monotonicMs: () => this.time.monotonicMs(),
      later: (callback, ms) => this.time.later(callback, ms),
      random: () => 0.5,
      newToken: () => `t${++this.#tokens}`,
      generation: () => this.generation,
    })
  }

  /** Returns the record, or `undefined`. */
  async record(): Promise<Record<string, unknown> | undefined> {
    const entry = await this.inner.read('numbers/orders')
    return entry && JSON.parse(entry.value)
  }

  /** Replaces the record by another text. */
  async replace(value: string): Promise<void> {
    const entry = await this.inner.read('numbers/orders')
    await this.inner.write('numbers/orders', value, entry?.version)
  }

  until<T>(promise: Promise<T>): Promise<T> {
    return this.time.until(promise)
  }
}

export const lostBefore: Fault = async () => {
  throw new Error('cut before')
}
export const lostAfter: Fault = async (apply) => {
  await apply()
  throw new Error('cut after')
}
export const never = () => new Promise<never>(() => {})
