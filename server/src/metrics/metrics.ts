import type { Options } from '../options/table.js'
import type { Service } from '../service.js'
import { counter, type Family, gauge, type Series } from './family.js'
import { idFamilies } from './ids.js'
import { counterFamilies, segmentFamilies } from './names.js'
import { StoreTimes } from './observed-store.js'
import { ProcessMetrics } from './process.js'
import { Requests } from './requests.js'

/**
 * What one process of the service tells Prometheus. Only requests and calls of the store are measured as they happen; all other
 * figures are kept by the library anyway, and are asked for when they are scraped.
 */
export class Metrics {
  readonly requests = new Requests()
  readonly storeTimes = new StoreTimes()
  readonly #process = new ProcessMetrics()

  async families(service: Service, { windowMs }: Pick<Options, 'windowMs'>): Promise<Family[]> {
    const [segments, counters] = await Promise.all([service.segments.entries(), service.counters.entries()])
    const issued: Series[] = [
      ...[...service.ids.values()].map(
        (source): Series => [{ kind: 'id', name: source.layout.name }, source.totals().issued],
      ),
      ...segments.map(([name, segment]): Series => [{ kind: 'segment', name }, segment.stats().issued]),
      ...counters.map(([name, made]): Series => [{ kind: 'counter', name }, made.stats().issued]),
    ]
    return [
      counter('graupel_ids_total', 'Ids and numbers that were made, by kind and by layout or name.', issued),
      gauge('graupel_ready', '1 where /readyz says that the service is ready, else 0.', [
        [{}, service.reasons().length === 0 ? 1 : 0],
      ]),
      ...idFamilies(service.ids.values(), windowMs),
      ...segmentFamilies(segments),
      ...counterFamilies(counters),
      ...this.storeTimes.families(),
      ...this.requests.families(),
      ...(await this.#process.families()),
    ]
  }
}
