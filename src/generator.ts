// For `Disposable`: whoever imports these types needs neither a lib newer than ES2022 nor @types/node.
/// <reference lib="esnext.disposable" preserve="true" />

import { platform } from '#platform'
import { checkIdArray, checkSign } from './array.js'
import { DecimalWriter } from './codec/index.js'
import { openCore } from './engine/choose.js'
import { type Core, type IdArray, Status } from './engine/engine.js'
import { rangeError, show, typeError } from './errors.js'
import { type DecodedId, decode, type Field, type IsNarrow, type Layout, type layouts } from './layout/index.js'
import { coreSpec, type GeneratorOptions, type Settings, settle } from './options.js'
import { Queue } from './policy/queue.js'
import { closedError, expiredError, Referee } from './policy/referee.js'
import type { Counters, Stats } from './stats.js'
import { FillTask, OneTask } from './task.js'

const yearMs = 365.25 * 24 * 3600 * 1000
const mostTaken = 2 ** 32 - 1
const nothingCounted: Counters = Object.freeze({ waits: 0, waitedMs: 0, rollbacks: 0, overflows: 0 })

/**
 * A generator of ids; {@link createGenerator} makes them. With layouts of at most 53 bits it has `nextNumber()` too, and
 * where TypeScript does not know the layout it may have it.
 */
export type IdGenerator<F extends readonly Field[] = readonly Field[]> = BaseGenerator<F> &
  ([IsNarrow<F>] extends [true] ? NarrowGenerator : [IsNarrow<F>] extends [false] ? unknown : Partial<NarrowGenerator>)

/** What generators of narrow layouts have in addition. */
export interface NarrowGenerator {
  /**
   * Makes one id as a number, which holds it exactly.
   *
   * @throws RangeError `ERR_NUMBER_UNSAFE` for a layout of more than 53 bits, where the types did not refuse it; otherwise as `next`.
   */
  nextNumber(): number
}

/** What every generator has. */
export interface BaseGenerator<F extends readonly Field[] = readonly Field[]> extends Iterable<bigint>, Disposable {
  /**
   * Makes one id. Blocks where the policy says to wait, for `maxWaitMs` at the most.
   *
   * @throws GraupelError `ERR_CLOCK_ROLLBACK`, `ERR_SEQUENCE_OVERFLOW`, `ERR_CLOCK_BEFORE_EPOCH`, `ERR_LAYOUT_EXPIRED`,
   * `ERR_STATE_UNAVAILABLE`, `ERR_CLOSED`;
   * TypeError, RangeError `ERR_CLOCK_INVALID`. Nothing is issued then.
   */
  next(): bigint
  /** Makes one id in decimal digits, as JSON and JavaScript clients need it. @throws as `next`. */
  nextString(): string
  /** Makes one id; where `next` would block, the event loop runs on, for as long as it takes if the clock stands still. Calls get their ids in the order they were made in. Rejects as `next` throws. */
  nextAsync(): Promise<bigint>
  /**
   * Fills an array of your own with ids in ascending order, and returns it. One reservation for as many ids as the tick holds.
   *
   * @throws TypeError, RangeError `ERR_ARRAY_INVALID`; as `next`, with `filled`: how many elements at the front hold ids.
   */
  fill<A extends IdArray>(array: A): A
  /** The same, never blocking the event loop for more than a tick. The array is yours again when the promise settles. */
  fillAsync<A extends IdArray>(array: A): Promise<A>
  /** Makes `count` ids, 0 to 2^32 - 1. @throws TypeError, RangeError `ERR_OPTION_INVALID`; as `fill`. */
  take(count: number): bigint[]
  /** Takes an id of this generator's layout apart. @throws as {@link decode}. */
  decode(id: bigint | string): DecodedId<F>
  /** What this generator did so far; after `close()`, what it had done by then. */
  stats(): Stats
  /** Ends the generator: every later call throws, and every waiting one rejects with, `ERR_CLOSED`. Closing twice is fine. */
  close(): void
}

