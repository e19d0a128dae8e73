import { createRequire } from 'node:module'
import { collectDefaultMetrics, Registry } from 'prom-client'
import type { Pair } from '../http/certificate.js'
import type { ConnectionLimit } from '../http/connection-limit.js'
import type { LogOutput } from '../http/log-output.js'
import type { WatchedFiles } from '../http/watched-files.js'
import type { Service } from '../service.js'
import { counter, type Family, gauge, type Series } from './family.js'
import { counterFamilies, idFamilies, type LeaseFigures, segmentFamilies } from './library.js'
import { StoreTimes } from './observed-store.js'
import { Requests } from './requests.js'

/**
 * The metrics of one process of the service. Only requests and calls of the store are measured as they
 * happen. The library counts all other figures anyway, and they are read when they are scraped.
 */
export class Metrics {
  readonly requests = new Requests()
  readonly storeTimes = new StoreTimes()
  readonly #process = new ProcessMetrics()
  readonly #more: (() => readonly Family[])[] = []

  /** Adds metrics that are read when they are scraped. */
  add(read: () => readonly Family[]): void {
    this.#more.push(read)
  }

  async families(service: Service, options: LeaseFigures): Promise<Family[]> {
    const [segments, counters] = await Promise.all([service.segments.entries(), service.counters.entries()])
    const issued: Series[] = [
      ...[...service.ids.values()].map(
        (source): Series => [{ kind: 'id', name: source.layout.name }, source.totals().issued],
      ),
      ...segments.map(([name, segment]): Series => [{ kind: 'segment', name }, segment.stats().issued]),
      ...counters.map(([name, made]): Series => [{ kind: 'counter', name }, made.stats().issued]),
    ]
    return [
      counter('graupel_ids_total', 'Issued ids and numbers, by kind and by layout or name.', issued),
      gauge('graupel_ready', '1 if /readyz says that the service is ready, otherwise 0.', [
        [{}, service.reasons().length === 0 ? 1 : 0],
      ]),
      gauge('graupel_store_new', '1 if the store had no records when this process started, otherwise 0.', [
        [{}, service.isStoreNew ? 1 : 0],
      ]),
      ...idFamilies(service.ids.values(), options),
      ...segmentFamilies(segments),
      ...counterFamilies(counters),
      ...this.storeTimes.families(),
      ...this.requests.families(),
      ...this.#more.flatMap((read) => read()),
      ...(await this.#process.families()),
    ]
  }
}

/** Gauges that are named like counters, and that visit every open connection to be read. */
const leftOut = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total']

const { version } = createRequire(import.meta.url)('../../package.json') as { version: string }

/**
 * The build of this process, its memory, processor time and garbage collection, and the lag of its event
 * loop.
 */
class ProcessMetrics {
  readonly #registry = new Registry()

  constructor() {
    collectDefaultMetrics({ register: this.#registry })
    for (const name of leftOut) this.#registry.removeSingleMetric(name)
  }

  async families(): Promise<Family[]> {
    const build = gauge('graupel_build_info', 'Always 1. A label has the version.', [[{ version }, 1]])
    return [build, ...((await this.#registry.getMetricsAsJSON()) as unknown as Family[])]
  }
}

/** Returns the counts of the connections of clients. */
export function connectionFamilies({ open, most, dropped }: ConnectionLimit): Family[] {
  return [
    gauge('graupel_connections', 'Open connections of clients. The admin port does not count.', [[{}, open]]),
    gauge('graupel_connections_limit', 'The most connections of clients.', [[{}, most]]),
    counter('graupel_connections_dropped_total', 'Connections closed because there were too many.', [[{}, dropped]]),
  ]
}

/** Tells which files of options could not be read after a change. */
export function fileFamilies(files: readonly Pick<WatchedFiles<unknown>, 'option' | 'isStale'>[]): Family[] {
  const series = files.map(({ option, isStale }): Series => [{ option }, isStale ? 1 : 0])
  const help = '1 if files have changed and cannot be read, so their former contents are in use, otherwise 0.'
  return [gauge('graupel_files_stale', help, series)]
}

/** Returns the count of lines that are missing in the log. */
export function logFamilies({ dropped }: LogOutput): Family[] {
  const help = 'Lines of the log that were dropped, because stderr did not take them.'
  return [counter('graupel_log_lines_dropped_total', help, [[{}, dropped]])]
}

/** Returns the dates of the certificate, in which each certificate of its chain is valid. */
export function certificateFamilies(pair: Pair | undefined): Family[] {
  const seriesOf = (ms: number): Series[] => [[{}, ms / 1000]]
  return [
    gauge(
      'graupel_certificate_not_before_timestamp_seconds',
      'Time at which the certificate becomes valid, in seconds since 1970.',
      pair === undefined ? [] : seriesOf(pair.validFromMs),
    ),
    gauge(
      'graupel_certificate_not_after_timestamp_seconds',
      'Time at which the certificate expires, in seconds since 1970.',
      pair === undefined ? [] : seriesOf(pair.validToMs),
    ),
  ]
}

/** Returns the counts of processes. @param restarts - The restarts of each worker, by its number. */
export function workerFamilies(restarts: readonly number[]): Family[] {
  const series = restarts.map((count, worker): Series => [{ worker }, count])
  return [
    gauge('graupel_workers', 'Processes that should serve: --workers.', [[{}, restarts.length]]),
    counter('graupel_worker_restarts_total', 'Processes that ended and were started again.', series),
  ]
}
