import { createRequire } from 'node:module'
import { collectDefaultMetrics, Registry } from 'prom-client'
import { type Family, gauge } from './family.js'

/** Gauges whose names end as those of counters do, and which go through every open connection to be read. */
const leftOut = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total']

const { version } = createRequire(import.meta.url)('../../package.json') as { version: string }

/** Memory, processor time, garbage collection and the lag of the event loop of this process, and which build it is. */
export class ProcessMetrics {
  readonly #registry = new Registry()

  constructor() {
    collectDefaultMetrics({ register: this.#registry })
    for (const name of leftOut) this.#registry.removeSingleMetric(name)
  }

  async families(): Promise<Family[]> {
    const build = gauge('graupel_build_info', 'Always 1; the version is in its labels.', [[{ version }, 1]])
    return [build, ...((await this.#registry.getMetricsAsJSON()) as unknown as Family[])]
  }
}