class Generator<F extends readonly Field[]> implements BaseGenerator<F>, NarrowGenerator {
  readonly #core: Core
  readonly #settings: Settings<F>
  /** Made with the first thing there is to count. */
  #counters: Counters | undefined
  #text: DecimalWriter | undefined
  #referee: Referee | undefined
  #queue: Queue | undefined
  #isClosed = false
  /** Set by `close()`. */
  #lastStats: Stats | undefined

  constructor(core: Core, settings: Settings<F>) {
    this.#core = core
    this.#settings = settings
  }

  next(): bigint {
    const core = this.#core
    if (core.step() !== Status.ok) this.#judged().run(new OneTask(core))
    return core.id
  }

  nextString(): string {
    const core = this.#core
    if (core.step() !== Status.ok) this.#judged().run(new OneTask(core))
    this.#text ??= new DecimalWriter()
    return this.#text.write(core.idHigh, core.idLow)
  }

  nextNumber(): number {
    const { layout } = this.#settings
    if (layout.bits > 53) {
      throw rangeError(
        'ERR_NUMBER_UNSAFE',
        `ids of layout '${layout.name}' have ${layout.bits} bits, a number holds 53; use next() or nextString(), or layouts.js53`,
      )
    }
    const core = this.#core
    if (core.step() !== Status.ok) this.#judged().run(new OneTask(core))
    return core.idHigh * 2 ** 32 + core.idLow
  }

  async nextAsync(): Promise<bigint> {
    const core = this.#core
    if (this.#queue === undefined || this.#queue.isEmpty) {
      if (core.step() === Status.ok) return core.id
    }
    const task = new OneTask(core)
    await this.#queued().add(task)
    return task.id
  }

