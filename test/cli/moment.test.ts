import { describe, expect, it } from 'vitest'
import { readMoment } from '../../src/cli/values.js'
import { graupel, lines } from '../support/cli.js'

describe('a moment', () => {
  it.each<[string, number]>([
    ['2020-01-01', Date.UTC(2020, 0, 1)],
    ['2015-01-01T00:00:00Z', Date.UTC(2015, 0, 1)],
    ['2015-01-01t00:00:00z', Date.UTC(2015, 0, 1)],
    ['2015-01-01T00:00Z', Date.UTC(2015, 0, 1)],
    ['2010-11-04T01:42:54.657Z', 1288834974657],
    ['2020-01-01T08:00:00+08:00', Date.UTC(2020, 0, 1)],
    ['2019-12-31T18:30:00.5-05:30', Date.UTC(2020, 0, 1, 0, 0, 0, 500)],
    ['2024-02-29', Date.UTC(2024, 1, 29)],
    ['1577836800000', Date.UTC(2020, 0, 1)],
    ['0', 0],
    ['999', 999],
    ['12345', 12345],
    ['-28800000', -28_800_000],
  ])('is read from %s', (text, ms) => {
    expect(readMoment('--epoch', text)).toBe(ms)
  })

  it.each<[string, RegExp]>([
    ['2020', /^--epoch is '2020', which may be a year or milliseconds; give a day such as 2020-01-01/],
    ['20200801', /^--epoch is '20200801', which may be a day or milliseconds; give a day such as 2020-01-01/],
    ['2020-01-01T00:00:00', /, a time without a zone; add Z for UTC, or an offset such as \+08:00$/],
    ['2020-01-01T00:00', /a time without a zone/],
    ['2020-13-01', /, which no calendar or clock shows; correct it$/],
    ['2020-02-30', /no calendar/],
    ['2023-02-29', /no calendar/],
    ['2020-00-10', /no calendar/],
    ['2020-01-01T25:00Z', /no calendar/],
    ['2020-01-01T24:00Z', /no calendar/],
    ['2020-01-01T00:60Z', /no calendar/],
    ['2020-01-01T00:00:60Z', /no calendar/],
    ['2020-01-01T00:00+25:00', /no calendar/],
    ['2020-01', /; give a day such as 2020-01-01, a time such as 2020-01-01T00:00:00Z, or milliseconds since 1970$/],
    ['01/02/2020', /give a day/],
    ['2020-1-1', /give a day/],
    ['2020-01-01 00:00Z', /give a day/],
    ['2020-01-01T00:00:00.1234Z', /give a day/],
    ['1e12', /give a day/],
    ['', /give a day/],
    ['now', /give a day/],
    [' 2020-01-01', /give a day/],
    ['+5', /give a whole number in digits/],
    ['9007199254740993', /give at most 9007199254740991$/],
  ])('is not read from %j', (text, message) => {
    expect(() => readMoment('--epoch', text)).toThrow(message)
  })

  it('can be given by --epoch', async () => {
    const words = ['inspect', '3125927076831231', '--layout', 'twitter', '--json', '--epoch']
    const [line] = await lines([...words, '2020-08-01T00:00+08:00'])
    expect(JSON.parse(line as string)).toMatchObject({ epochMs: 1596211200000, timestampMs: 1596956479092 })
    const { status, stderr } = await graupel([...words, '2020-08-01T00:00'])
    expect(status).toBe(2)
    expect(stderr).toMatch(
      /^graupel: --epoch is '2020-08-01T00:00', a time without a zone; .* \(ERR_EPOCH_INVALID\)\n$/,
    )
  })
})
