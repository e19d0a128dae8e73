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
