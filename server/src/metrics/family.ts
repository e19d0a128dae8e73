import { type Metric, Registry } from 'prom-client'

/** A metric with its series, in the form of prom-client's `getMetricsAsJSON`. */
export interface Family {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary'
  readonly values: Value[]
}

export interface Value {
  readonly labels: Labels
  readonly value: number
  /** The name of a bucket, a sum or a count. It replaces the name of the family. */
  readonly metricName?: string
}

export type Labels = Readonly<Record<string, string | number>>
/** The labels of a series, and its value. */
export type Series = readonly [Labels, number]

export const contentType = Registry.PROMETHEUS_CONTENT_TYPE

/** Makes a metric that only grows. */
export function counter(name: string, help: string, series: Iterable<Series>): Family {
  return { name, help, type: 'counter', values: valuesOf(series) }
}

export function gauge(name: string, help: string, series: Iterable<Series>): Family {
  return { name, help, type: 'gauge', values: valuesOf(series) }
}

function valuesOf(series: Iterable<Series>): Value[] {
  return Array.from(series, ([labels, value]) => ({ labels, value }))
}

/** Returns the text that Prometheus reads. */
export function textOf(families: readonly Family[]): Promise<string> {
  const registry = new Registry()
  // The registry calls nothing but `get` of a metric.
  for (const family of families) registry.registerMetric({ ...family, get: async () => family } as unknown as Metric)
  return registry.metrics()
}

/**
 * Joins the families of several processes. Each name occurs once, and a label of the series names the
 * process.
 */
export function joined(processes: ReadonlyMap<number, readonly Family[]>): Family[] {
  const all = new Map<string, Family>()
  for (const [worker, families] of processes) {
    for (const { values, ...family } of families) {
      const found = all.get(family.name) ?? { ...family, values: [] }
      all.set(family.name, found)
      for (const value of values) found.values.push({ ...value, labels: { ...value.labels, worker } })
    }
  }
  return [...all.values()]
}

/**
 * Durations, counted in buckets. prom-client's own histogram takes over a microsecond for each duration,
 * because it looks the series up by labels. This one takes some nanoseconds, and has prom-client's form only
 * when it is scraped.
 */
export class Durations {
  readonly #boundsMs: readonly number[]
  /** A count for each bound, and one for durations above all bounds. */
  readonly #counts: Float64Array
  #sumMs = 0

  constructor(boundsMs: readonly number[]) {
    this.#boundsMs = boundsMs
    this.#counts = new Float64Array(boundsMs.length + 1)
  }

  add(ms: number, times = 1): void {
    const bounds = this.#boundsMs
    let at = 0
    // Most durations are in the first buckets, so a binary search takes longer.
    while (at < bounds.length && ms > (bounds[at] as number)) at++
    this.#counts[at] = (this.#counts[at] as number) + times
    this.#sumMs += ms * times
  }

  /** Returns the series of a histogram: cumulative buckets, the sum in seconds, and the count. */
  seriesOf(name: string, labels: Labels): Value[] {
    const bucket = `${name}_bucket`
    let count = 0
    const buckets = Array.from(this.#counts, (inBucket, at) => {
      count += inBucket
      const boundMs = this.#boundsMs[at]
      return {
        metricName: bucket,
        labels: { ...labels, le: boundMs === undefined ? '+Inf' : boundMs / 1000 },
        value: count,
      }
    })
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels, value: this.#sumMs / 1000 },
      { metricName: `${name}_count`, labels, value: count },
    ]
  }
}

/** Makes a histogram of several durations, each with its labels. */
export function histogram(name: string, help: string, all: Iterable<readonly [Labels, Durations]>): Family {
  const values = Array.from(all, ([labels, durations]) => durations.seriesOf(name, labels)).flat()
  return { name, help, type: 'histogram', values }
}
