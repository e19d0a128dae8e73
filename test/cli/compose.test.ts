import { composeId, encodeId, layouts } from 'graupel'
import { describe, expect, it } from 'vitest'
import { graupel, lines } from '../support/cli.js'

describe('graupel compose', () => {
  const id = (time: string) => composeId({ timestampMs: Date.parse(time), node: 0 }, layouts.twitter)

  it('prints the first id of a moment', () => {
    expect(lines(['compose', '--time', '2026-11-01'])).toEqual([String(id('2026-11-01T00:00:00Z'))])
    const words = ['--time', '2026-11-01T12:00:00+02:00', '--layout', 'discord', '--format', 'base62']
    const first = composeId({ timestampMs: Date.parse('2026-11-01T10:00:00Z'), node: 0 }, layouts.discord)
    expect(lines(['compose', ...words])).toEqual([encodeId(first, 'base62')])
  })

  it('prints both ends of a range', () => {
    const ends = [id('2026-11-01T00:00:00Z'), id('2026-12-01T00:00:00Z')]
    expect(lines(['compose', '--time', '2026-11-01', '--until', '2026-12-01'])).toEqual(ends.map(String))
  })

  it('prints a range that begins before the epoch from id 0 on', () => {
    const words = ['compose', '--time', '2001-01-01', '--until', '2026-12-01']
    expect(lines(words)).toEqual(['0', String(id('2026-12-01T00:00:00Z'))])
  })

  it.each<[string, string[], RegExp]>([
    ['no time', [], /there is no time; give one/],
    ['a word', ['2026-11-01'], /give the moment as --time/],
    ['a day that no calendar has', ['--time', '2026-02-30'], /--time is '2026-02-30', which no calendar/],
    [
      'a range that ends before it begins',
      ['--time', '2026-11-01', '--until', '2026-10-01'],
      /--until is before --time/,
    ],
    ['a time before the epoch', ['--time', '2001-01-01'], /ERR_ID_INVALID/],
  ])('refuses %s', (_name, words, message) => {
    const { status, stdout, stderr } = graupel(['compose', ...words])
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    expect(stderr).toMatch(message)
  })
})
