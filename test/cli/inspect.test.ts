import { readFileSync } from 'node:fs'
import { composeId, encodeId, encodings, type Layout, layouts, type TextEncoding } from 'graupel'
import { describe, expect, it, vi } from 'vitest'
import { paintFor, plain } from '../../dist/cli/paint.js'
import { picture } from '../../dist/inspect/picture.js'
import { plausibilityOf, plausibleReadings, read } from '../../dist/inspect/reading.js'
import { howLongAgo, localTime } from '../../dist/inspect/time.js'
import { graupel, lines } from '../support/cli.js'

interface Vector {
  layout: keyof typeof layouts
  epochMs?: number
  id: string
  timestampMs: number
  fields: Record<string, number>
  sequence: number
}

const { ids: vectors, expiries } = JSON.parse(
  readFileSync(new URL('../support/vectors.json', import.meta.url), 'utf8'),
) as {
  ids: Vector[]
  expiries: { layout: string; expiresAt: string }[]
}
const twitterId = 1541815603606036480n
const discordId = '175928847299117063'
const dayMs = 24 * 3_600_000

describe('graupel inspect', () => {
  it.each(vectors)('finds in $id what $layout put there', ({ layout, epochMs, id, timestampMs, fields, sequence }) => {
    const words = ['inspect', id, '--layout', layout, ...(epochMs === undefined ? [] : ['--epoch', String(epochMs)])]
    const [line, ...rest] = lines([...words, '--json'])
    expect(rest).toEqual([])
    expect(JSON.parse(line as string)).toMatchObject({
      id,
      layout,
      epochMs: epochMs ?? layouts[layout].epochMs,
      timestamp: new Date(timestampMs).toISOString(),
      timestampMs,
      fields,
      sequence,
      others: [],
    })
    const text = lines(words).join('\n')
    expect(text).toContain(new Date(timestampMs).toISOString())
    for (const [name, value] of Object.entries(fields)) expect(text).toMatch(new RegExp(`  ${name} +${value} \\(`))
    expect(text).toMatch(new RegExp(`  sequence +${sequence} \\(`))
  })

  it('prints every part of an id', () => {
    const words = ['inspect', discordId, '--layout', 'discord']
    const text = lines(words, { TZ: 'Asia/Tokyo' }).join('\n')
    expect(text.replace(/, \d+ years ago/, ', … years ago')).toMatchInlineSnapshot(`
      "  decimal  175928847299117063
        hex      0271065ac1020007
        base32   04W86BB0G4007
        base58   1QgmVVkniES
        base62   0Czks0tP37X
        bytes    02 71 06 5a c1 02 00 07

        layout      discord (epoch 2015-01-01T00:00:00.000Z)
        time        2016-04-30T11:18:25.796Z, … years ago
        local time  2016-04-30 20:18:25.796 +09:00 Asia/Tokyo
        node        32 (0 to 1,023)
          worker    1 (0 to 31)
          process   0 (0 to 31)
        sequence    7 (0 to 4,095)

         63                                         21    16    11         0
        ┌──────────────────────────────────────────┬─────┬─────┬────────────┐
        │000000100111000100000110010110101100000100│00001│00000│000000000111│
        └┬─────────────────────────────────────────┴┬────┴┬────┴┬───────────┘
         │                                          │     │     └ sequence 7
         │                                          │     └ process 0
         │                                          └ worker 1
         └ timestamp 41944705796 ms since 2015-01-01T00:00:00.000Z"
    `)
  })

  it.each(encodings.filter((encoding) => encoding !== 'bytes'))('reads ids in %s', (encoding) => {
    const id = encodeId(twitterId, encoding as TextEncoding)
    const [line] = lines(['inspect', id, '--encoding', encoding, '--json', '--layout', 'twitter'])
    const { encodings: written, ...rest } = JSON.parse(line as string)
    expect(rest).toMatchObject({ id: String(twitterId), node: 378 })
    expect(written[encoding]).toBe(id)
  })

  it('shows all presets that make sense of an id, one of them in full', () => {
    const text = lines(['inspect', discordId]).join('\n')
    expect(text).toMatch(/twitter +2012-03-03T13:01:20.453Z +datacenter 1, worker 0 +7\n/)
    expect(text).toMatch(/discord +2016-04-30T11:18:25.796Z +worker 1, process 0 +7\n/)
    expect(text).toMatch(/baidu +2016-07-17T22:16:43.000Z/)
    expect(text).not.toContain('js53') // The id has 58 bits.
    expect(text.match(/┌/g)?.length).toBe(1)
    const { layout, others } = JSON.parse(lines(['inspect', discordId, '--json'])[0] as string)
    expect([layout, ...others.map((other: { layout: string }) => other.layout)]).toContain('discord')
  })

  it('takes many ids, and from its input one a line', () => {
    const ids = vectors.slice(0, 2).map(({ id }) => id)
    const onCommandLine = lines(['inspect', ...ids, '--json'])
    expect(onCommandLine.map((line) => JSON.parse(line).id)).toEqual(ids)
    expect(lines(['inspect', '-', '--json'], {}, ids.join('\r\n'))).toEqual(onCommandLine)
  })

  it('uses no colour where the output is no terminal', () => {
    expect(lines(['inspect', discordId]).join('')).not.toContain('\x1b')
  })

  it.each([
    [{}, true],
    [{ NO_COLOR: '1' }, false],
    [{ NO_COLOR: '' }, true],
    [{ TERM: 'dumb' }, false],
  ])('on a terminal with %j in the environment colours: %s', (variables, isColoured) => {
    vi.stubEnv('NO_COLOR', undefined).stubEnv('TERM', 'xterm')
    for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value)
    expect(paintFor(true)('bold', 'id') !== 'id').toBe(isColoured)
    expect(paintFor(false)('bold', 'id')).toBe('id')
    vi.unstubAllEnvs()
  })

  it.each<[string, string[], RegExp, string?]>([
    ['no id', [], /no id was given/],
    ['no id on the input', ['-'], /no id on the standard input/],
    ['a bad line of the input', ['-', '--json'], /line 1: the id is 'x'/, 'x\n'],
    ['an empty line of the input', ['-', '--json'], /line 1: the id is ''/, '\n5\n'],
    ['- beside others', ['5', '-'], /stands alone/],
    ['a letter', [discordId, '17592884729911706x'], /the id is '17592884729911706x'/],
    ['2^64', ['18446744073709551616'], /2\^64/],
    ['an empty id', [''], /the id is ''/],
    ['a negative id', ['--', '-5'], /the id is '-5'/],
    ['too wide an id', ['9007199254740992', '--layout', 'js53'], /has 54 bits; ids of layout 'js53' have at most 53/],
    ['an id of no preset', ['18446744073709551615'], /no preset makes sense of the id 18446744073709551615/],
    ['a bad digit', ['0l', '--encoding', 'base58'], /the base58 id '0l'/],
  ])('refuses %s', (_what, words, message, input = '') => {
    const { status, stdout, stderr } = graupel(['inspect', ...words], {}, input)
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    expect(stderr).toMatch(/^graupel: [^\n]* \(ERR_ID_INVALID\)\n$/)
    expect(stderr).toMatch(message)
  })
})

