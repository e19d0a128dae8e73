// For `Disposable`: whoever imports these types needs neither a lib newer than ES2022 nor @types/node.
/// <reference lib="esnext.disposable" preserve="true" />

import { platform } from '#platform'
import { checkIdArray, checkSign, isSigned } from './array.js'
import { DecimalWriter } from './codec/index.js'
import { clockMs, type EngineKind, openCore } from './engine/choose.js'
import { type Core, type IdArray, Status } from './engine/engine.js'
import { rangeError, show, typeError } from './errors.js'
import { type DecodedId, decode, type Field, type IsNarrow, type Layout, type layouts } from './layout/index.js'
import { coreSpec, type GeneratorOptions, type Settings, settle } from './options.js'
import { Queue } from './policy/queue.js'
import { closedError, expiredError, Referee } from './policy/referee.js'
import type { Counters, Stats } from './stats.js'
import { FillTask, OneTask } from './task.js'

const yearMs = 365.25 * 24 * 3600 * 1000
/** A list of bigints takes 32 bytes for each: 512 MiB. Much more would end the process. */
const mostTaken = 2 ** 24
/** What `util.inspect`, and `console.log` with it, calls; known by its name, because browsers have no `node:util`. */
const inspectWith = Symbol.for('nodejs.util.inspect.custom')
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
  nextNumber(this: void): number
}

/**
 * What every generator has. `next`, `nextString`, `nextNumber` and `nextAsync` need no `this`, so they can be passed on by
 * themselves. `console.log` and `JSON.stringify` show layout, node, engine and state.
 *
 * @example
 * const { nextString } = createGenerator({ node: 7 })
 * nextString().length // 19
 */
export interface BaseGenerator<F extends readonly Field[] = readonly Field[]> extends Iterable<bigint>, Disposable {
  /** How its ids are made up. */
  readonly layout: Layout<F>
  /** Which node it is: all node fields as one number, the first field the most significant. */
  readonly node: number
  /** Which engine was chosen. Where a native generator of this process counts the same node, that engine makes the ids. */
  readonly engine: EngineKind
  /** Where the last id is remembered, as in `stats()`. */
  readonly state: string
  /**
   * Makes one id. Blocks where the policy says to wait, for no more than `maxWaitMs` at a time.
   *
   * @throws GraupelError `ERR_CLOCK_ROLLBACK`, `ERR_SEQUENCE_OVERFLOW`, `ERR_CLOCK_BEFORE_EPOCH`, `ERR_LAYOUT_EXPIRED`,
   * `ERR_STATE_UNAVAILABLE`, `ERR_CLOSED`;
   * TypeError, RangeError `ERR_CLOCK_INVALID`. Nothing is issued then.
   */
  next(this: void): bigint
  /** Makes one id in decimal digits, as JSON and JavaScript clients need it. @throws as `next`. */
  nextString(this: void): string
  /**
   * Makes one id; where `next` would block, the event loop runs on. It waits for a full tick to pass, however long that is;
   * after a step back of the clock it rejects where `next` throws, except that one tick is always waited for. Calls get
   * their ids in the order they were made in.
   */
  nextAsync(this: void): Promise<bigint>
  /**
   * Fills an array of your own with ids in ascending order, and returns it. One reservation for as many ids as the tick holds;
   * then it waits for the next tick, each time no longer than `maxWaitMs`. So many ids take as many ticks as they fill.
   *
   * @throws TypeError, RangeError `ERR_ARRAY_INVALID`; as `next`, with `filled`: how many elements at the front hold ids.
   */
  fill<A extends IdArray>(array: A): A
  /**
   * The same without blocking the event loop, which gets a turn after each 16 384 ids. It waits as `nextAsync` does. The
   * array is yours again when the promise settles.
   */
  fillAsync<A extends IdArray>(array: A): Promise<A>
  /** Makes `count` ids, 0 to 16 777 216. @throws TypeError, RangeError `ERR_OPTION_INVALID`; as `fill`. */
  take(count: number): bigint[]
  /** Takes an id of this generator's layout apart. @throws as {@link decode}. */
  decode(id: bigint | string): DecodedId<F>
  /** What this generator did so far; after `close()`, what it had done by then. */
  stats(): Stats
  /** Ends the generator: every later call throws, and every waiting one rejects with, `ERR_CLOSED`. Closing twice is fine. */
  close(): void
}

class Generator<F extends readonly Field[]> implements BaseGenerator<F>, NarrowGenerator {
  declare readonly next: () => bigint
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
    own(this, 'next', Generator.#nextOf(this, core))
  }

