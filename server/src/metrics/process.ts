import type { ConnectionLimit } from '../http/connection-limit.js'
import type { WatchedFiles } from '../http/watched-files.js'
import { counter, type Family, gauge, type Series } from './family.js'

// Metrics of the parts of the service that are not of the library.

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

/** Returns the counts of processes. @param restarts - The restarts of each worker, by its number. */
export function workerFamilies(restarts: readonly number[]): Family[] {
  const series = restarts.map((count, worker): Series => [{ worker }, count])
  return [
    gauge('graupel_workers', 'Processes that should serve: --workers.', [[{}, restarts.length]]),
    counter('graupel_worker_restarts_total', 'Processes that ended and were started again.', series),
  ]
}