describe('readings', () => {
  const all: Layout[] = Object.values(layouts)
  const nowMs = Date.UTC(2026, 5, 1)
  const names = (id: bigint) => plausibleReadings(id, all, nowMs).map(({ layout }) => layout.name)

  // leaf has the times of twitter, and wide those of tsid: nothing can tell them apart.
  it.each(all.filter(({ name }) => name !== 'leaf' && name !== 'wide'))(
    'of an id that $name has just made begin with $name',
    (layout) => {
      const timestampMs = Math.min(nowMs, layout.expiresAt.getTime() - 1)
      const id = composeId({ timestampMs, node: Math.min(5, layout.nodes - 1), sequence: 3 }, layout)
      expect(plausibleReadings(id, all, timestampMs + dayMs / 2)[0]?.layout).toBe(layout)
    },
  )

  it('leave out a time after tomorrow, and nothing before', () => {
    const at = (ms: number) => names(composeId({ timestampMs: nowMs + ms, node: 5 }, layouts.tsid))
    expect(at(dayMs)).toContain('tsid')
    expect(at(dayMs + 1)).not.toContain('tsid')
  })

  it.each([
    ['future', nowMs + dayMs + 1],
    ['recent', nowMs + dayMs],
    ['recent', nowMs - dayMs],
    ['past', nowMs - dayMs - 1],
    ['past', layouts.tsid.epochMs + 30 * dayMs + 1],
    ['early', layouts.tsid.epochMs + 30 * dayMs],
  ] as const)('are called %s at %i', (plausibility, timestampMs) => {
    expect(plausibilityOf(read(composeId({ timestampMs, node: 5 }, layouts.tsid), layouts.tsid), nowMs)).toBe(
      plausibility,
    )
  })

  it('put the first days of an epoch last, where few ids are from', () => {
    const id = composeId({ timestampMs: Date.UTC(2025, 0, 1), node: 5 }, layouts.js53)
    expect(names(id)[0]).toBe('js53')
    expect(names(id)).toContain('twitter')
  })
})

