import { describe, expect, it } from 'vitest'
import { idsOfJson, partsOf } from '../../src/inspect/pasted.ts'
import { readShortcode } from '../../src/inspect/shortcode.ts'
import { readList } from '../../web/src/ids/list.ts'
import { graupel } from '../support/cli.js'

const [a, b] = ['1541815603606036480', '1541815603606036481']
const discord = '175928847299117063'
const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
const uuid = 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6'
const nowMs = Date.UTC(2026, 10, 27)
const post = String(readShortcode('CUbHfhpswx-'))

/** The findings in a paste: its ids, the preset that the text names, and the first fault. */
interface Said {
  readonly ids: readonly string[]
  readonly layout?: string
  readonly uuids?: readonly string[]
  /** The key of the page's message and its values. */
  readonly fault?: readonly [key: string, values?: Record<string, unknown>]
  /** The answer of the command line if it does not choose an encoding that the page chooses. */
  readonly refused?: RegExp
}

const only = (...taken: string[]) => ['troubleLeft', { taken: taken.join(', ') }] as const
const other = (kind: string, time?: string) =>
  time === undefined
    ? (['troubleOther', { kind }] as const)
    : (['troubleOtherTime', { kind, time: expect.stringContaining(time) }] as const)

/** Texts that people paste, and what is said of them. Each text is one line. */
const pasted: readonly (readonly [what: string, text: string, said: Said])[] = [
  ['a line of a log', `order=${a} user=7`, { ids: [a], fault: only(a) }],
  ['a line with a time', `2026-11-27T12:00:00.123Z INFO order_${a}, took 12 ms.`, { ids: [a], fault: only(a) }],
  ['a line with two ids', `moved ${a} to ${b} in 7 steps`, { ids: [a, b], fault: only(a, b) }],
  ['a line with a UUID', `order=${uuid} done`, { ids: [], uuids: [uuid], fault: only(uuid) }],
  ['a line with a text of a kind', 'GET /orders/ord_01asd13xh1f80 200', { ids: [], fault: ['troubleNoIds'] }],
  ['a log in JSON', `{"reqId":"fbc5e566-9","msg":"order ${a} failed"}`, { ids: [a], fault: only(a) }],
  ['a log in JSON with a trace', `{"trace_id":"${trace}","msg":"order ${a}"}`, { ids: [a], fault: only(a) }],
  [
    'a log with an id in a property and in a text',
    `{"orderId":${a},"msg":"of ${b}"}`,
    { ids: [a, b], fault: only(a, b) },
  ],
  ['a log with a word under a name of ids', '{"reqId":"fbc5e566-9"}', { ids: [], fault: ['troubleNoId'] }],
  ['JSON with an id under another name', `{"id":${a},"id_str":"${a}"}`, { ids: [a] }],
  ['an object of console.log', `{ id: '${a}' }`, { ids: [a], fault: only(a) }],
  ['a line with short numbers', 'took 12 of 100', { ids: [], fault: ['troubleNoIds'] }],
  ['a signed id in a log', 'id=-6917529027641081857 user=7', { ids: [], fault: ['troubleNoIds'] }],
  ['a signed id in a row', '-6917529027641081857,tea', { ids: [], fault: ['troubleNoIds'] }],
  ['an id behind a name and a hyphen', `order-${a} done`, { ids: [a], fault: only(a) }],
  ['an integer of PHP', `int(${a})`, { ids: [a] }],
  ['a Long of MongoDB beside an id', `${a} NumberLong(${b})`, { ids: [a, b] }],
  [
    'a post of Instagram that ends with a sign',
    'https://www.instagram.com/p/CUbHfhpswx-/',
    { ids: [post], layout: 'instagram' },
  ],
  ['a fraction', `x 0.${a}`, { ids: [], fault: ['troubleNoIds'] }],
  ['a mention of Discord', `<@${discord}>`, { ids: [discord], layout: 'discord' }],
  ['a mention with a nickname', `<@!${discord}>`, { ids: [discord], layout: 'discord' }],
  ['a channel of Discord', `<#${discord}>`, { ids: [discord], layout: 'discord' }],
  ['a role of Discord', `<@&${discord}>`, { ids: [discord], layout: 'discord' }],
  ['an emoji of Discord', `<:party_1:${discord}>`, { ids: [discord], layout: 'discord' }],
  ['a moving emoji', `<a:party:${discord}>`, { ids: [discord], layout: 'discord' }],
  ['a mention in a sentence', `thanks <@${discord}>!`, { ids: [discord], layout: 'discord', fault: only(discord) }],
  ['a time of Discord', '<t:1618953630:R>', { ids: [], fault: other('<t:…> of Discord', '2021-04-20T21:20:30') }],
  ['a tweet', `https://x.com/jack/status/${a}?s=20`, { ids: [a], layout: 'twitter' }],
  [
    'a tweet in Markdown',
    `[the tweet](https://twitter.com/jack/status/${a})`,
    { ids: [a], layout: 'twitter', fault: only(a) },
  ],
  ['a tweet in angle brackets', `<https://x.com/jack/status/${a}>`, { ids: [a], layout: 'twitter', fault: only(a) }],
  ['a tweet before Snowflake', 'https://x.com/jack/status/20', { ids: [], fault: ['troubleOldTweet', { id: '20' }] }],
  [
    'the last tweet before Snowflake',
    'https://twitter.com/a/status/29700859246',
    { ids: [], fault: ['troubleOldTweet', { id: '29700859246' }] },
  ],
  [
    'the first tweet of Snowflake',
    'https://twitter.com/a/status/29700859247',
    { ids: ['29700859247'], layout: 'twitter' },
  ],
  [
    'a message of Discord',
    `https://discord.com/channels/${discord}/197038439483310086/${a}`,
    { ids: [a], layout: 'discord' },
  ],
  [
    'a post of Mastodon',
    'https://mastodon.social/@Gargron/109370844647385274',
    { ids: ['109370844647385274'], layout: 'mastodon' },
  ],
  [
    'a post of Mastodon from another server',
    'https://hachyderm.io/@a@mastodon.social/109370844647385274',
    { ids: ['109370844647385274'], layout: 'mastodon' },
  ],
  [
    'a post of Mastodon, as ActivityPub names it',
    'https://mastodon.social/users/Gargron/statuses/109370844647385274',
    { ids: ['109370844647385274'], layout: 'mastodon' },
  ],
  ['an address of another site', `https://example.com/orders?id=${a}`, { ids: [a] }],
  ['an address without an id', 'https://example.com/orders/7', { ids: [], fault: ['troubleNoId'] }],
  [
    "Instagram's ID_USER",
    '2675231891234567890_1234567890123456',
    { ids: ['2675231891234567890'], layout: 'instagram', fault: only('2675231891234567890') },
  ],
  [
    'a post of Instagram',
    'https://www.instagram.com/p/CUbHfhpswxt/',
    { ids: ['2673763756536958061'], layout: 'instagram' },
  ],
  ['a shortcode with a sign', 'CUbHfh-sw_t', { ids: ['2673763756889280493'], layout: 'instagram' }],
  [
    'a shortcode that base62 has, too',
    'CUbHfhpswxt',
    { ids: ['2673763756536958061'], refused: /give --format base58 or base62; .*address of its post/ },
  ],
  ['full-width digits', '１５４１８１５６０３６０６０３６４８０', { ids: [a] }],
  ['a zero-width space', `\u200b${a}\u200b`, { ids: [a] }],
  ['a byte order mark', `\ufeff${a}`, { ids: [a] }],
  ['leading zeros', `00000000000${a}`, { ids: [a] }],
  ['few leading zeros', '007', { ids: ['7'] }],
  ['leading zeros that may be hex', '0000000000000010', { ids: ['10'], refused: /give --format decimal or hex/ }],
  ['a ULID', '01ARZ3NDEKTSV4RRFFQ69G5FAV', { ids: [], fault: other('ULID', '2016-07-30') }],
  ['ULIDs', '01ARZ3NDEKTSV4RRFFQ69G5FAV, 01BX5ZZKBKACTAV9WEVGEMMVRZ', { ids: [], fault: other('ULID', '2016-07-30') }],
  ['an ObjectId', '507f1f77bcf86cd799439011', { ids: [], fault: other('ObjectId', '2012-10-17T21:13:27') }],
  [
    'an ObjectId of mongosh',
    `ObjectId('507f1f77bcf86cd799439011')`,
    { ids: [], fault: other('ObjectId', '2012-10-17T21:13:27') },
  ],
  ['a KSUID', '0ujtsYcgvSTl8PAuAdqWYSMnLOv', { ids: [], fault: other('KSUID', '2017-10-10T04:00:47') }],
  ['an xid', '9m4e2mr0ui3e8a215n4g', { ids: [], fault: other('xid', '2011-03-22T17:50:19') }],
  ['a CUID', 'cjld2cjxh0000qzrmn831i7rn', { ids: [], fault: other('CUID', '2018-') }],
  ['a CUID2', 'tz4a98xxat96iws9zmbrgj3a', { ids: [], fault: other('CUID2') }],
  ['a nanoid', 'V1StGXR8_Z5jdHi6B-myT', { ids: [], fault: other('nanoid') }],
  ['a word of 24 letters', 'thyroparathyroidectomize', { ids: [], fault: ['troubleNoId'] }],
  ['hex of an impossible time', 'ffffffffffffffffffffffff', { ids: [], fault: ['troubleNoId'] }],
]

