import type { FastifyInstance } from 'fastify'
import { heldCountOf, Load, limitsFor, type NumberLoads } from '../http/load.js'
import type { RefusalLog } from '../http/log.js'
import type { TakingLog } from '../http/taking-log.js'
import type { Metrics } from '../metrics/metrics.js'
import type { Options } from '../options/table.js'
import type { Service } from '../service.js'
import { addCounterRoutes, maxCounts } from './counters.js'
import { addDecodeRoutes } from './decode.js'
import { addFrontRoutes, pageFiles } from './front.js'
import { addIdRoutes, type ServedLayouts } from './ids.js'
import { addLeafRoutes } from './leaf.js'
import { addOpenApi } from './openapi.js'
import { addPlatformRoutes } from './platform.js'
import { addSegmentRoutes } from './segments.js'
import { addStoreRoutes } from './store.js'

/** The objects that routes answer from. */
export interface Sources {
  readonly service: Service
  readonly options: Options
  readonly metrics: Metrics
  readonly refusals: RefusalLog
  readonly layouts: ServedLayouts
  readonly loads: NumberLoads
  /** `undefined` without `--log-ids`. */
  readonly takings: TakingLog | undefined
  readonly isTokenNeeded: boolean
}

/**
 * Paths that need no token and may be opened from a page of another site. A request for them uses up no
 * number.
 */
export const openPaths: ReadonlySet<string> = new Set(['/livez', '/readyz', '/', ...Object.keys(pageFiles)])

export function numberLoadsOf(options: Options): NumberLoads {
  const loadOf = (most: number) => new Load(limitsFor(Number.POSITIVE_INFINITY, most, options.maxConnections))
  return { segments: loadOf(heldCountOf(options)), counters: loadOf(maxCounts) }
}

/** Adds every route of the service. */
export async function addRoutes(app: FastifyInstance, sources: Sources): Promise<void> {
  const { service, options, metrics, refusals, layouts, loads, takings, isTokenNeeded } = sources
  // First, because its hook collects the routes that are added afterwards.
  await addOpenApi(app, isTokenNeeded)
  addFrontRoutes(app)
  addPlatformRoutes(app, service, options, metrics)
  addIdRoutes(app, layouts, service, takings)
  addDecodeRoutes(app, service)
  addSegmentRoutes(app, service, options, loads.segments, takings)
  addCounterRoutes(app, service, loads.counters, takings)
  addLeafRoutes(app, service, layouts, loads.segments, refusals, takings)
  if (options.leases) addStoreRoutes(app, service, new Load(limitsFor(0, 0, options.maxConnections)))
}
