import { composeId, createGenerator, decode, defineLayout, type Layout, layouts, timestampMsOf } from 'graupel'
import { describe, expect, it } from 'vitest'
import { caught, engines, freshNamespace } from '../support/engines.js'
import vectors from '../support/vectors.json' with { type: 'json' }

function layoutOf(name: string, epochMs?: number): Layout {
  const preset = layouts[name as keyof typeof layouts] as Layout
  return epochMs === undefined ? preset : defineLayout({ ...preset, epochMs })
}

describe('ids of other systems', () => {
  for (const vector of vectors.ids) {
    const layout = layoutOf(vector.layout, vector.epochMs)
    it(`reads ${vector.id} as ${vector.layout}`, () => {
      const decoded = decode(vector.id, layout)
      expect(decoded).toMatchObject({
        timestampMs: vector.timestampMs,
        fields: vector.fields,
        sequence: vector.sequence,
      })
      expect(decoded.timestamp.getTime()).toBe(vector.timestampMs)
      if (vector.iso !== undefined) expect(decoded.timestamp.toISOString()).toBe(vector.iso)
      if (vector.node !== undefined) expect(decoded.node).toBe(vector.node)
      expect(decode(BigInt(vector.id), layout)).toEqual(decoded)
      expect(timestampMsOf(vector.id, layout)).toBe(vector.timestampMs)
    })

    it(`puts ${vector.id} together again`, () => {
      const { timestampMs, fields, sequence } = decode(vector.id, layout)
      expect(composeId({ timestampMs, node: fields, sequence }, layout)).toBe(BigInt(vector.id))
    })

    if (layout.decodeOnly) continue
    it.each(engines)(`makes ${vector.id} on the %s engine, given its time and node`, (engine) => {
      const ids = createGenerator({
        engine,
        namespace: freshNamespace(),
        layout: layoutOf(vector.layout),
        ...(vector.epochMs === undefined ? {} : { epoch: vector.epochMs }),
        node: vector.fields as never,
        clock: () => vector.timestampMs,
      })
      const made = ids.take(vector.sequence + 1)
      expect(made.at(-1)).toBe(BigInt(vector.id))
      expect(ids.decode(vector.id).sequence).toBe(vector.sequence)
    })
  }

  it.each(vectors.expiries)('$layout expires at $expiresAt', ({ layout, expiresAt }) => {
    expect(layoutOf(layout).expiresAt.toISOString()).toBe(expiresAt)
  })
})

describe('presets', () => {
  const table = {
    twitter: [63, 1024, 4_096_000, 1288834974657],
    leaf: [63, 1024, 4_096_000, 1288834974657],
    discord: [64, 1024, 4_096_000, 1420070400000],
    instagram: [64, 8192, 1_024_000, 1314220021721],
    mastodon: [64, 1, 65_536_000, 0],
    sonyflake: [63, 65_536, 25_600, 1409529600000],
    baidu: [63, 4_194_304, 8_192, 1463673600000],
    tsid: [64, 1024, 4_096_000, 1577836800000],
    js53: [53, 32, 128_000, 1577836800000],
    wide: [63, 64, 65_536_000, 1577836800000],
  }

  it('have the bits and epochs of their systems', () => {
    const seen = Object.fromEntries(
      Object.entries(layouts).map(([name, l]) => [name, [l.bits, l.nodes, l.idsPerSecond, l.epochMs]]),
    )
    expect(seen).toEqual(table)
    for (const [name, layout] of Object.entries(layouts)) expect(layout.name).toBe(name)
  })

  it.each(Object.values(layouts) as Layout[])('$name is what defineLayout makes of its properties', (preset) => {
    expect(defineLayout({ ...preset })).toEqual(preset)
  })

  it('cannot be changed', () => {
    expect(Object.isFrozen(layouts)).toBe(true)
    expect(Object.isFrozen(layouts.twitter)).toBe(true)
    expect(Object.isFrozen(layouts.twitter.fields)).toBe(true)
    expect(Object.isFrozen(layouts.twitter.fields[0])).toBe(true)
  })

  it('have their bits where the other systems have them', () => {
    expect(layouts.sonyflake.placements.map(({ name, shift }) => [name, shift])).toEqual([
      ['timestamp', 24],
      ['sequence', 16],
      ['machine', 0],
    ])
  })
})

