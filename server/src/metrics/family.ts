import { type Metric, Registry } from 'prom-client'

/** A metric as it is scraped: its name, its help and its series, as prom-client has them in `getMetricsAsJSON`. */
export interface Family {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram' | 'summary'
  readonly values: Value[]
}

export interface Value {
  readonly labels: Labels
  readonly value: number
  /** In place of the name of the family: that of a bucket, a sum or a count. */
  readonly metricName?: string
}

export type Labels = Readonly<Record<string, string | number>>
/** The labels of a series, and its value. */
export type Series = readonly [Labels, number]

export const contentType = Registry.PROMETHEUS_CONTENT_TYPE

/** What only grows. */
export function counter(name: string, help: string, series: Iterable<Series>): Family {
  return { name, help, type: 'counter', values: valuesOf(series) }
}

export function gauge(name: string, help: string, series: Iterable<Series>): Family {
  return { name, help, type: 'gauge', values: valuesOf(series) }
}

function valuesOf(series: Iterable<Series>): Value[] {
  return Array.from(series, ([labels, value]) => ({ labels, value }))
}

/** The text that Prometheus reads. */
export function textOf(families: readonly Family[]): Promise<string> {
  const registry = new Registry()
  // A registry asks each metric for its values, and needs no more of it.
  for (const family of families) registry.registerMetric({ ...family, get: async () => family } as unknown as Metric)
  return registry.metrics()
}

/** The families of several processes in one: each name once, and the series with a label that tells the processes apart. */
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