describe('the picture of the bits', () => {
  it('shows each field and what it means', () => {
    const shown = picture(twitterId, read(twitterId, layouts.twitter), plain).join('\n')
    expect(`\n${shown}\n`).toMatchInlineSnapshot(`
      "
         62                                        21    16    11         0
      ┌─┬─────────────────────────────────────────┬─────┬─────┬────────────┐
      │0│00101010110010110100001000111110110001000│01011│11010│000000000000│
      └┬┴┬────────────────────────────────────────┴┬────┴┬────┴┬───────────┘
       │ │                                         │     │     └ sequence 0
       │ │                                         │     └ worker 26
       │ │                                         └ datacenter 11
       │ └ timestamp 367597485448 ms since 2010-11-04T01:42:54.657Z
       └ unused
      "
    `)
  })

  it.each(Object.values(layouts) as Layout[])('of layout $name has 64 bits in 78 columns', (layout) => {
    const widest = 2n ** BigInt(layout.bits) - 1n
    const drawn = picture(widest, read(widest, layout), plain)
    // Two more are the margin.
    expect(Math.max(...drawn.map((line) => line.length))).toBeLessThanOrEqual(78)
    expect(drawn[2]?.replaceAll('│', '')).toBe(widest.toString(2).padStart(64, '0'))
  })
})

describe('times', () => {
  it('are local to the zone of the process', () => {
    const local = (TZ: string) => lines(['inspect', discordId, '--layout', 'discord'], { TZ }).join('\n')
    expect(local('UTC')).toContain('2016-04-30 11:18:25.796 +00:00 UTC')
    expect(local('Asia/Kathmandu')).toContain('2016-04-30 17:03:25.796 +05:45 Asia/Kat')
    expect(local('America/New_York')).toContain('2016-04-30 07:18:25.796 -04:00 America/New_York')
    expect(localTime(new Date(0))).toMatch(/^19(70|69)-/)
  })

  it.each([
    [0, '0 milliseconds ago'],
    [1, '1 millisecond ago'],
    [1999, '1 second ago'],
    [119_999, '1 minute ago'],
    [3 * dayMs, '3 days ago'],
    [365.25 * dayMs, '1 year ago'],
    [-2 * 3_600_000, 'in 2 hours'],
  ])('%d ms earlier are %s', (ms, text) => {
    expect(howLongAgo(1e12 - ms, 1e12)).toBe(text)
  })
})

describe('graupel layouts', () => {
  it('lists every preset with its capacity and expiry in 80 columns', () => {
    const shown = lines(['layouts'])
    expect(Math.max(...shown.map((line) => line.length))).toBeLessThanOrEqual(80)
    for (const { name, expiresAt } of Object.values(layouts)) {
      const row = shown.find((line) => line.startsWith(`${name} `))
      expect(row).toContain(expiresAt.toISOString().slice(0, 10))
      expect(row?.endsWith('expired')).toBe(expiresAt.getTime() <= Date.now())
    }
    expect(shown).toContain('wide         63  65,536,000         64   1 ms  2020-01-01  2089-09-06')
    expect(shown).toContain('  timestamp 39, sequence 8, machine 16')
  })

  it('lists them as JSON', () => {
    const listed: { name: string }[] = JSON.parse(lines(['layouts', '--json']).join('\n'))
    expect(listed.map(({ name }) => name)).toEqual(Object.keys(layouts))
    for (const { layout, expiresAt } of expiries) {
      expect(listed.find(({ name }) => name === layout)).toMatchObject({ expiresAt })
    }
    expect(listed.find(({ name }) => name === 'sonyflake')).toMatchObject({ idsPerSecond: 25_600, nodes: 65_536 })
  })
})