describe('defineLayout', () => {
  const good = {
    name: 'x',
    epochMs: 0,
    tickMs: 1,
    fields: [
      ['timestamp', 41],
      ['node', 10],
      ['sequence', 12],
    ],
  } as const

  it('takes a layout as it was, another epoch aside', () => {
    const moved = defineLayout({ ...layouts.discord, epochMs: 0 })
    expect(moved.fields).toEqual(layouts.discord.fields)
    expect(moved.unsigned).toBe(true)
    expect(moved.epochMs).toBe(0)
  })

  it.each([
    ['no layout', null, TypeError, 'ERR_LAYOUT_INVALID'],
    ['an unknown property', { ...good, bits: 63 }, TypeError, 'ERR_OPTION_UNKNOWN'],
    ['no name', { ...good, name: '' }, TypeError, 'ERR_LAYOUT_INVALID'],
    ['a fractional epoch', { ...good, epochMs: 0.5 }, RangeError, 'ERR_EPOCH_INVALID'],
    ['an epoch that is no number', { ...good, epochMs: '0' }, RangeError, 'ERR_EPOCH_INVALID'],
    ['an epoch that no Date can hold', { ...good, epochMs: 9e15 }, RangeError, 'ERR_EPOCH_INVALID'],
    ['a tick of 0', { ...good, tickMs: 0 }, RangeError, 'ERR_LAYOUT_INVALID'],
    ['a tick of half a millisecond', { ...good, tickMs: 0.5 }, RangeError, 'ERR_LAYOUT_INVALID'],
    ['no fields', { ...good, fields: [] }, RangeError, 'ERR_LAYOUT_INVALID'],
    ['fields that are no list', { ...good, fields: {} }, RangeError, 'ERR_LAYOUT_INVALID'],
    ['a field without bits', { ...good, fields: [['timestamp'], ['sequence', 12]] }, RangeError, 'ERR_LAYOUT_INVALID'],
    [
      'a field of 0 bits',
      {
        ...good,
        fields: [
          ['timestamp', 41],
          ['node', 0],
          ['sequence', 12],
        ],
      },
      RangeError,
      'ERR_LAYOUT_INVALID',
    ],
    [
      'a field of half a bit',
      {
        ...good,
        fields: [
          ['timestamp', 41],
          ['node', 1.5],
          ['sequence', 12],
        ],
      },
      RangeError,
      'ERR_LAYOUT_INVALID',
    ],
    [
      'a field wider than a number',
      {
        ...good,
        fields: [
          ['timestamp', 9],
          ['sequence', 54],
        ],
      },
      RangeError,
      'ERR_LAYOUT_INVALID',
    ],
    [
      'node fields wider than a number',
      {
        ...good,
        fields: [
          ['timestamp', 4],
          ['a', 30],
          ['b', 28],
          ['sequence', 1],
        ],
      },
      RangeError,
      'ERR_LAYOUT_INVALID',
    ],
    [
      'no sequence',
      {
        ...good,
        fields: [
          ['timestamp', 41],
          ['node', 10],
        ],
      },
      RangeError,
      'ERR_LAYOUT_INVALID',
    ],
    [
      'no timestamp',
      {
        ...good,
        fields: [
          ['node', 10],
          ['sequence', 12],
        ],
      },
      RangeError,
      'ERR_LAYOUT_INVALID',
    ],
    [
      'a field twice',
      {
        ...good,
        fields: [
          ['timestamp', 41],
          ['sequence', 6],
          ['sequence', 6],
        ],
      },
      RangeError,
      'ERR_LAYOUT_INVALID',
    ],
    [
      'a field name with a space',
      {
        ...good,
        fields: [
          ['timestamp', 41],
          ['a b', 6],
          ['sequence', 6],
        ],
      },
      RangeError,
      'ERR_LAYOUT_INVALID',
    ],
    [
      '64 bits that are signed',
      {
        ...good,
        fields: [
          ['timestamp', 42],
          ['node', 10],
          ['sequence', 12],
        ],
      },
      RangeError,
      'ERR_LAYOUT_INVALID',
    ],
    [
      '65 bits',
      {
        ...good,
        unsigned: true,
        fields: [
          ['timestamp', 43],
          ['node', 10],
          ['sequence', 12],
        ],
      },
      RangeError,
      'ERR_LAYOUT_INVALID',
    ],
    ['decodeOnly that is no boolean', { ...good, decodeOnly: 'yes' }, RangeError, 'ERR_LAYOUT_INVALID'],
    ['unsigned that is no boolean', { ...good, unsigned: 1 }, RangeError, 'ERR_LAYOUT_INVALID'],
    [
      'a time beyond what a Date holds',
      {
        ...good,
        tickMs: 1000,
        fields: [
          ['timestamp', 48],
          ['sequence', 4],
        ],
      },
      RangeError,
      'ERR_LAYOUT_INVALID',
    ],
  ])('refuses %s', (_, spec, kind, code) => {
    const error = caught(() => defineLayout(spec as never))
    expect(error).toBeInstanceOf(kind)
    expect(error.code).toBe(code)
  })
})

