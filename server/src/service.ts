import { hostname } from 'node:os'
import { type Layout, nodeFromEnvironment } from 'graupel'
import { createCounter, createSegmentGenerator, type SegmentGenerator, type SegmentOptions } from 'graupel/segments'
import type { Store } from 'graupel/stores'
import type { OpenedStore } from 'graupel/stores/url'
import { kindsOf } from './options/kinds.js'
import type { Options } from './options/table.js'
import { IdSource, type LeaseChoice } from './sources/id-source.js'
import type { IdTexts } from './sources/id-texts.js'
import { LeaseWaits } from './sources/lease-waits.js'
import { Named, NameError } from './sources/named.js'
import { type TimedCounter, timedCounter } from './sources/timed-counter.js'

/** The sources of one process's ids, segments and counters, over one store. */
export class Service {
  /** By the names of the layouts. The first is the default. */
  readonly ids: ReadonlyMap<string, IdSource>
  /** By the prefixes of the kinds that the operator has configured. */
  readonly kinds: ReadonlyMap<string, IdTexts>
  readonly segments: Named<SegmentGenerator>
  readonly counters: Named<TimedCounter>
  readonly opened: OpenedStore
  /** The opened store, or the wrapper of it. */
  readonly store: Store
  /** Set when the service is told to end. It is not ready from then on. */
  isStopping = false
  /** Set if the store had no records at the start, so all numbers and counts begin. */
  isStoreNew = false
  readonly #waits: LeaseWaits
  #isOpening = false

  /**
   * @param store - The opened store, or a wrapper of it.
   * @param worker - The number of the worker.
   * @throws as `kindsOf`
   */
  constructor(options: Options, opened: OpenedStore, store: Store = opened.store, worker = 0) {
    this.opened = opened
    this.store = store
    const lease = leaseOf(options, store, worker)
    this.#waits = new LeaseWaits(options.namespace, store.durable)
    this.ids = new Map(options.layouts.map((layout: Layout) => [layout.name, new IdSource(layout, lease)]))
    this.kinds = kindsOf(options)
    const { maxNames, segments, counters, leafAlloc, leafTable } = options
    const leaf = leafAlloc === true ? opened.leafAlloc(leafTable) : undefined
    this.segments = new Named({
      kind: 'segment',
      names: segments && new Set(Object.keys(segments)),
      maxNames,
      make: (name, signal) => {
        const own = { ...segments?.[name], name, signal }
        return leaf === undefined ? createSegmentGenerator({ ...own, store }) : leafSegments({ ...own, store: leaf })
      },
    })
    this.counters = new Named({
      kind: 'counter',
      names: counters && new Set(Object.keys(counters)),
      maxNames,
      make: async (name, signal) => timedCounter(await createCounter({ ...counters?.[name], store, name, signal })),
    })
  }

  /**
   * Acquires a node for each layout.
   *
   * @param onNewStore - Called before the first record is written, if the store has none.
   * @throws what `acquireLease` throws
   */
  async open(onNewStore: () => void = () => {}): Promise<void> {
    this.#isOpening = true
    // A store that does not answer keeps the leases waiting anyway.
    this.isStoreNew = await this.opened.isEmpty().catch(() => false)
    if (this.isStoreNew) onNewStore()
    await Promise.all([...this.ids.values()].map((source) => source.open()))
    this.#isOpening = false
  }

  /** Returns its nodes by the names of their layouts. */
  nodes(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.ids].map(([layout, source]) => [layout, source.node as number]))
  }

  /** Returns the reasons why it is not ready. The list is empty if it is ready. */
  reasons(): string[] {
    if (this.isStopping) return ['the service is being shut down']
    return [...this.ids.values()].flatMap((source) => {
      const { reason } = source.readiness()
      if (reason === undefined) return []
      if (source.isStandby) return reason
      const wait = this.#waits.reasonOf(source.layout.name)
      if (wait !== undefined) return `${reason}; ${wait}`
      return source.node === undefined && this.#isOpening
        ? `${reason}; it waits for the store, or for a free node`
        : reason
    })
  }

  /** Releases the nodes and closes the store. */
  async close(): Promise<void> {
    this.#waits.close()
    const sources = [...this.ids.values()].map((source) => source.close())
    const results = await Promise.allSettled([...sources, this.segments.close(), this.counters.close()])
    await this.opened.close()
    for (const result of results) if (result.status === 'rejected') throw result.reason
  }
}

/**
 * A server of a strict group waits for as long as another one has the node. Two calls of a store that does
 * not answer fit into a window.
 */
function strictLease(windowMs: number) {
  return { acquireTimeoutMs: Number.MAX_SAFE_INTEGER, callTimeoutMs: Math.floor(windowMs / 3) }
}

function leaseOf(options: Options, store: Store, worker: number): LeaseChoice {
  const { port, namespace, node, nodes, statefulSet, windowMs, maxClockSkewMs, acquireTimeoutMs, strict } = options
  const fixed = statefulSet === undefined ? node : nodeFromEnvironment({ statefulSet })
  return {
    store,
    windowMs,
    // The owner has no process id, so the service gets its node again after a restart.
    // Other servers of a strict group read the address of the holder there.
    owner: options.advertise ?? `${hostname()}:${port}${worker === 0 ? '' : `/${worker}`}`,
    ...(namespace !== undefined && { namespace }),
    ...(fixed !== undefined && { node: fixed }),
    ...(nodes !== undefined && { nodes }),
    ...(maxClockSkewMs !== undefined && { maxClockSkewMs }),
    ...(acquireTimeoutMs !== undefined && { acquireTimeoutMs }),
    ...(strict && { strict, ...strictLease(windowMs) }),
  }
}

/**
 * Makes the generator of a row of Leaf's table.
 *
 * @param options - Checked at the start, except the name.
 * @throws NameError if there is no such row; errors of `createSegmentGenerator`
 */
async function leafSegments(options: SegmentOptions): Promise<SegmentGenerator> {
  try {
    return await createSegmentGenerator(options)
  } catch (error) {
    if (Object(error).code !== 'ERR_OPTION_INVALID') throw error
    // The library's message has the statement that adds the row. Only those who have the database may see it.
    throw new NameError('ERR_NAME_UNKNOWN', "there is no segment of this name; add its row to Leaf's table")
  }
}
