import type { Family, Labels, Value } from './family.js'

/**
 * How long things took, counted in buckets. prom-client's own histogram takes over a microsecond for each, because it finds the
 * series by its labels; this one takes some nanoseconds, and is put into prom-client's form when it is scraped.
 */
export class Durations {
  readonly #boundsMs: readonly number[]
  /** One for each bound, and one for what is above all of them. */
  readonly #counts: Float64Array
  #sumMs = 0

  constructor(boundsMs: readonly number[]) {
    this.#boundsMs = boundsMs
    this.#counts = new Float64Array(boundsMs.length + 1)
  }

  add(ms: number): void {
    const bounds = this.#boundsMs
    let at = 0
    // Most are in the first buckets, so that a search by halves takes longer.
    while (at < bounds.length && ms > (bounds[at] as number)) at++
    this.#counts[at] = (this.#counts[at] as number) + 1
    this.#sumMs += ms
  }

  /** Its series of a histogram: the buckets, each with all that are below it, the sum in seconds, and the count. */
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

/** A histogram of several durations, each with its labels. */
export function histogram(name: string, help: string, all: Iterable<readonly [Labels, Durations]>): Family {
  const values = Array.from(all, ([labels, durations]) => durations.seriesOf(name, labels)).flat()
  return { name, help, type: 'histogram', values }
}
