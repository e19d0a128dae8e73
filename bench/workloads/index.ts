import type { Workload } from '../contract.ts'
import { codecs } from './codecs.ts'
import { compared } from './compared.ts'
import { views } from './in-turns.ts'
import { latencies } from './latency.ts'
import { leases } from './leases.ts'
import { memory } from './memory.ts'
import { segments } from './segments.ts'
import { services } from './service.ts'
import { serviceClients } from './service-client.ts'
import { serviceResp } from './service-resp.ts'
import { startup } from './startup.ts'
import { sustained } from './sustained.ts'
import { together } from './together.ts'

/** All workloads, in the order of the table. */
export const workloads: readonly Workload[] = [
  ...compared.ids,
  ...sustained,
  ...together,
  ...codecs,
  ...memory,
  ...compared.kept,
  ...compared.strings,
  ...compared.uuids,
  ...startup,
  ...views,
  ...leases,
  ...segments,
  ...services,
  ...serviceResp,
  ...serviceClients,
  ...latencies,
]

/**
 * Returns the workloads that `--filter` chooses. Each part between its commas is the heading of a section,
 * such as `engines`, or what names of workloads contain.
 */
export function workloadsFor(filter: string): readonly Workload[] {
  const chosen = new Set(
    filter.split(',').flatMap((part) => {
      const section = workloads.filter((workload) => workload.section.toLowerCase() === part.toLowerCase())
      return section.length > 0 ? section : workloads.filter(({ name }) => name.includes(part))
    }),
  )
  return workloads.filter((workload) => chosen.has(workload))
}
