import type { Layout } from 'graupel'
import type { SegmentGenerator } from 'graupel/segments'
import type { Options } from '../options/table.js'
import type { IdSource, Totals } from '../sources/id-source.js'
import type { TimedCounter } from '../sources/timed-counter.js'
import { counter, type Family, gauge, type Series } from './family.js'

// Metrics that the library counts anyway. They are read when they are scraped.

/** The options of the leases that metrics show. */
export type LeaseFigures = Pick<Options, 'windowMs' | 'node' | 'nodes' | 'statefulSet'>

/** Returns the counts of the sources of ids and of their leases. */
export function idFamilies(
  sources: Iterable<IdSource>,
  { windowMs, node, nodes, statefulSet }: LeaseFigures,
): Family[] {
  const all = [...sources]
  const total = (name: string, help: string, of: (totals: Totals) => number) =>
    counter(
      name,
      help,
      all.map((source): Series => [{ layout: source.layout.name }, of(source.totals())]),
    )
  const remaining = all.flatMap((source): Series[] => {
    if (source.node === undefined || source.isStandby) return []
    return [[{ layout: source.layout.name, node: source.node }, source.readiness().remainingMs / 1000]]
  })
  const holders = all.flatMap(({ layout, termMs }): Series[] =>
    termMs === undefined ? [] : [[{ layout: layout.name }, termMs > 0 ? 1 : 0]],
  )
  // A service whose node is given shares it with no other.
  const isAny = node === undefined && statefulSet === undefined
  const mayLease = (layout: Layout) => (nodes === undefined ? layout.nodes : nodes[1] - nodes[0] + 1)
  return [
    total('graupel_waits_total', 'Waits of generators for the clock.', ({ waits }) => waits),
    total('graupel_wait_seconds_total', 'Seconds spent in these waits.', ({ waitedMs }) => waitedMs / 1000),
    total(
      'graupel_rollbacks_total',
      'Times that a generator found the clock turned back.',
      ({ rollbacks }) => rollbacks,
    ),
    total('graupel_overflows_total', 'Ticks whose ids were used up.', ({ overflows }) => overflows),
    total('graupel_ids_observed_total', 'Ids of requests with after that were observed.', ({ observed }) => observed),
    total(
      'graupel_ids_raised_total',
      'Observed ids above the next id of the node, which had to rise.',
      ({ raised }) => raised,
    ),
    total(
      'graupel_ids_refused_total',
      'Ids of requests with after that were too far ahead of the clock.',
      ({ refused }) => refused,
    ),
    gauge(
      'graupel_lease_remaining_seconds',
      'Seconds until the ids of a node are used up, unless its lease is renewed.',
      remaining,
    ),
    gauge('graupel_holder', '1 if this server of a strict group gives ids, otherwise 0.', holders),
    gauge(
      'graupel_nodes',
      'Nodes that the services of a store may lease.',
      isAny ? all.map(({ layout }): Series => [{ layout: layout.name }, mayLease(layout)]) : [],
    ),
    gauge('graupel_lease_window_seconds', 'Seconds that a lease lasts after a renewal.', [[{}, windowMs / 1000]]),
    total('graupel_lease_renewals_total', 'Renewals of leases.', ({ renewals }) => renewals),
    total('graupel_lease_failures_total', 'Failed attempts to renew a lease.', ({ failures }) => failures),
    total('graupel_lease_acquisitions_total', 'Leases that were acquired.', ({ acquisitions }) => acquisitions),
  ]
}

/** The segments or counters of the service, by name. */
type Made<T> = readonly (readonly [string, T])[]

/** Returns the counts of the segments. */
export function segmentFamilies(segments: Made<SegmentGenerator>): Family[] {
  const all = segments.map(([name, segment]) => [{ name }, segment.stats()] as const)
  return [
    gauge(
      'graupel_segment_numbers_left',
      'Numbers that are ready without the store.',
      all.map(([labels, { left }]) => [labels, left]),
    ),
    gauge(
      'graupel_segment_step',
      'Numbers that the next fetch takes.',
      all.map(([labels, { step }]) => [labels, step]),
    ),
    counter(
      'graupel_segment_fetches_total',
      'Fetched segments.',
      all.map(([labels, { segments }]) => [labels, segments]),
    ),
    counter(
      'graupel_segment_failures_total',
      'Failed attempts to fetch a segment.',
      all.map(([labels, { failures }]) => [labels, failures]),
    ),
  ]
}

/** Returns the counts of the counters. */
export function counterFamilies(counters: Made<TimedCounter>): Family[] {
  const all = counters.map(([name, made]) => [{ name }, made.stats()] as const)
  return [
    counter(
      'graupel_count_writes_total',
      'Writes of counters. One write takes the numbers of all waiting requests.',
      all.map(([labels, { writes }]) => [labels, writes]),
    ),
    counter(
      'graupel_count_conflicts_total',
      'Writes that lost to another write.',
      all.map(([labels, { conflicts }]) => [labels, conflicts]),
    ),
    counter(
      'graupel_count_lost_total',
      'Numbers that are missing from a counter.',
      all.map(([labels, { lost }]) => [labels, lost]),
    ),
    counter(
      'graupel_count_recovered_total',
      'Times that the store had forgotten a count and this process restored it.',
      all.map(([labels, { recovered }]) => [labels, recovered]),
    ),
    gauge(
      'graupel_count_oldest_wait_seconds',
      'Seconds that the oldest request of a counter waits, otherwise 0.',
      counters.map(([name, made]) => [{ name }, made.oldestWaitMs() / 1000]),
    ),
  ]
}
