import type { IdSource } from '../sources/id-source.js'
import { counter, type Family, gauge, type Series } from './family.js'
import type { Totals } from './totals.js'

/** What the sources of ids and their leases have counted. @param windowMs - That of every lease. */
export function idFamilies(sources: Iterable<IdSource>, windowMs: number): Family[] {
  const all = [...sources]
  const total = (name: string, help: string, of: (totals: Totals) => number) =>
    counter(
      name,
      help,
      all.map((source): Series => [{ layout: source.layout.name }, of(source.totals())]),
    )
  const remaining = all.flatMap((source): Series[] => {
    const { node } = source
    if (node === undefined) return []
    return [[{ layout: source.layout.name, node }, source.readiness().remainingMs / 1000]]
  })
  return [
    total('graupel_waits_total', 'Waits of generators for the clock.', ({ waits }) => waits),
    total('graupel_wait_seconds_total', 'Seconds spent in these waits.', ({ waitedMs }) => waitedMs / 1000),
    total('graupel_rollbacks_total', 'Steps back of the clock that generators have met.', ({ rollbacks }) => rollbacks),
    total('graupel_overflows_total', 'Ticks whose ids were used up.', ({ overflows }) => overflows),
    gauge(
      'graupel_lease_remaining_seconds',
      'Seconds until the ids of a node are used up, unless its lease is renewed.',
      remaining,
    ),
    gauge('graupel_lease_window_seconds', 'Seconds that a lease has when it was just renewed.', [
      [{}, windowMs / 1000],
    ]),
    total('graupel_lease_renewals_total', 'Renewals of leases.', ({ renewals }) => renewals),
    total('graupel_lease_failures_total', 'Attempts to renew a lease that have failed.', ({ failures }) => failures),
    total('graupel_lease_acquisitions_total', 'Nodes that were leased.', ({ acquisitions }) => acquisitions),
  ]
}
