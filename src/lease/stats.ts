import type { Layout } from '../layout/index.js'
import type { LeaseView } from './shared.js'

/** What a lease has and has done, as `lease.stats()` and `ids.stats().lease` return it. */
export interface LeaseStats {
  /** The node that the lease has, or had last. */
  node: number
  /** Ids stay before this time until the store has acknowledged a later one; milliseconds since 1970. */
  ceilingMs: number
  /** When the store has last acknowledged a ceiling; milliseconds since 1970. */
  renewedMs: number
  /** Milliseconds that the last renewal took. */
  roundTripMs: number
  /** Renewals that the store has acknowledged. */
  renewals: number
  /** Attempts to renew or to acquire that have failed. */
  failures: number
  /** Nodes that it has had, this one included, each time one was acquired. */
  acquisitions: number
}

export function statsOf(view: LeaseView, { epochMs, tickMs }: Pick<Layout, 'epochMs' | 'tickMs'>): LeaseStats {
  const { node, ceiling, renewedMs, roundTripMs, renewals, failures, generation } = view
  const ceilingMs = epochMs + ceiling * tickMs
  return { node, ceilingMs, renewedMs, roundTripMs, renewals, failures, acquisitions: generation }
}