function listOf(text: string, column = '') {
  const work = readList(text, '', nowMs, column)
  for (;;) {
    const step = work.next()
    if (step.done) return { ...step.value, ids: [...step.value.ids].map(String) }
  }
}

describe('of a pasted text, the page says', () => {
  it.each(pasted)('%s', (_, text, { ids, uuids = [], layout, fault }) => {
    const { troubles, ...found } = listOf(text)
    expect(found).toMatchObject({ ids, uuids })
    if (ids.length > 0) expect(found.layout).toBe(layout ?? (text === 'CUbHfhpswxt' ? 'instagram' : undefined))
    const [first] = troubles.map(({ trouble }) => trouble)
    if (fault === undefined) expect(first).toBe(undefined)
    else expect(first).toMatchObject({ key: fault[0], ...(fault[1] && { values: fault[1] }) })
  })
})

describe('of the same texts, graupel inspect says', async () => {
  // A ULID is read as a UUID of the same bytes.
  const ulids: Readonly<Record<string, number>> = { 'a ULID': 1, ULIDs: 2 }
  const { stdout, stderr, status } = await graupel(
    ['inspect', '-', '--json'],
    {},
    pasted.map(([, text]) => text).join('\n'),
  )
  const errors = new Map(
    [...stderr.matchAll(/^graupel: line (\d+): (.*) \(ERR_ID_INVALID\)$/gm)].map(([, line, text]) => [
      Number(line),
      text as string,
    ]),
  )
  const printed = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  const told = pasted.map(([what, text, said], i) => {
    const { ids, uuids = [], refused } = said
    const count = ulids[what] ?? (refused === undefined ? ids.length + uuids.length : 0)
    return { what, text, said, error: errors.get(i + 1), objects: printed.splice(0, count) }
  })

  it('as much', () => {
    expect(printed).toEqual([])
    expect(status).toBe(2)
  })

  it.each(told)('$what', ({ what, text, said, error, objects }) => {
    const { ids, uuids = [], layout, fault, refused } = said
    if (refused !== undefined) return expect(error).toMatch(refused)
    if (ulids[what] !== undefined) {
      return expect(objects[0]).toMatchObject({ ulid: '01ARZ3NDEKTSV4RRFFQ69G5FAV', timestampMs: 1_469_922_850_259 })
    }
    expect(objects.map(({ id, uuid }) => id ?? uuid)).toEqual([...ids, ...uuids])
    if (ids.length > 0) expect(objects[0].layout).toBe(layout ?? null)
    expect(objects[0]?.from).toBe(fault?.[0] === 'troubleLeft' ? text : undefined)
    const [key, values] = fault ?? []
    const message = {
      troubleNoId: 'the id is',
      troubleNoIds: 'the id is',
      troubleOther: `looks like ${values?.['kind']}, which`,
      troubleOtherTime: `looks like ${values?.['kind']}, made at 20`,
      troubleOldTweet: `the tweet ${values?.['id']} is older than Snowflake`,
    }[key as string]
    if (message === undefined) expect(error).toBe(undefined)
    else expect(error).toContain(message)
  })
})

