import { closedError } from '../core/errors.js'
import type { EngineKind } from '../engine/choose.js'
import type { NodeSource } from '../engine/source/node-source.js'
import { Views } from '../engine/source/views.js'
import {
  checkTags,
  type DecodedId,
  decode,
  type Field,
  type GivenId,
  type GivenTags,
  type Layout,
  missingTag,
  requiredTag,
  shiftTags,
  type TagValues,
} from '../layout/index.js'
import { checkIdArray, isSigned, signError } from '../numbers/array.js'
import { Numbers } from '../numbers/numbers.js'
import { Queue } from '../numbers/queue.js'
import { type MoreNumbers, noNumbers } from '../numbers/source.js'
import { observer } from '../policy/observe.js'
import type { Counters, Judged } from '../policy/policy.js'
import { PolicyRunner } from '../policy/runner.js'
import type { Core, IdArray } from '../state/engine.js'
import type { BaseGenerator, GeneratorView, NarrowGenerator, Stats } from './id-generator.js'
import type { ResolvedOptions } from './resolve.js'

const nothingCounted: Counters = /* @__PURE__ */ Object.freeze({
  waits: 0,
  waitedMs: 0,
  rollbacks: 0,
  overflows: 0,
  observed: 0,
  raised: 0,
  refused: 0,
})

/** A generator and the tags that were chosen. */
interface Viewed<F extends readonly Field[]> {
  readonly generator: Generator<F>
  readonly tags: TagValues<F>
}

/** The class behind {@link createGenerator}, and of its views. @internal */
export class Generator<F extends readonly Field[]> extends Numbers implements BaseGenerator<F>, NarrowGenerator {
  readonly #core: Core
  readonly #settings: ResolvedOptions<F>
  readonly #source: NodeSource
  /** Made with the counters when they are first needed: most generators never wait. */
  #more: PolicyRunner | undefined
  #judged: Judged | undefined
  #counters = nothingCounted
  /** Set by `close()`. */
  #lastStats: Stats | undefined
  /** The generator and the tags of a view. */
  readonly #viewed: Viewed<F> | undefined
  /** The first tag that has to be chosen, if none is. */
  readonly #missing: string | undefined

  constructor(core: Core, settings: ResolvedOptions<F>, source: NodeSource, viewed?: Viewed<F>) {
    const missing = viewed ? undefined : requiredTag(settings.layout)
    super('IdGenerator', missing === undefined ? core : noNumbers)
    this.#missing = missing
    this.#viewed = viewed
    this.#core = core
    this.#settings = settings
    this.#source = source
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
    const { state } = this.#settings
    if (this.#lastStats !== undefined) return this.#lastStats.state
    if (state.kind === 'lease') return 'lease'
    if (state.kind === 'file') return state.path
    // The word may be in memory of this process alone, or have moved to a page.
    return this.#core.report().path !== undefined ? 'host' : state.kind === 'thread' ? 'thread' : 'process'
  }

  get tags(): TagValues<F> | undefined {
    return this.#viewed?.tags
  }

  toJSON() {
    const { tags } = this
    return { layout: this.layout.name, node: this.node, ...(tags && { tags }), engine: this.engine, state: this.state }
  }

  get with(): (tags: GivenTags<F>) => GeneratorView<F> {
    return Numbers.made(this, 'with', (of) => (tags) => of.#view(tags))
  }

  #view(given: GivenTags<F>): GeneratorView<F> {
    const tags = Object.freeze(checkTags(this.layout, given, 'the view'))
    const generator = this.#viewed?.generator ?? this
    if (this.isClosed || generator.isClosed) throw closedError(this.object())
    const core = generator.#core.view(shiftTags(this.layout, tags))
    const view = new Generator(core, this.#settings, this.#source, { generator, tags })
    this.#source.views ??= new Views()
    this.#source.views.add(view)
    return view as unknown as GeneratorView<F>
  }

  get decode(): (id: GivenId<F>) => DecodedId<F> {
    return Numbers.made(this, 'decode', (of) => (id) => decode(id, of.layout))
  }

  get observe(): (id: GivenId<F>) => bigint {
    return Numbers.made(this, 'observe', (of) => observer(of.#beJudged()) as (id: GivenId<F>) => bigint)
  }

  /** Continues with the state to which the core has moved; the core of a view follows its generator. */
  follow(): void {
    this.#core.follow()
    this.#more?.follow()
  }

  get stats(): () => Stats {
    return Numbers.made(this, 'stats', (of) => () => of.#stats())
  }

  #stats(): Stats {
    if (this.#lastStats !== undefined) return { ...this.#lastStats }
    if (this.isClosed) throw closedError(this.object())
    return this.#presentStats()
  }

  #presentStats(): Stats {
    const { engine, layout } = this.#settings
    const lease = this.#source.leaseStats?.()
    const seen = this.#core.observe()
    const aheadMs = Math.max(0, (seen.lastTick - seen.nowTick) * layout.tickMs)
    return {
      engine,
      state: this.state,
      issued: seen.issued,
      ...this.#counters,
      aheadMs,
      ceilingMs: seen.ceilingTick < 0 ? null : layout.epochMs + seen.ceilingTick * layout.tickMs,
      ...(lease && { lease }),
    }
  }

  protected object(): string {
    return `the generator of node ${this.node}`
  }

  protected get idLayout(): Layout {
    return this.#settings.layout
  }

  protected queue(more: MoreNumbers): Queue {
    return new Queue(more, false)
  }

  protected more(): MoreNumbers {
    if (this.#missing !== undefined) throw missingTag(this.layout, this.#missing, this.object())
    this.#more ??= new PolicyRunner(this.#beJudged())
    return this.#more
  }

  #beJudged(): Judged {
    if (this.#judged === undefined) {
      const { layout, namespace, clock, state } = this.#settings
      this.#counters = { ...nothingCounted }
      const hasInjectedClock = typeof clock === 'function'
      const path = state.kind === 'file' ? state.path : ''
      const subject = { layout, namespace, hasInjectedClock, path, source: this.#source }
      this.#judged = { core: this.#core, policy: this.#settings, subject, counters: this.#counters }
    }
    return this.#judged
  }

  protected end(): void {
    if (this.#viewed === undefined) this.#source.views?.close()
    try {
      this.#lastStats = this.#presentStats()
    } catch {
      // A `clock` function has failed. The generator is closed nevertheless, and `stats()` throws ERR_CLOSED.
    }
    this.#core.close()
  }

  protected override checkArray(array: IdArray): void {
    const { layout } = this.#settings
    if (!isSigned(array, layout.bits)) return
    const { nowMs } = this.#core.observe()
    if (isNegative(layout, this.node, nowMs, this.tags)) throw signError()
    // Again, because a `clock` function was just called, and may have transferred the array.
    checkIdArray(array)
  }
}

/** Returns whether an id of 64 bits that is made now has its highest bit set. */
function isNegative(layout: Layout, node: number, nowMs: number, tags: Record<string, number> = {}): boolean {
  const top = layout.placements[0] as { name: string; bits: number }
  const half = 2 ** (top.bits - 1)
  if (top.name === 'sequence') return true
  if (layout.tagFields.some(({ name }) => name === top.name)) return (tags[top.name] ?? 0) >= half
  if (top.name !== 'timestamp') return node / 2 ** (layout.nodeBits - top.bits) >= half
  return Math.floor((nowMs - layout.epochMs) / layout.tickMs) >= half
}