  /**
   * Makes the function that makes ids. Where a call site has one generator, V8 takes what the function closes over for
   * constants, which saves 1 ns in 30; to look the status up among the others would cost as much.
   */
  static #nextOf(ids: Generator<readonly Field[]>, core: Core): () => bigint {
    const next = () => {
      if (core.step() !== (0 satisfies typeof Status.ok)) ids.#judged().run(new OneTask(core))
      return core.id
    }
    return next
  }

  // The other three are made when they are first asked for: with all four, a generator takes a third more memory.

  get nextString(): () => string {
    const bound = () => this.#nextString()
    return Generator.#ownOr(this, 'nextString', bound, (ids) => ids.#nextString())
  }

  get nextNumber(): () => number {
    const bound = () => this.#nextNumber()
    return Generator.#ownOr(this, 'nextNumber', bound, (ids) => ids.#nextNumber())
  }

  get nextAsync(): () => Promise<bigint> {
    const bound = () => this.#nextAsync()
    return Generator.#ownOr(this, 'nextAsync', bound, (ids) => ids.#nextAsync())
  }

  /** Tools that replace methods ask without a generator, and get a method that needs one. */
  static #ownOr<T>(
    of: Generator<readonly Field[]>,
    name: string,
    bound: () => T,
    call: (ids: typeof of) => T,
  ): () => T {
    if (#core in Object(of)) return own(of, name, bound)
    return function (this: typeof of) {
      return call(this)
    } as () => T
  }

  #nextString(): string {
    const core = this.#core
    if (core.step() !== Status.ok) this.#judged().run(new OneTask(core))
    this.#text ??= new DecimalWriter()
    return this.#text.write(core.idHigh, core.idLow)
  }

  #nextNumber(): number {
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

  async #nextAsync(): Promise<bigint> {
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
    new FillTask(this.#core, array, this.#settings.layout, false).run(() => this.#judged())
    return array
  }

  async fillAsync<A extends IdArray>(array: A): Promise<A> {
    this.#checkArray(array)
    const task = new FillTask(this.#core, array, this.#settings.layout, true)
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
      throw rangeError(
        'ERR_OPTION_INVALID',
        `count is ${count}; pass a whole number from 0 to ${mostTaken}, or fill arrays for more`,
      )
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

  get layout(): Layout<F> {
    return this.#settings.layout
  }

  get node(): number {
    return this.#settings.node
  }

  get engine(): EngineKind {
    return this.#settings.engine
  }

  get state(): string {
    const { path, isThread } = this.#settings
    if (this.#lastStats !== undefined) return this.#lastStats.state
    if (path !== '') return path
    return this.#core.memory() !== undefined ? 'host' : isThread ? 'thread' : 'process'
  }

  toJSON() {
    return { layout: this.layout.name, node: this.node, engine: this.engine, state: this.state }
  }

  [inspectWith](_depth: number, options: object, inspect: (value: unknown, options: object) => string): string {
    return `IdGenerator ${inspect(this.toJSON(), options)}`
  }

  decode(id: bigint | string): DecodedId<F> {
    return decode(id, this.#settings.layout)
  }

  stats(): Stats {
    if (this.#lastStats !== undefined) return { ...this.#lastStats }
    const { engine, layout } = this.#settings
    const seen = this.#core.observe()
    const aheadMs = Math.max(0, (seen.lastTick - seen.nowTick) * layout.tickMs)
    return {
      engine,
      state: this.state,
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
    if (!isSigned(array, layout)) return
    checkSign(layout, node, this.#core.observe().nowMs)
    // Again, because the clock that was just read is the user's, and may have given the array away.
    checkIdArray(array)
  }

  // The three below are made when they are first needed: most generators never wait.

  #judged(): Referee {
    if (this.#referee === undefined) {
      const { layout, node, namespace, clock, path } = this.#settings
      this.#counters = { ...nothingCounted }
      const subject = { layout, node, namespace, injectedClock: typeof clock === 'function', path }
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

/** Gives an object a method that is found before its class's; not enumerable, as methods are. */
function own<M>(object: object, name: string, method: M): M {
  Object.defineProperty(object, name, { value: method, writable: true, configurable: true })
  return method
}

/**
 * Makes a generator. All generators with the same namespace, layout and node, in whichever thread or process of this user
 * on this host, share one state, so their ids are distinct; on the js engine a second process is refused. `state` says how
 * far that reaches.
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
  options: GeneratorOptions<F> = {},
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
  const nowMs = typeof clock === 'function' ? clock() : clockMs(settings.engine)
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
