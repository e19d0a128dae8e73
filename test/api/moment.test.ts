import { runInNewContext } from 'node:vm'
import { composeId, createGenerator, type Instant, idsBetween, layouts } from 'graupel'
import { testGenerator } from 'graupel/testing'
import { uuidAt } from 'graupel/uuid'
import { describe, expect, it } from 'vitest'
import { caught } from '../support/engines.js'

const ms = Date.UTC(2026, 0, 1)

/** The part of a `Temporal.Instant` that this package reads. test/api/temporal.long.test.ts has real ones. */
const instant = (epochMilliseconds: number, tag = 'Temporal.Instant') =>
  ({ epochMilliseconds, [Symbol.toStringTag]: tag }) as Instant

/** Every function that takes a time, each with the reading of its result. */
const calls: [string, (time: Date | Instant | number) => unknown][] = [
  ['idsBetween', (time) => idsBetween(time, time, layouts.twitter)],
  ['uuidAt', (time) => uuidAt(time)],
  ['the epoch of a generator', (epoch) => createGenerator({ node: 1, epoch }).layout.epochMs],
  ['the epoch of a test generator', (epoch) => testGenerator({ node: 1, epoch }).layout.epochMs],
  [
    'composeId beside timestampMs',
    (timestamp) =>
      composeId({ timestampMs: ms, node: 0, ...(typeof timestamp === 'object' && { timestamp }) }, layouts.twitter),
  ],
]

describe.each(calls)('%s', (_, call) => {
  it.each([
    ['a Date', new Date(ms)],
    ['a Date of another realm', runInNewContext(`new Date(${ms})`)],
    ['an Instant', instant(ms)],
    [
      'an Instant of another realm',
      runInNewContext(`({ epochMilliseconds: ${ms}, [Symbol.toStringTag]: 'Temporal.Instant' })`),
    ],
  ])('takes %s as its milliseconds', (_, time) => {
    expect(call(time)).toEqual(call(ms))
  })

  it.each([
    ['a Temporal.ZonedDateTime', instant(ms, 'Temporal.ZonedDateTime')],
    ['an object with milliseconds', { epochMilliseconds: ms }],
    ['an invalid Date', new Date(Number.NaN)],
    ['null', null],
  ])('refuses %s', (_, time) => {
    expect(caught(() => call(time as never)).code).toMatch(/^ERR_(OPTION|ID|EPOCH)_INVALID$/)
  })
})

describe('a timestamp that contradicts timestampMs', () => {
  it.each([
    ['a Date', new Date(ms + 1), new Date(ms + 1).toISOString()],
    ['an Instant', instant(ms + 1), 'a Temporal.Instant'],
  ])('is refused with both times, if it is %s', (_, timestamp, shown) => {
    const error = caught(() => composeId({ timestampMs: ms, node: 0, timestamp }, layouts.twitter))
    expect(error.code).toBe('ERR_ID_INVALID')
    expect(error.message).toContain(`timestamp is ${shown} (${ms + 1} ms), and timestampMs is ${ms};`)
  })
})