describe('decode', () => {
  it.each([
    ['a negative id', -1n, RangeError],
    ['2^64', 2n ** 64n, RangeError],
    ['an id too wide for the layout', 2n ** 63n, RangeError],
    ['nothing', '', RangeError],
    ['a space before', ' 1', RangeError],
    ['a bigint literal', '1n', RangeError],
    ['0x', '0x', RangeError],
    ['hexadecimal', '0x10', RangeError],
    ['a leading zero', '01', RangeError],
    ['a sign', '+1', RangeError],
    ['digits that are not ASCII', '١٢٣', RangeError],
    ['30 digits', '1'.repeat(30), RangeError],
    ['20 digits beyond 2^64', '18446744073709551616', RangeError],
    ['a number', 1, TypeError],
    ['nothing at all', undefined, TypeError],
    ['an object', { toString: () => '1' }, TypeError],
  ])('refuses %s', (_, id, kind) => {
    const error = caught(() => decode(id as never, layouts.twitter))
    expect(error).toBeInstanceOf(kind)
    expect(error.code).toBe('ERR_ID_INVALID')
  })

  it.each([
    [2n ** 64n, /^the id is 18446744073709551616n; an id lies between 0 and 2\^64 - 1$/],
    // As BigInt() makes of what a request has: its digits would fill a log.
    [-(2n ** 1_000_000n), /^the id is a bigint of more than 128 bits; /],
  ])('says which bigint is no id, unless that is long', (id, message) => {
    expect(caught(() => decode(id, layouts.twitter)).message).toMatch(message)
  })

  it('refuses what is no layout', () => {
    for (const layout of [undefined, null, 'twitter', { ...layouts.twitter }]) {
      expect(caught(() => decode(1n, layout as never)).code).toBe('ERR_LAYOUT_INVALID')
    }
  })
})

describe('expiresAt', () => {
  // The state word counts one past the last slot, so the last tick of such a layout is never issued.
  const full = defineLayout({
    name: 'full',
    epochMs: 0,
    tickMs: 1,
    unsigned: true,
    fields: [
      ['timestamp', 44],
      ['sequence', 20],
    ],
  })

  it.each(engines)('is the first moment at which no id is made, on the %s engine', (engine) => {
    const make = (now: number) =>
      createGenerator({ engine, layout: full, namespace: freshNamespace(), clock: () => now })
    const end = full.expiresAt.getTime()
    expect(full.expiresAt.getTime()).toBe(2 ** 44 - 1)
    expect(make(end - 1).take(2)).toEqual([BigInt(end - 1) << 20n, (BigInt(end - 1) << 20n) + 1n])
    const error = caught(() => make(end))
    expect(error.code).toBe('ERR_LAYOUT_EXPIRED')
    const [expired, shown] = error.message.match(/\d{4}-\d\d-[^ ,;]+/g) as [string, string]
    expect(expired <= shown).toBe(true)
  })

  it('does not keep ids of other systems from being composed', () => {
    const last = decode(2n ** 64n - 1n, full)
    expect(composeId(last, full)).toBe(2n ** 64n - 1n)
    const error = caught(() => composeId({ timestampMs: 2 ** 44, node: 0 }, full))
    expect(error.message).toContain(`up to, but not including, ${2 ** 44}`)
  })
})

