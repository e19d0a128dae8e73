import type { Counter, SegmentGenerator } from 'graupel/segments'
import { counter, type Family, gauge } from './family.js'

/** By name, those that were made. */
type Made<T> = readonly (readonly [string, T])[]

/** What the segments have counted. */
export function segmentFamilies(segments: Made<SegmentGenerator>): Family[] {
  const all = segments.map(([name, segment]) => [{ name }, segment.stats()] as const)
  return [
    gauge(
      'graupel_segment_numbers_left',
      'Numbers that can be made without the store.',
      all.map(([labels, { left }]) => [labels, left]),
    ),
    gauge(
      'graupel_segment_step',
      'Numbers that the next fetch takes.',
      all.map(([labels, { step }]) => [labels, step]),
    ),
    counter(
      'graupel_segment_fetches_total',
      'Segments that were fetched.',
      all.map(([labels, { segments }]) => [labels, segments]),
    ),
    counter(
      'graupel_segment_failures_total',
      'Attempts to fetch a segment that have failed.',
      all.map(([labels, { failures }]) => [labels, failures]),
    ),
  ]
}

/** What the counters have counted. */
export function counterFamilies(counters: Made<Counter>): Family[] {
  const all = counters.map(([name, made]) => [{ name }, made.stats()] as const)
  return [
    counter(
      'graupel_counter_writes_total',
      'Writes of counters; one takes the numbers of all requests that wait.',
      all.map(([labels, { writes }]) => [labels, writes]),
    ),
    counter(
      'graupel_counter_conflicts_total',
      'Writes that came after another one.',
      all.map(([labels, { conflicts }]) => [labels, conflicts]),
    ),
    counter(
      'graupel_counter_lost_total',
      'Numbers that are missing in the sequence of a counter.',
      all.map(([labels, { lost }]) => [labels, lost]),
    ),
    counter(
      'graupel_counter_recovered_total',
      'How often the store had forgotten a count, which then went on from what this process knew.',
      all.map(([labels, { recovered }]) => [labels, recovered]),
    ),
  ]
}