describe('of a table', () => {
  const csv = `at,user_id,"order, id"\n2026-11-27,${discord},${a}\n2026-11-28,${discord},"${b}"\n`
  const psql = `         id          | user_id \n---------------------+---------\n ${a} |       7\n ${b} |       8\n(2 rows)\n`
  const rule = '+---------------------+---------+\n'
  const mysql = `${rule}| id                  | user_id |\n${rule}| ${a} |       7 |\n${rule}1 row in set (0.00 sec)\n`
  const markdown = `| name | id |\n|:--|--:|\n| x | ${a} |\n`

  it.each([
    ['the likeliest column is read', csv, '', [discord, discord], 'user_id', 0],
    ['the column that is chosen is read', csv, 'order, id', [a, b], 'order, id', 0],
    ['the likeliest is read if the chosen column is missing', csv, 'x', [discord, discord], 'user_id', 0],
    ['all long numbers are read if all columns are chosen', csv, '*', [discord, a, discord, b], '*', 3],
    ['psql draws, the lines are left out', psql, '', [a, b], 'id', 0],
    ['mysql draws, the lines are left out', mysql, '', [a], 'id', 0],
    ['Markdown draws, the lines are left out', markdown, '', [a], 'id', 0],
    ['tabs stand between the columns of', `n\tid\n7\t${a}`, '', [a], 'id', 0],
    ['cells are empty in', ` id | next\n----+----\n ${a} | \n ${b} | ${a}`, 'id', [a, b], 'id', 0],
    ['cells at both ends are empty in', ` n | id | next\n 7 | ${b} | ${b}\n   | ${a} | `, 'id', [b, a], 'id', 0],
    ['cells are empty, without blanks, in', `id|n|next\n${a}||${b}`, 'id', [a], 'id', 0],
    ['cells at the ends are empty, between tabs, in', `n\tid\tnext\n7\t${b}\t\n\t${a}\t`, '', [b, a], 'id', 0],
    ['a cell is empty beside one in quotes in', `id\tn\tnote\n${a}\t7\tx\n${b}\t\t"tea, green"`, 'id', [a, b], 'id', 0],
  ] as const)('%s', (_, text, chosen, ids, column, troubleCount) => {
    expect(listOf(text, chosen)).toMatchObject({ ids, column, troubleCount })
  })

  it.each([
    ['words in the first line', `order, user\n${a}`],
    ['ids in both lines', `${a},${b}\n${b},${a}`],
    ['no long number', 'a,b\n1,2'],
  ])('nothing is said with %s', (_, text) => {
    expect(listOf(text).columns).toEqual([])
  })

  it('the command line reads the column that is named', async () => {
    const inspect = async (text: string, column: string) =>
      await graupel(['inspect', '-', '--json', '--column', column], {}, text)
    const ids = async (text: string, column: string) =>
      (await inspect(text, column)).stdout
        .split('\n')
        .slice(0, -1)
        .map((line) => JSON.parse(line).id)
    expect(await ids(csv, 'order, id')).toEqual([a, b])
    expect(await ids(psql, 'id')).toEqual([a, b])
    expect(await ids(mysql, 'id')).toEqual([a])
    expect((await inspect(`${psql}7\n`, 'id')).stderr).toMatch(
      /^graupel: line 6: the line '7' has 1 columns, and the first line names 2/,
    )
    expect((await inspect(csv, 'x')).stderr).toMatch(
      /^graupel: --column is 'x', and the first line names no such column/,
    )
  })
  it('the command line skips rules and footers without a column, too', async () => {
    const column = `---------------------\n ${a}\n(1 row)\n${b}\n2 rows in set (0.01 sec)\n+---+\n`
    const { stdout, stderr, status } = await graupel(['inspect', '-', '--json'], {}, column)
    expect({ stderr, status }).toEqual({ stderr: '', status: 0 })
    expect(stdout.match(/(?<="id":")\d+/g)).toEqual([a, b])
    expect(await graupel(['inspect', '(1 row)'])).toMatchObject({ status: 2, stdout: '' })
  })
})

it('a number in the place of a name is no JSON', () => {
  expect(idsOfJson(`{${a}: {"id": ${b}}}`, nowMs)).toBeUndefined()
  expect(listOf(`{${a}: {"id": ${b}}}`).ids).toEqual([a, b])
})

it.each([
  ['-6917529027641081857', ['-6917529027641081857']],
  [`${a}.0`, [`${a}.0`]],
  [`[${a},-${a}]`, [a, `-${a}`]],
  ['1.541815603606036e+18', ['1.541815603606036e+18']],
])('no number of JSON is rounded: %s', (number, ids) => {
  expect(idsOfJson(`{"id":${number}}`, nowMs)).toEqual(ids)
})

it.each([
  ['brackets', () => partsOf(`${')'.repeat(500_000)}a`, nowMs)],
  ['blanks in JSON', () => idsOfJson(`[${' '.repeat(500_000)}x]`, nowMs)],
  ['quotes in a text of JSON', () => idsOfJson(`["${'\\"'.repeat(400_000)}\\`, nowMs)],
  ['digits of a name', () => idsOfJson(`{${'1'.repeat(500_000)}:1}`, nowMs)],
  ['nested lists', () => idsOfJson('['.repeat(50_000) + ']'.repeat(50_000), nowMs)],
])('half a million %s are read in a moment', (_, read) => {
  expect(read()?.length).not.toBe(0)
})