describe('composeId', () => {
  const id = 175928847299117063n

  it('takes what decode returns, and says no if its parts do not agree', () => {
    const parts = decode(id, layouts.discord)
    expect(composeId(parts, layouts.discord)).toBe(id)
    expect(composeId({ ...parts, node: parts.fields }, layouts.discord)).toBe(id)
    for (const [other, code] of [
      [{ timestampMs: parts.timestampMs + 1 }, 'ERR_ID_INVALID'],
      [{ timestamp: new Date(Number.NaN) }, 'ERR_ID_INVALID'],
      [{ timestamp: parts.timestamp.toISOString() }, 'ERR_ID_INVALID'],
      [{ node: parts.node + 1 }, 'ERR_NODE_INVALID'],
      [{ fields: { worker: 1, process: 1 } }, 'ERR_NODE_INVALID'],
      [{ fields: { worker: 1 } }, 'ERR_NODE_INVALID'],
    ] as const) {
      expect(caught(() => composeId({ ...parts, ...other } as never, layouts.discord)).code).toBe(code)
    }
  })

  it('refuses parts that are none, or that no id has', () => {
    expect(caught(() => composeId(null as never, layouts.twitter)).code).toBe('ERR_ID_INVALID')
    const parts = { timestampMs: 1656432460105, node: 0, seq: 5 }
    expect(caught(() => composeId(parts, layouts.twitter)).code).toBe('ERR_OPTION_UNKNOWN')
  })

  it.each([
    ['a time before the epoch', { timestampMs: layouts.twitter.epochMs - 1, node: 0 }],
    ['the moment of expiry', { timestampMs: layouts.twitter.expiresAt.getTime(), node: 0 }],
    ['a time that is NaN', { timestampMs: Number.NaN, node: 0 }],
    ['a sequence too wide', { timestampMs: 1656432460105, node: 0, sequence: 4096 }],
    ['a fractional sequence', { timestampMs: 1656432460105, node: 0, sequence: 0.5 }],
  ])('refuses %s', (_, parts) => {
    const error = caught(() => composeId(parts as never, layouts.twitter))
    expect(error).toBeInstanceOf(RangeError)
    expect(error.code).toBe('ERR_ID_INVALID')
  })

  it.each([
    ['a time that is a bigint', { timestampMs: 1n, node: 0 }],
    ['a time in text', { timestampMs: '1656432460105', node: 0 }],
    ['a time as a Date', { timestampMs: new Date(1656432460105), node: 0 }],
  ])('refuses %s by its type', (_, parts) => {
    const error = caught(() => composeId(parts as never, layouts.twitter))
    expect(error).toBeInstanceOf(TypeError)
    expect(error.code).toBe('ERR_ID_INVALID')
  })

  it('says how a time is given, and which part is missing', () => {
    const refusal = (parts: object) => caught(() => composeId(parts as never, layouts.twitter)).message
    expect(refusal({ timestampMs: new Date(0), node: 0 })).toBe(
      'timestampMs is 1970-01-01T00:00:00.000Z; pass milliseconds since 1970, such as Date.now() or date.getTime()',
    )
    expect(refusal({ timestampMs: 1656432460105 })).toMatch(
      /^the node is undefined; layout 'twitter' takes a number from/,
    )
  })
})
