import { composeId, encodeId, layouts } from 'graupel'
import { describe, expect, it } from 'vitest'
import { graupel, lines } from '../support/cli.js'

describe('graupel compose', () => {
  const id = (time: string) => composeId({ timestampMs: Date.parse(time), node: 0 }, layouts.twitter)

  it('prints the first id of a moment', async () => {
    expect(await lines(['compose', '--time', '2026-11-01'])).toEqual([String(id('2026-11-01T00:00:00Z'))])
    const words = ['--time', '2026-11-01T12:00:00+02:00', '--layout', 'discord', '--format', 'base62']
    const first = composeId({ timestampMs: Date.parse('2026-11-01T10:00:00Z'), node: 0 }, layouts.discord)
    expect(await lines(['compose', ...words])).toEqual([encodeId(first, 'base62')])
  })

  it('prints both ends of a range', async () => {
    const ends = [id('2026-11-01T00:00:00Z'), id('2026-12-01T00:00:00Z')]
    expect(await lines(['compose', '--time', '2026-11-01', '--until', '2026-12-01'])).toEqual(ends.map(String))
  })

  it('prints a range that begins before the epoch from id 0 on', async () => {
    const words = ['compose', '--time', '2001-01-01', '--until', '2026-12-01']
    expect(await lines(words)).toEqual(['0', String(id('2026-12-01T00:00:00Z'))])
  })

  const epoch = ['--epoch', '2024-01-01']
  const rows = ['--fields', 'timestamp 41, worker 8, shard 6 tag, sequence 8', ...epoch]
  const behind = ['--fields', 'shard 6 tag, timestamp 41, worker 8, sequence 8', ...epoch]
  const ticks = BigInt(Date.parse('2026-11-01T00:00:00Z') - Date.parse('2024-01-01T00:00:00Z'))

  it('prints the first id with the tags, or with 0 for tags below the timestamp', async () => {
    const words = ['compose', '--time', '2026-11-01']
    expect(await lines([...words, ...rows])).toEqual([`${ticks << 22n}`])
    expect(await lines([...words, ...rows, '--tag', 'shard=5'])).toEqual([`${(ticks << 22n) | (5n << 8n)}`])
    const ends = await lines([...words, ...behind, '--tag', 'shard=5', '--until', '2026-11-02'])
    expect(ends).toEqual([ticks, ticks + 86_400_000n].map((tick) => `${(5n << 57n) | (tick << 16n)}`))
    const all = await lines([...words, ...rows, '--until', '2026-11-02'])
    expect(all).toEqual([ticks, ticks + 86_400_000n].map((tick) => `${tick << 22n}`))
  })

  it.each<[string, string[], RegExp]>([
    ['no tag above the timestamp', ['--time', '2026-11-01', ...behind], /the tag 'shard' .* is missing/],
    [
      'a tag of a range that has all tags',
      ['--time', '2026-11-01', '--until', '2026-11-02', ...rows, '--tag', 'shard=5'],
      /no tag above its timestamp/,
    ],
    ['a tag of a layout without tags', ['--time', '2026-11-01', '--tag', 'shard=5'], /shard/],
    ['a tag without a number', ['--time', '2026-11-01', ...rows, '--tag', 'shard'], /--tag is 'shard'; give a whole/],
    ['fields beside a layout', ['--time', '2026-11-01', ...rows, '--layout', 'twitter'], /leave one out/],
    ['fields without an epoch', ['--time', '2026-11-01', ...rows.slice(0, 2)], /--fields has no epoch/],
    ['a tick without fields', ['--time', '2026-11-01', '--tick-ms', '10'], /--tick-ms is for --fields/],
    [
      'a field without bits',
      ['--time', '2026-11-01', ...epoch, '--fields', 'timestamp 41, x'],
      /--fields has 'x'; give/,
    ],
    [
      'a layout without a sequence',
      ['--time', '2026-11-01', ...epoch, '--fields', 'timestamp 41'],
      /no field 'sequence'/,
    ],
    ['no time', [], /there is no time; give one/],
    ['a word', ['2026-11-01'], /give the moment as --time/],
    ['a day that no calendar has', ['--time', '2026-02-30'], /--time is '2026-02-30', which no calendar/],
    [
      'a range that ends before it begins',
      ['--time', '2026-11-01', '--until', '2026-10-01'],
      /--until is before --time/,
    ],
    ['a time before the epoch', ['--time', '2001-01-01'], /ERR_ID_INVALID/],
  ])('refuses %s', async (_name, words, message) => {
    const { status, stdout, stderr } = await graupel(['compose', ...words])
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    expect(stderr).toMatch(message)
  })
})
