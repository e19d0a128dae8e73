import { hostname } from 'node:os'
import { type Layout, nodeFromEnvironment } from 'graupel'
import { type Counter, createCounter, createSegmentGenerator, type SegmentGenerator } from 'graupel/segments'
import type { Store } from 'graupel/stores'
import type { OpenedStore } from 'graupel/stores/url'
import type { Options } from './options/table.js'
import { IdSource, type LeaseChoice } from './sources/id-source.js'
import { leafSegments } from './sources/leaf-segments.js'
import { Named } from './sources/named.js'

/** Where the ids and numbers of one process come from, by one store. */
export class Service {
  /** By the name of the layout; the first is the default. */
  readonly ids: ReadonlyMap<string, IdSource>
  readonly segments: Named<SegmentGenerator>
  readonly counters: Named<Counter>
  readonly opened: OpenedStore
  /** When the service was told to end: it is not ready from then on. */
  isStopping = false

  /**
   * @param store - The one that is open, or around it.
   * @param worker - Which of the workers it is for.
   */
  constructor(options: Options, opened: OpenedStore, store: Store = opened.store, worker = 0) {
    this.opened = opened
    const lease = leaseOf(options, store, worker)
    this.ids = new Map(options.layouts.map((layout: Layout) => [layout.name, new IdSource(layout, lease)]))
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
      make: (name, signal) => createCounter({ ...counters?.[name], store, name, signal }),
    })
  }

  /** Acquires a node for each layout. @throws what `acquireLease` throws */
  async open(): Promise<void> {
    await Promise.all([...this.ids.values()].map((source) => source.open()))
  }

  /** The nodes that it has, by the names of their layouts. */
  nodes(): Readonly<Record<string, number>> {
    return Object.fromEntries([...this.ids].map(([layout, source]) => [layout, source.node as number]))
  }

  /** Why it is not ready; empty where it is. */
  reasons(): string[] {
    if (this.isStopping) return ['the service is being shut down']
    return [...this.ids.values()].flatMap((source) => source.readiness().reason ?? [])
  }

  /** Gives the nodes back and closes the store. */
  async close(): Promise<void> {
    const sources = [...this.ids.values()].map((source) => source.close())
    const results = await Promise.allSettled([...sources, this.segments.close(), this.counters.close()])
    await this.opened.close()
    for (const result of results) if (result.status === 'rejected') throw result.reason
  }
}

function leaseOf(options: Options, store: Store, worker: number): LeaseChoice {
  const { port, namespace, node, nodes, statefulSet, windowMs, maxClockSkewMs, acquireTimeoutMs } = options
  const fixed = statefulSet === undefined ? node : nodeFromEnvironment({ statefulSet })
  return {
    store,
    windowMs,
    // Without the process id, so that the service finds its node again after a restart.
    owner: `${hostname()}:${port}${worker === 0 ? '' : `/${worker}`}`,
    ...(namespace !== undefined && { namespace }),
    ...(fixed !== undefined && { node: fixed }),
    ...(nodes !== undefined && { nodes }),
    ...(maxClockSkewMs !== undefined && { maxClockSkewMs }),
    ...(acquireTimeoutMs !== undefined && { acquireTimeoutMs }),
  }
}
