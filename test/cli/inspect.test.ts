import { readFileSync } from 'node:fs'
import { describe, expect, it, vi } from 'vitest'
import { describe as describeLayout } from '../../src/cli/layouts.js'
import { howLongAgo, localTime, paintFor, plain } from '../../src/cli/output.js'
import {
  composeId,
  defineLayout,
  encodeId,
  encodings,
  type Layout,
  layouts,
  type TextEncoding,
} from '../../src/index.js'
import { picture } from '../../src/inspect/picture.js'
import {
  onlyLikely,
  type Plausibility,
  plausibilities,
  plausibilityOf,
  plausibleReadings,
  read,
} from '../../src/inspect/reading.js'
import { graupel, lines, spawnLines } from '../support/cli.js'

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
  it('shows the tags of a layout of its own, in a table, the picture and JSON', async () => {
    const rows = ['--fields', 'timestamp 41, worker 8, shard 6 tag, sequence 8', '--epoch', '2024-01-01']
    const id = String((5_000_000_000n << 22n) | (7n << 14n) | (37n << 8n) | 3n)
    const text = (await lines(['inspect', id, ...rows])).join('\n')
    expect(text).toMatch(/shard +37 .*63/)
    expect(text).toContain('└ shard 37')
    expect(JSON.parse((await lines(['inspect', id, ...rows, '--json']))[0] as string)).toMatchObject({
      layout: 'own',
      timestampMs: Date.UTC(2024, 0, 1) + 5_000_000_000,
      node: 7,
      tags: { shard: 37 },
      sequence: 3,
    })
  })

  it.each(vectors)(
    'finds in $id the parts that $layout put there',
    async ({ layout, epochMs, id, timestampMs, fields, sequence }) => {
      const words = ['inspect', id, '--layout', layout, ...(epochMs === undefined ? [] : ['--epoch', String(epochMs)])]
      const [line, ...rest] = await lines([...words, '--json'])
      expect(rest).toEqual([])
      expect(JSON.parse(line as string)).toMatchObject({
        id,
        layout,
        epochMs: epochMs ?? layouts[layout].epochMs,
        timestamp: new Date(timestampMs).toISOString(),
        timestampMs,
        fields,
        sequence,
      })
      expect(JSON.parse(line as string)).not.toHaveProperty('readings')
      const text = (await lines(words)).join('\n')
      expect(text).toContain(new Date(timestampMs).toISOString())
      for (const [name, value] of Object.entries(fields)) expect(text).toMatch(new RegExp(`  ${name} +${value} \\(`))
      expect(text).toMatch(new RegExp(`  sequence +${sequence} \\(`))
    },
  )

  it('reads a line of a million characters, in a moment', async () => {
    const text = `{"msg":"${'ab12'.repeat(250_000)}"} 175928847299117063(`
    const { stdout } = await graupel(['inspect', '-', '--layout', 'discord'], {}, `${text}\n${discordId}`)
    expect(stdout).toContain('175928847299117063')
  })

  it('prints the ids of a line beside a text that is no id', async () => {
    const line = `req=3b241101-e2bb-4255-8caf-4136c566a962 at=18446744073709551616 order=${twitterId} is old\n${twitterId}\n`
    const { status, stdout, stderr } = await graupel(['inspect', '-', '--layout', 'twitter', '--json'], {}, line)
    expect(Array.from(stdout.matchAll(/"id":"(\d+)"/g), ([, id]) => id)).toEqual([`${twitterId}`, `${twitterId}`])
    expect(stderr).toMatch(/^graupel: line 1: .* version 4.*\ngraupel: line 1: .*2\^64.*\n$/)
    expect(status).toBe(2)
  })

  it('prints the beginning of a line with each of its many ids', async () => {
    const many = Array.from({ length: 5000 }, (_, index) => `${twitterId + BigInt(index)}`)
    const line = `SELECT item FROM orders WHERE id IN (${many.join(', ')})\n`
    const { status, stdout } = await graupel(['inspect', '-', '--layout', 'twitter', '--json'], {}, line)
    expect(status).toBe(0)
    const found = stdout
      .split('\n')
      .slice(0, -1)
      .map((text) => JSON.parse(text))
    expect(found.map(({ id }) => id)).toEqual(many)
    expect(found[0].from).toBe(`${line.slice(0, 1000)}…`)
  })

  it.each([[], ['--json']])('prints no control characters of a line: %j', async (...flags) => {
    const line = `order=${discordId} \x1b]0;x\x07\x1b[2J\x9b ok\n`
    const { stdout } = await graupel(['inspect', '-', '--layout', 'discord', ...flags], {}, line)
    expect(stdout).toContain('\\u001b]0;x\\u0007')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: none of them may come
    expect(stdout).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f]/)
  })

  it('prints every part of an id', async () => {
    const words = ['inspect', discordId, '--layout', 'discord']
    const text = (await lines(words, { TZ: 'Asia/Tokyo' })).join('\n')
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

  it.each(encodings.filter((encoding) => encoding !== 'bytes'))('reads ids in %s', async (encoding) => {
    const id = encodeId(twitterId, encoding as TextEncoding)
    const [line] = await lines(['inspect', id, '--format', encoding, '--json', '--layout', 'twitter'])
    const { encodings: written, ...rest } = JSON.parse(line as string)
    expect(rest).toMatchObject({ id: String(twitterId), node: 378 })
    expect(written[encoding]).toBe(id)
  })

  it('lists all readings that make sense of an id, and shows none in full if several are likely', async () => {
    const text = (await lines(['inspect', discordId])).join('\n')
    expect(text).toMatchInlineSnapshot(`
      "  decimal  175928847299117063
        hex      0271065ac1020007
        base32   04W86BB0G4007
        base58   1QgmVVkniES
        base62   0Czks0tP37X
        bytes    02 71 06 5a c1 02 00 07

        An id does not say which layout made it. These make sense, likeliest first.
        To see a reading in full, name its layout: --layout discord.

        layout     time                  node                    sequence
        discord    2016-04-30T11:18:25Z  worker 1, process 0            7  past
        twitter    2012-03-03T13:01:20Z  datacenter 1, worker 0         7  past
        instagram  2012-04-23T14:46:14Z  shard 128                      7  past
        sonyflake  2017-12-27T16:16:04Z  machine 7                      2  past
        tsid       2021-04-30T11:18:25Z  node 32                        7  past
        baidu      2016-07-17T22:16:43Z  worker 1443856                 7  unusual
        leaf       2012-03-03T13:01:20Z  worker 32                      7  early
        wide       2021-04-30T11:18:25Z  node 2                         7  early"
    `)
    for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(80)
    const { layout, readings, ...rest } = JSON.parse((await lines(['inspect', discordId, '--json']))[0] as string)
    expect(layout).toBe(null)
    expect(Object.keys(rest)).toEqual(['id', 'encodings'])
    expect(readings[0]).toEqual({
      layout: 'discord',
      epochMs: layouts.discord.epochMs,
      timestamp: '2016-04-30T11:18:25.796Z',
      timestampMs: 1462015105796,
      node: 32,
      fields: { worker: 1, process: 0 },
      sequence: 7,
      plausibility: 'past',
    })
  })

  it('prints the example in docs/layouts.md, which has every plausibility', async () => {
    const document = readFileSync(new URL('../../docs/layouts.md', import.meta.url), 'utf8')
    const [, command = '', told = ''] = /```text\n\$ graupel (inspect .*)\n {2}…\n([\s\S]*?)\n```/.exec(document) ?? []
    expect((await lines(command.split(' '))).join('\n').endsWith(`\n\n${told}`)).toBe(true)
    const [, rows = ''] = /\| plausibility \| meaning \|\n.*\n([\s\S]*?)\n\n/.exec(document) ?? []
    expect([...rows.matchAll(/^\| (\w+)/gm)].map(([, name]) => name)).toEqual(
      plausibilities.filter((name) => name !== 'future'),
    )
  })

  it.each(['twitter', 'discord', 'mastodon'] as const)(
    'shows a new %s id in full, and calls the reading a guess',
    async (name) => {
      const id = String(composeId({ timestampMs: Date.now(), node: 0, sequence: 3 }, layouts[name] as Layout))
      const text = (await lines(['inspect', id])).join('\n')
      expect(text).toMatch(new RegExp(`The first is shown in full, as a guess; .*\n\n.*\n  ${name} +20.*recent\n`))
      expect(text).toMatch(new RegExp(`  layout +${name} \\(a guess; epoch `))
      expect(text.match(/┌/g)?.length).toBe(1)
      const { layout, readings } = JSON.parse((await lines(['inspect', id, '--json']))[0] as string)
      expect(layout).toBe(null)
      expect(readings[0]).toMatchObject({ layout: name, plausibility: 'recent' })
    },
  )

  it('says so if an id makes sense in one preset only', async () => {
    const words = ['inspect', String(2n ** 63n), '--epoch', '1985-01-01']
    const text = (await lines(words)).join('\n')
    expect(text).toContain('An id does not say which layout made it. Only one preset makes sense: instagram.')
    expect(text).toContain('instagram (a guess; epoch 1985-01-01T00:00:00.000Z)')
    expect(JSON.parse((await lines([...words, '--json']))[0] as string).readings).toMatchObject([
      { layout: 'instagram' },
    ])
  })

  it('takes many ids, or reads them from its input, one a line', async () => {
    const ids = vectors.slice(0, 2).map(({ id }) => id)
    const onCommandLine = await lines(['inspect', ...ids, '--json'])
    expect(onCommandLine.map((line) => JSON.parse(line).id)).toEqual(ids)
    expect(await lines(['inspect', '-', '--json'], {}, ids.join('\r\n'))).toEqual(onCommandLine)
    // As PowerShell writes it.
    expect(await lines(['inspect', '-', '--json'], {}, `\ufeff${ids.join('\r\n')}`)).toEqual(onCommandLine)
  })

  it('uses no colour if the output is no terminal', async () => {
    expect((await lines(['inspect', discordId])).join('')).not.toContain('\x1b')
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

  it('goes on after a line that is no id, or an id of no preset', async () => {
    const input = `${discordId}\nx\n18446744073709551615\n\n${discordId}\n`
    const { status, stdout, stderr } = await graupel(['inspect', '-', '--json'], {}, input)
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).id),
    ).toEqual([discordId, discordId])
    expect(status).toBe(2)
    const [x, wide, empty] = stderr.split('\n')
    expect(x).toMatch(/^graupel: line 2: the id is 'x'.* \(ERR_ID_INVALID\)$/)
    expect(wide).toMatch(/^graupel: line 3: the id 18446744073709551615 makes sense in no preset/)
    expect(empty).toMatch(/^graupel: line 4: the id is ''/)
  })

  it.each<[string, string[], RegExp, string?]>([
    ['no id', [], /no id was given/],
    ['no id on the input', ['-'], /no id on the standard input/],
    ['a bad line of the input', ['-', '--json'], /line 1: the id is 'x'/, 'x\n'],
    ['an empty line of the input', ['-', '--json'], /line 1: the id is ''/, '\n'],
    ['- beside others', ['5', '-'], /stands alone/],
    ['a letter', [discordId, '17592884729911706x'], /the id is '17592884729911706x'/],
    ['base62', ['0Czks0tP37X'], /in decimal an id is .*; for another format give --format base62 \(/],
    ['hex', ['0271065ac1020007'], /; for another format give --format hex \(/],
    ['2^64', ['18446744073709551616'], /2\^64/],
    ['an empty id', [''], /the id is ''/],
    ['a negative id', ['--', '-5'], /the id is '-5'/],
    ['too wide an id', ['9007199254740992', '--layout', 'js53'], /has 54 bits; ids of layout 'js53' have at most 53/],
    ['an id of no preset', ['18446744073709551615'], /the id 18446744073709551615 makes sense in no preset/],
    ['a bad digit', ['0l', '--format', 'base58'], /the base58 id '0l'/],
  ])('refuses %s', async (_what, words, message, input = '') => {
    const { status, stdout, stderr } = await graupel(['inspect', ...words], {}, input)
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' })
    expect(stderr).toMatch(/^graupel: [^\n]* \(ERR_ID_INVALID\)\n$/)
    expect(stderr).toMatch(message)
  })
})

describe('readings', () => {
  const all: Layout[] = Object.values(layouts)
  const nowMs = Date.UTC(2026, 5, 1)
  const names = (id: bigint) => plausibleReadings(id, all, nowMs).map(({ layout }) => layout.name)

  // leaf and twitter have the same times, and so do wide and tsid: nothing can tell them apart.
  it.each(all.filter(({ name }) => name !== 'leaf' && name !== 'wide'))(
    'of a new id of $name begin with $name',
    (layout) => {
      const timestampMs = Math.min(nowMs, layout.expiresAt.getTime() - 1)
      const id = composeId({ timestampMs, node: Math.min(5, layout.nodes - 1), sequence: 3 }, layout)
      expect(plausibleReadings(id, all, timestampMs + dayMs / 2)[0]?.layout).toBe(layout)
    },
  )

  it('leave out times after tomorrow, and no earlier times', () => {
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

  it.each([
    ['early', 'mastodon', Date.UTC(2016, 2, 31)],
    ['past', 'mastodon', Date.UTC(2016, 3, 1)],
    ['early', 'leaf', Date.UTC(2017, 3, 30)],
    ['past', 'leaf', Date.UTC(2017, 4, 2)],
    ['early', 'wide', Date.UTC(2026, 0, 1)],
  ] as const)('are called %s of %s at %i, by when the system began', (plausibility, name, timestampMs) => {
    const layout: Layout = layouts[name]
    expect(plausibilityOf(read(composeId({ timestampMs, node: 0 }, layout), layout), nowMs)).toBe(plausibility)
  })

  it.each([
    ['past', 'twitter', 255, 0],
    ['unusual', 'twitter', 256, 0],
    ['past', 'tsid', 4095, 0],
    ['past', 'mastodon', 65_535, 0],
    ['past', 'twitter', 0, 1023],
    ['past', 'baidu', 0, 2 ** 18 - 1],
    ['unusual', 'baidu', 0, 2 ** 18],
  ] as const)('are called %s of %s with sequence %i on node %i', (plausibility, name, sequence, node) => {
    const layout: Layout = layouts[name]
    const id = composeId({ timestampMs: Date.UTC(2023, 0), node, sequence }, layout)
    expect(plausibilityOf(read(id, layout), nowMs)).toBe(plausibility)
  })

  it('put the first days of an epoch last, because few ids are from these days', () => {
    const id = composeId({ timestampMs: Date.UTC(2020, 0, 20), node: 5 }, layouts.tsid)
    expect(names(id)[0]).toBe('sonyflake')
    expect(names(id)).toContain('tsid')
  })

  it('have one likely reading if it is recent, or no other reading is past', () => {
    const likely = (...found: [keyof typeof layouts, Plausibility][]) =>
      onlyLikely(found.map(([name, plausibility]) => ({ layout: layouts[name] as Layout, plausibility })))?.layout.name
    expect(likely(['discord', 'recent'], ['twitter', 'past'])).toBe('discord')
    expect(likely(['twitter', 'recent'], ['leaf', 'recent'], ['discord', 'past'])).toBe('twitter')
    expect(likely(['tsid', 'recent'], ['wide', 'recent'])).toBe(undefined)
    expect(likely(['discord', 'past'], ['twitter', 'unusual'])).toBe(undefined)
    expect(likely(['discord', 'past'], ['twitter', 'early'])).toBe('discord')
    expect(likely(['discord', 'early'], ['twitter', 'early'])).toBe(undefined)
    expect(likely(['mastodon', 'unusual'])).toBe('mastodon')
    expect(likely()).toBe(undefined)
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
    // The margin has two more columns.
    expect(Math.max(...drawn.map((line) => line.length))).toBeLessThanOrEqual(78)
    expect(drawn[2]?.replaceAll('│', '')).toBe(widest.toString(2).padStart(64, '0'))
  })
})

describe('times', () => {
  it('are local to the zone of the process', () => {
    const local = (TZ: string) => spawnLines(['inspect', discordId, '--layout', 'discord'], { TZ }).join('\n')
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
  it('lists every preset with its capacity and expiry in 80 columns', async () => {
    const shown = await lines(['layouts'])
    expect(Math.max(...shown.map((line) => line.length))).toBeLessThanOrEqual(80)
    for (const { name, expiresAt } of Object.values(layouts)) {
      const row = shown.find((line) => line.startsWith(`${name} `))
      expect(row).toContain(name === 'mastodon' ? '10889-08-02' : expiresAt.toISOString().slice(0, 10))
      expect(row?.endsWith('expired')).toBe(expiresAt.getTime() <= Date.now())
    }
    expect(shown).toContain('wide         63   65,536,000         64   1 ms  2020-01-01  2089-09-06')
    expect(shown).toContain('  timestamp 39, sequence 8, machine 16')
    expect(shown).toContain('mastodon     64  decode only          1   1 ms  1970-01-01  10889-08-02')
  })

  it('lists them as JSON', async () => {
    const listed: { name: string }[] = JSON.parse((await lines(['layouts', '--json'])).join('\n'))
    expect(listed.map(({ name }) => name)).toEqual(Object.keys(layouts))
    for (const { layout, expiresAt } of expiries) {
      expect(listed.find(({ name }) => name === layout)).toMatchObject({ expiresAt })
    }
    expect(listed.find(({ name }) => name === 'sonyflake')).toMatchObject({ idsPerSecond: 25_600, nodes: 65_536 })
    expect(listed.find(({ name }) => name === 'mastodon')).toMatchObject({ decodeOnly: true })
    expect(listed.find(({ name }) => name === 'twitter')).toMatchObject({
      fields: [
        { name: 'timestamp', bits: 41, role: 'timestamp' },
        { name: 'datacenter', bits: 5, role: 'node' },
        { name: 'worker', bits: 5, role: 'node' },
        { name: 'sequence', bits: 12, role: 'sequence' },
      ],
    })
  })

  it('describes tags as JSON, with and without a default', () => {
    const fields = [
      ['timestamp', 41],
      ['sequence', 10],
      ['shard', 6, 'tag'],
      ['kind', 1, 'tag?'],
    ] as const
    const layout = defineLayout({ name: 'tagged', epochMs: 0, tickMs: 1, fields })
    expect(describeLayout(layout as unknown as Layout).fields.slice(2)).toEqual([
      { name: 'shard', bits: 6, role: 'tag' },
      { name: 'kind', bits: 1, role: 'tag?' },
    ])
  })
})
