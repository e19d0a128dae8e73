import { DecimalWriter } from '../codec/index.js'
import { closedError, rangeError } from '../core/errors.js'
import type { EngineKind } from '../engine/choose.js'
import { type Core, type IdArray, Status } from '../engine/engine.js'
import type { NodeSource } from '../engine/source/node-source.js'
import { type DecodedId, decode, type Field, type Layout } from '../layout/index.js'
import type { Counters } from '../policy/counters.js'
import { Queue } from '../policy/queue.js'
import { PolicyRunner } from '../policy/runner.js'
import { checkCount, checkIdArray, checkSign, isSigned } from './array.js'
import type { BaseGenerator, NarrowGenerator } from './id-generator.js'
import { endless, inspectWith } from './object.js'
import type { ResolvedOptions } from './resolve.js'
import type { Stats } from './stats.js'
import { FillTask, OneTask } from './task.js'

const nothingCounted: Counters = Object.freeze({ waits: 0, waitedMs: 0, rollbacks: 0, overflows: 0 })

/** The class behind {@link createGenerator}. @internal */
export class Generator<F extends readonly Field[]> implements BaseGenerator<F>, NarrowGenerator {
  declare readonly next: () => bigint
  readonly #core: Core
  readonly #settings: ResolvedOptions<F>
  readonly #source: NodeSource
  /** Made when there is something to count. */
  #counters: Counters | undefined
  #makeString: (() => string) | undefined
  #runner: PolicyRunner | undefined
  #queue: Queue | undefined
  #isClosed = false
  /** Set by `close()`. */
  #lastStats: Stats | undefined

  constructor(core: Core, settings: ResolvedOptions<F>, source: NodeSource) {
    this.#core = core
    this.#settings = settings
    this.#source = source
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

  /** As {@link #nextOf}. */
  static #nextStringOf(ids: Generator<readonly Field[]>, core: Core): () => string {
    const text = new DecimalWriter()
    return () => {
      if (core.step() !== (0 satisfies typeof Status.ok)) ids.#judged().run(new OneTask(core))
      return text.write(core.idHigh, core.idLow)
    }
  }

  // The other three are made when they are first asked for: with all four, a generator takes a third more memory.

  get nextString(): () => string {
    return Generator.#ownOr(this, 'nextString', (ids) => {
      ids.#makeString ??= Generator.#nextStringOf(ids, ids.#core)
      return ids.#makeString
    })
  }

  get nextNumber(): () => number {
    return Generator.#ownOr(this, 'nextNumber', (ids) => () => ids.#nextNumber())
  }

  get nextAsync(): () => Promise<bigint> {
    return Generator.#ownOr(this, 'nextAsync', (ids) => () => ids.#nextAsync())
  }

  /** Tools that replace methods read them from the prototype, without a generator, and get a method that needs one. */
  static #ownOr<T>(of: Generator<readonly Field[]>, name: string, methodOf: (ids: typeof of) => () => T): () => T {
    if (#core in Object(of)) return own(of, name, methodOf(of))
    return function (this: typeof of) {
      return methodOf(this)()
    } as () => T
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
    checkCount(count)
    return Array.from(this.fill(new BigUint64Array(count)))
  }

  [Symbol.iterator](): IterableIterator<bigint> {
    return endless(this)
  }

  get layout(): Layout<F> {
    return this.#settings.layout
  }

  get node(): number {
    return this.#source.node
  }

  get engine(): EngineKind {
    return this.#settings.engine
  }

  get state(): string {
    const { path, isThread } = this.#settings
    if (this.#lastStats !== undefined) return this.#lastStats.state
    if (this.#source.leaseStats !== undefined) return 'lease'
    if (path !== '') return path
    return this.#core.statePath() !== undefined ? 'host' : isThread ? 'thread' : 'process'
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
    const lease = this.#source.leaseStats?.()
    const seen = this.#core.observe()
    const aheadMs = Math.max(0, (seen.lastTick - seen.nowTick) * layout.tickMs)
    return {
      engine,
      state: this.state,
      issued: seen.issued,
      ...(this.#counters ?? nothingCounted),
      aheadMs,
      ceilingMs: seen.ceilingTick < 0 ? null : layout.epochMs + seen.ceilingTick * layout.tickMs,
      ...(lease && { lease }),
    }
  }

  close(): void {
    if (this.#isClosed) return
    // First, because stats() calls a `clock` function, which may close the generator itself, or throw.
    this.#isClosed = true
    try {
      this.#lastStats = this.stats()
    } finally {
      this.#core.close()
      this.#queue?.close(this.#closedError())
    }
  }

  [Symbol.dispose](): void {
    this.close()
  }

  #closedError(): Error {
    return closedError(`the generator of node ${this.node}`)
  }

  #checkArray(array: unknown): asserts array is IdArray {
    checkIdArray(array)
    if (this.#isClosed) throw this.#closedError()
    const { layout } = this.#settings
    if (!isSigned(array, layout)) return
    checkSign(layout, this.node, this.#core.observe().nowMs)
    // Again, because a `clock` function was just called, and may have transferred the array.
    checkIdArray(array)
  }

  // The three below are made when they are first needed: most generators never wait.

  #judged(): PolicyRunner {
    if (this.#runner === undefined) {
      const settings = this.#settings
      const { layout, namespace, clock, path } = settings
      this.#counters = { ...nothingCounted }
      const subject = {
        layout,
        namespace,
        hasInjectedClock: typeof clock === 'function',
        path,
        source: this.#source,
      }
      this.#runner = new PolicyRunner(this.#core, this.#settings, subject, this.#counters)
    }
    return this.#runner
  }

  #queued(): Queue {
    if (this.#isClosed) throw this.#closedError()
    this.#queue ??= new Queue(this.#judged())
    return this.#queue
  }
}

/** Gives an object a method that is found before its class's; not enumerable, as methods are. */
function own<M>(object: object, name: string, method: M): M {
  Object.defineProperty(object, name, { value: method, writable: true, configurable: true })
  return method
}
