import type { Stats } from 'graupel'
import type { LeaseStats } from 'graupel/lease'

/** What a source of ids has counted, over all the leases and generators that it has had. */
export interface Totals {
  readonly issued: number
  readonly waits: number
  readonly waitedMs: number
  readonly rollbacks: number
  readonly overflows: number
  readonly renewals: number
  readonly failures: number
  readonly acquisitions: number
}

export const noTotals: Totals = {
  issued: 0,
  waits: 0,
  waitedMs: 0,
  rollbacks: 0,
  overflows: 0,
  renewals: 0,
  failures: 0,
  acquisitions: 0,
}

/** The counts of former leases and those of the present one, because what is scraped may not fall when a lease is replaced. */
export function totalsWith(former: Totals, ids: Stats, lease: LeaseStats): Totals {
  return {
    issued: former.issued + ids.issued,
    waits: former.waits + ids.waits,
    waitedMs: former.waitedMs + ids.waitedMs,
    rollbacks: former.rollbacks + ids.rollbacks,
    overflows: former.overflows + ids.overflows,
    renewals: former.renewals + lease.renewals,
    failures: former.failures + lease.failures,
    acquisitions: former.acquisitions + lease.acquisitions,
  }
}