  fill<A extends IdArray>(array: A): A {
    this.#checkArray(array)
    new FillTask(this.#core, array, false).run(() => this.#judged())
    return array
  }

  async fillAsync<A extends IdArray>(array: A): Promise<A> {
    this.#checkArray(array)
    const task = new FillTask(this.#core, array, true)
    if (!task.isDone)
      await this.#queued()
        .add(task)
        .catch((error) => task.rethrow(error))
    return array
  }

  take(count: number): bigint[] {
    if (typeof count !== 'number') {
      throw typeError('ERR_OPTION_INVALID', `count is ${show(count)} (${typeof count}); pass how many ids to make`)
    }
    if (!Number.isInteger(count) || count < 0 || count > mostTaken) {
      throw rangeError('ERR_OPTION_INVALID', `count is ${count}; pass a whole number from 0 to ${mostTaken}`)
    }
    return Array.from(this.fill(new BigUint64Array(count)))
  }

  [Symbol.iterator](): IterableIterator<bigint> {
    const iterator = {
      next: () => ({ done: false as const, value: this.next() }),
      [Symbol.iterator]: () => iterator,
    }
    return iterator
  }

  decode(id: bigint | string): DecodedId<F> {
    return decode(id, this.#settings.layout)
  }

  stats(): Stats {
    if (this.#lastStats !== undefined) return { ...this.#lastStats }
    const { engine, layout, path } = this.#settings
    const seen = this.#core.observe()
    const aheadMs = Math.max(0, (seen.lastTick - seen.nowTick) * layout.tickMs)
    return {
      engine,
      state: path !== '' ? path : this.#core.page() !== undefined ? 'host' : 'process',
      issued: seen.issued,
      ...(this.#counters ?? nothingCounted),
      aheadMs,
      ceilingMs: seen.ceilingTick < 0 ? null : layout.epochMs + seen.ceilingTick * layout.tickMs,
    }
  }

  close(): void {
    if (this.#isClosed) return
    // First, because the clock that stats() reads is the user's, and may close the generator itself, or throw.
    this.#isClosed = true
    try {
      this.#lastStats = this.stats()
    } finally {
      this.#core.close()
      this.#queue?.close()
    }
  }

  [Symbol.dispose](): void {
    this.close()
  }

  #checkArray(array: unknown): asserts array is IdArray {
    checkIdArray(array)
    if (this.#isClosed) throw closedError()
    const { layout, node } = this.#settings
    if (layout.bits === 64) checkSign(array, layout, node, this.#core.observe().nowMs)
  }

  // The three below are made when they are first needed: most generators never wait.

  #judged(): Referee {
    if (this.#referee === undefined) {
      const { layout, node, namespace, clock } = this.#settings
      this.#counters = { ...nothingCounted }
      const subject = { layout, node, namespace, injectedClock: typeof clock === 'function' }
      this.#referee = new Referee(this.#core, this.#settings, subject, this.#counters)
    }
    return this.#referee
  }

  #queued(): Queue {
    if (this.#isClosed) throw closedError()
    this.#queue ??= new Queue(this.#judged())
    return this.#queue
  }
}

/**
 * Makes a generator. All generators with the same namespace, layout and node, in whichever thread or process of this user
 * on this host, share one state, so their ids are distinct; `state` says how far that reaches.
 *
 * It may block: until the next tick begins where the memory of the state has just been made, and for the locks of a state
 * file, `maxWaitMs` in all, or 1000 ms where that is not given.
 *
 * @param options - `node` is required, or `GRAUPEL_NODE` in the environment; {@link GeneratorOptions} describes all.
 * @throws TypeError `ERR_OPTION_UNKNOWN`, `ERR_NODE_REQUIRED`, `ERR_LAYOUT_INVALID`; TypeError, RangeError `ERR_OPTION_INVALID`,
 * `ERR_NODE_INVALID`, `ERR_CLOCK_INVALID`; RangeError `ERR_EPOCH_INVALID`; GraupelError `ERR_LAYOUT_EXPIRED`,
 * `ERR_NATIVE_UNAVAILABLE`, `ERR_STATE_UNREACHABLE`, `ERR_STATE_UNAVAILABLE`, `ERR_STATE_UNSAFE`, `ERR_STATE_MISMATCH`,
 * `ERR_STATE_CORRUPT`, `ERR_STATE_FULL`.
 * @example
 * const ids = createGenerator({ node: { datacenter: 1, worker: 7 } })
 * ids.next() // a bigint
 */
export function createGenerator<const F extends readonly Field[] = typeof layouts.twitter.fields>(
  options: GeneratorOptions<F>,
): IdGenerator<F> {
  return createSeeded(options, crypto.getRandomValues(new Uint32Array(1))[0] as number)
}

/** @param seed - Of `sequenceStart: 'random'`; 32 bits. @internal */
export function createSeeded<const F extends readonly Field[] = typeof layouts.twitter.fields>(
  options: GeneratorOptions<F>,
  seed: number,
): IdGenerator<F> {
  const settings = settle(options)
  const { layout, clock } = settings
  const nowMs = typeof clock === 'function' ? clock() : Date.now()
  if (nowMs < layout.epochMs) {
    throw rangeError(
      'ERR_EPOCH_INVALID',
      `the epoch, ${new Date(layout.epochMs).toISOString()}, lies in the future of the clock, ${new Date(nowMs).toISOString()}; choose an earlier one`,
    )
  }
  const expiresMs = layout.expiresAt.getTime()
  if (nowMs >= expiresMs) throw expiredError(layout, nowMs)
  if (expiresMs - nowMs < yearMs && typeof clock !== 'function') warnOfExpiry(layout)
  return new Generator(openCore(settings.engine, coreSpec(settings as never, seed, nowMs)), settings) as never
}

const warned = new Set<string>()

function warnOfExpiry(layout: Layout): void {
  const message = `layout '${layout.name}' expires on ${layout.expiresAt.toISOString()}; no id can be made from then on. Plan the move to a later epoch.`
  if (warned.has(message)) return
  warned.add(message)
  platform.warn(message, 'GRAUPEL_LAYOUT_EXPIRES')
}
