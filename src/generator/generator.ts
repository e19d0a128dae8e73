import type { EngineKind } from '../engine/choose.js'
import type { NodeSource } from '../engine/source/node-source.js'
import { type DecodedId, decode, type Field, type GivenId, type Layout } from '../layout/index.js'
import { checkIdArray, isSigned, signError } from '../numbers/array.js'
import { Numbers } from '../numbers/numbers.js'
import { Queue } from '../numbers/queue.js'
import type { MoreNumbers } from '../numbers/source.js'
import type { Counters } from '../policy/policy.js'
import { PolicyRunner } from '../policy/runner.js'
import type { Core, IdArray } from '../state/engine.js'
import type { BaseGenerator, NarrowGenerator, Stats } from './id-generator.js'
import type { ResolvedOptions } from './resolve.js'

const nothingCounted: Counters = /* @__PURE__ */ Object.freeze({ waits: 0, waitedMs: 0, rollbacks: 0, overflows: 0 })

/** The class behind {@link createGenerator}. @internal */
export class Generator<F extends readonly Field[]> extends Numbers implements BaseGenerator<F>, NarrowGenerator {
  readonly #core: Core
  readonly #settings: ResolvedOptions<F>
  readonly #source: NodeSource
  /** Made with the counters when they are first needed: most generators never wait. */
  #more: PolicyRunner | undefined
  #counters = nothingCounted
  /** Set by `close()`. */
  #lastStats: Stats | undefined

  constructor(core: Core, settings: ResolvedOptions<F>, source: NodeSource) {
    super('IdGenerator', core)
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

  toJSON() {
    return { layout: this.layout.name, node: this.node, engine: this.engine, state: this.state }
  }

  get decode(): (id: GivenId<F>) => DecodedId<F> {
    return Numbers.made(this, 'decode', (of) => (id) => decode(id, of.layout))
  }

  get stats(): () => Stats {
    return Numbers.made(this, 'stats', (of) => () => of.#stats())
  }

  #stats(): Stats {
    if (this.#lastStats !== undefined) return { ...this.#lastStats }
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
    if (this.#more === undefined) {
      const { layout, namespace, clock, state } = this.#settings
      this.#counters = { ...nothingCounted }
      const hasInjectedClock = typeof clock === 'function'
      const path = state.kind === 'file' ? state.path : ''
      const subject = { layout, namespace, hasInjectedClock, path, source: this.#source }
      this.#more = new PolicyRunner(this.#core, this.#settings, subject, this.#counters)
    }
    return this.#more
  }

  protected end(): void {
    try {
      this.#lastStats = this.#stats()
    } finally {
      this.#core.close()
    }
  }

  protected override checkArray(array: IdArray): void {
    const { layout } = this.#settings
    if (!isSigned(array, layout.bits)) return
    if (isNegative(layout, this.node, this.#core.observe().nowMs)) throw signError()
    // Again, because a `clock` function was just called, and may have transferred the array.
    checkIdArray(array)
  }
}

/** Returns whether an id of 64 bits that is made now has its highest bit set. */
function isNegative(layout: Layout, node: number, nowMs: number): boolean {
  const top = layout.placements[0] as { name: string; bits: number }
  const half = 2 ** (top.bits - 1)
  if (top.name === 'sequence') return true
  if (top.name !== 'timestamp') return node / 2 ** (layout.nodeBits - top.bits) >= half
  return Math.floor((nowMs - layout.epochMs) / layout.tickMs) >= half
}
