import fc from 'fast-check'
import { composeId, createGenerator, decode, defineLayout, defineSerial, layouts, type Serial } from 'graupel'
import { describe, expect, it } from 'vitest'
import { caught, freshNamespace } from '../support/engines.js'
import { anyOptions, idsOf } from './arbitraries.js'

const classic = '{yyyyMMddHHmmssSSS}{node}{sequence}'
const refusal = { code: 'ERR_ID_INVALID' }

/** Expects that a text is refused, or is equal to the text of the id that it is read as. */
function checkStrict(serial: Serial, text: string): bigint | undefined {
  try {
    const id = serial.parse(text)
    expect(serial.format(id)).toBe(text)
    return id
  } catch (error) {
    expect(error).toMatchObject(refusal)
    return undefined
  }
}

describe('any serial', () => {
  const withIds = anyOptions.chain((options) => {
    return fc.tuple(fc.constant(options), fc.array(idsOf(options.layout), { minLength: 1, maxLength: 10 }))
  })

  it('reads from its texts the ids that it wrote', () => {
    fc.assert(
      fc.property(withIds, ([options, ids]) => {
        const serial = defineSerial(options)
        for (const id of ids) {
          const text = serial.format(id)
          expect(text).toHaveLength(serial.length)
          expect(serial.parse(text)).toBe(id)
          expect(serial.format(id.toString())).toBe(text)
        }
      }),
      { numRuns: 1500 },
    )
  })

  it('has the first and the last id of its layout', () => {
    fc.assert(
      fc.property(anyOptions, (options) => {
        const serial = defineSerial(options)
        const last = 2n ** BigInt(options.layout.bits) - 1n
        for (const id of [0n, 1n, last - 1n, last]) expect(serial.parse(serial.format(id))).toBe(id)
        expect(caught(() => serial.format(last + 1n))).toMatchObject(refusal)
      }),
      { numRuns: 500 },
    )
  })

  it('sorts its texts like the ids if it is sortable', () => {
    let sortable = 0
    fc.assert(
      fc.property(withIds, ([options, ids]) => {
        const serial = defineSerial(options)
        if (!serial.sortable) return
        sortable++
        const near = ids.flatMap((id) => [id, id ^ 1n, id ^ (1n << BigInt(options.layout.timestamp.shift))])
        const ordered = near.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0)).map(serial.format)
        expect(ordered.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0))).toEqual(ordered)
      }),
      { numRuns: 1500 },
    )
    expect(sortable).toBeGreaterThan(500)
  })

  it('refuses a text with one character changed, or reads it as another id', () => {
    let read = 0
    const changes = fc.array(
      fc.record({
        at: fc.nat(),
        kind: fc.constantFrom('change', 'insert', 'remove'),
        character: fc.constantFrom(...'0123456789-a'),
      }),
      { minLength: 5, maxLength: 5 },
    )
    fc.assert(
      fc.property(withIds, changes, ([options, [id = 0n]], list) => {
        const serial = defineSerial(options)
        const text = serial.format(id)
        for (const { at, kind, character } of list) {
          const i = at % (text.length + 1)
          const rest = text.slice(kind === 'insert' ? i : i + 1)
          const changed = text.slice(0, i) + (kind === 'remove' ? '' : character) + rest
          const other = checkStrict(serial, changed)
          if (other === undefined) continue
          if (changed !== text) expect(other).not.toBe(id)
          read++
        }
      }),
      { numRuns: 2000 },
    )
    expect(read).toBeGreaterThan(500)
  })

  it('refuses a text with other digits, or reads it as the id of that text', () => {
    const digits = fc.array(fc.nat({ max: 9 }), { minLength: 60, maxLength: 60 })
    fc.assert(
      fc.property(withIds, digits, ([options, [id = 0n]], list) => {
        const serial = defineSerial(options)
        let i = 0
        const changed = serial.format(id).replace(/[0-9]/g, (digit) => {
          i++
          return i % 3 === 0 ? String(list[i % list.length]) : digit
        })
        checkStrict(serial, changed)
      }),
      { numRuns: 2000 },
    )
  })
})

it('a serial of the preset mastodon is refused, because its times have years of five digits', () => {
  const options = { pattern: classic.replace('{node}', ''), layout: layouts.mastodon }
  expect(() => defineSerial(options)).toThrow(/times of layout 'mastodon' go from 1970-\S+ to \+010889-/)
})

const { mastodon: _, ...others } = layouts
describe.each(Object.values(others))('a serial of the preset $name', (layout) => {
  const serial = defineSerial<typeof layout.fields>({ pattern: classic, layout: layout as never, timeZone: '+08:00' })

  it('reads from its texts the ids that it wrote', () => {
    fc.assert(
      fc.property(idsOf(layout), (id) => {
        expect(serial.parse(serial.format(id))).toBe(id)
      }),
      { numRuns: 500 },
    )
  })

  it('has the width of its largest parts', () => {
    const width = (bits: number) => String(2 ** bits - 1).length
    expect(serial.length).toBe(17 + width(layout.nodeBits) + width(layout.sequence.bits))
    expect(serial.sortable).toBe(layout.name !== 'sonyflake')
  })
})

describe('a serial', () => {
  it('writes date and time of its zone, the node, and the sequence', () => {
    const id = composeId({ timestampMs: Date.UTC(2026, 10, 22, 20, 5, 6, 7), node: 42, sequence: 9 }, layouts.twitter)
    const text = (pattern: string, timeZone = 'UTC') =>
      defineSerial({ pattern, layout: layouts.twitter, timeZone }).format(id)
    expect(text('001{yyyyMMddHHmmssSSS}{node:4}{sequence:4}')).toBe('00120261122200506007' + '0042' + '0009')
    expect(text('{yyMMdd}-{HHmmssSSS}/{worker}.{datacenter}#{sequence:6}', '+08:00')).toBe(
      '261123-040506007/10.01#000009',
    )
    expect(text('{{{dd}{MM}{yyyy}}} {ss}:{mm}:{HH},{SSS} {node:20} {sequence}')).toBe(
      '{22112026} 06:05:20,007 00000000000000000042 0009',
    )
  })

  it('is frozen, shows its pattern and layout, and needs no this', () => {
    const options = { pattern: classic, layout: layouts.twitter, timeZone: '-03:30' }
    const serial = defineSerial(options)
    expect(serial).toMatchObject(options)
    expect(serial.layout).toBe(layouts.twitter)
    expect(Object.isFrozen(serial)).toBe(true)
    const { format, parse } = serial
    expect(parse(format(77n))).toBe(77n)
    expect(defineSerial({ pattern: classic, layout: layouts.twitter }).timeZone).toBe('UTC')
  })

  it('takes numbers as ids of layouts of at most 53 bits', () => {
    const { format, parse } = defineSerial({ pattern: '{yyyyMMddHHmmssSSS}-{node}-{sequence}', layout: layouts.js53 })
    const id = 2 ** 52 + 7
    expect(format(id)).toBe(format(BigInt(id)))
    expect(parse(format(id))).toBe(BigInt(id))
  })

  it('refuses what decode refuses', () => {
    const { format } = defineSerial({ pattern: classic, layout: layouts.twitter })
    for (const id of [-1n, 2n ** 63n, 2n ** 64n, 7, '', '007', '1n', undefined, null, {}]) {
      const expected = caught(() => decode(id as never, layouts.twitter))
      const error = caught(() => format(id as never))
      expect(error).toMatchObject({ ...refusal, message: expected.message })
      expect(error.constructor).toBe(expected.constructor)
    }
  })

  it('reads years of two digits from its epoch on, across the turn of a century', () => {
    const spec = {
      name: 'old',
      tickMs: 1,
      fields: [
        ['timestamp', 41],
        ['sequence', 9],
      ] as const,
    }
    const layout = defineLayout({ ...spec, epochMs: Date.UTC(1950, 0) })
    const serial = defineSerial({ pattern: '{yyMMddHHmmssSSS}{sequence}', layout })
    for (const year of [1950, 1999, 2000, 2018]) {
      const id = composeId({ timestampMs: Date.UTC(year, 1, 28), node: 0 }, layout)
      expect(serial.format(id)).toBe(`${String(year).slice(2)}0228${'0'.repeat(12)}`)
      expect(serial.parse(serial.format(id))).toBe(id)
    }
  })

  it('accepts years of two digits for 100 years, and not for 101', () => {
    const epochMs = Date.UTC(1950, 5)
    const define = (lastYear: number) => {
      const tickMs = Date.UTC(lastYear, 4) - epochMs
      const layout = defineLayout({
        ...{ name: 'two', epochMs, tickMs },
        fields: [
          ['timestamp', 1],
          ['sequence', 1],
        ],
      })
      return defineSerial({ pattern: '{yy}-{sequence}', layout })
    }
    const serial = define(2049)
    expect([0n, 1n, 2n, 3n].map(serial.format)).toEqual(['50-0', '50-1', '49-0', '49-1'])
    expect(['50-0', '50-1', '49-0', '49-1'].map(serial.parse)).toEqual([0n, 1n, 2n, 3n])
    expect(caught(() => define(2050)).message).toContain('go from the year 1950 to 2050; write {yyyy}')
  })

  it('writes the years 0 to 9999 with four digits', () => {
    const spec = {
      name: 'years',
      tickMs: 1,
      fields: [
        ['timestamp', 40],
        ['sequence', 9],
      ] as const,
    }
    for (const [epochMs, year] of [
      [Date.parse('0000-01-01T00:00:00Z'), '0000'],
      [Date.parse('0099-12-31T23:59:59Z'), '0099'],
      [Date.parse('9960-01-01T00:00:00Z'), '9960'],
    ] as const) {
      const serial = defineSerial({
        pattern: '{yyyyMMddHHmmssSSS}{sequence}',
        layout: defineLayout({ ...spec, epochMs }),
      })
      expect(serial.format(0n)).toMatch(new RegExp(`^${year}`))
      expect(serial.parse(serial.format(0n))).toBe(0n)
    }
  })

  it('may leave out the units that no two ticks have in common', () => {
    const spec = {
      name: 'slow',
      epochMs: Date.UTC(2024, 0, 1, 5),
      fields: [
        ['timestamp', 10],
        ['sequence', 20],
      ] as const,
    }
    const days = defineSerial({
      pattern: '{yyyyMMdd}-{sequence}',
      layout: defineLayout({ ...spec, tickMs: 86_400_000 }),
    })
    expect(days.format((59n << 20n) + 5n)).toBe('20240229-0000005')
    expect(days.parse('20240229-0000005')).toBe((59n << 20n) + 5n)
    const years = defineSerial({
      pattern: '{yyyy}/{sequence}',
      layout: defineLayout({ ...spec, tickMs: 366 * 86_400_000 }),
    })
    expect(years.parse('2025/0000001')).toBe((1n << 20n) + 1n)
  })
})

describe('a text is refused', () => {
  const layout = defineLayout({
    name: 'tens',
    epochMs: Date.UTC(2024, 0, 1) + 3,
    tickMs: 10,
    fields: [
      ['timestamp', 30],
      ['worker', 7],
      ['sequence', 5],
    ],
  })
  const serial = defineSerial({ pattern: 'A-{yyyyMMddHHmmssSSS}-{worker}-{sequence}', layout })

  it('unless it is a text of the serial', () => {
    expect(serial.parse('A-20240229000000003-127-31')).toBe((BigInt(59 * 8_640_000) << 12n) + 4095n)
  })

  it.each([
    [
      'A-20240101000000003-000-0',
      "has 25 characters, and those of the pattern 'A-{yyyyMMddHHmmssSSS}-{worker}-{sequence…' have 26",
    ],
    ['A-20240101000000003-000-000', 'has 27 characters'],
    ['', 'has 0 characters'],
    ['B-20240101000000003-000-00', "has 'B-' at character 1 in place of 'A-'"],
    ['a-20240101000000003-000-00', "has 'a-' at character 1 in place of 'A-'"],
    ['A-20240101000000003-000_00', "has '_' at character 24 in place of '-'"],
    ['A-2024 101000000003-000-00', "has ' 1' at character 7, where 2 digits of {MM} stand"],
    ['A-202401010000000 3-000-00', "has '0 3' at character 17, where 3 digits of {SSS} stand"],
    ['A-20240101000000003-+01-00', "has '+01' at character 21, where 3 digits of {worker} stand"],
    ['A-20240101000000003-1e1-00', "has '1e1' at character 21"],
    ['A-20240101000000003-000-٠٠', "has '٠٠' at character 25, where 2 digits of {sequence} stand"],
    ['A-20240101000000003-128-00', 'has 128 for {worker}, which is at most 127'],
    ['A-20240101000000003-000-32', 'has 32 for {sequence}, which is at most 31'],
    ['A-20241301000000003-000-00', 'has a date or a time that does not exist'],
    ['A-20240001000000003-000-00', 'has a date or a time that does not exist'],
    ['A-20240431000000003-000-00', 'has a date or a time that does not exist'],
    ['A-20250229000000003-000-00', 'has a date or a time that does not exist'],
    ['A-20240101240000003-000-00', 'has a date or a time that does not exist'],
    ['A-20240101006000003-000-00', 'has a date or a time that does not exist'],
    ['A-20240101000060003-000-00', 'has a date or a time that does not exist'],
    ['A-20240101000000002-000-00', "is earlier than the epoch of layout 'tens'"],
    ['A-19700101000000003-000-00', "is earlier than the epoch of layout 'tens'"],
    ['A-00000101000000003-000-00', "is earlier than the epoch of layout 'tens'"],
    ['A-20240101000000004-000-00', "lies between two ticks of layout 'tens'"],
    ['A-20240101000000012-000-00', "lies between two ticks of layout 'tens'"],
    ['A-20240504063658243-000-00', "is later than the last tick of layout 'tens'"],
    ['A-99991231235959993-000-00', "is later than the last tick of layout 'tens'"],
  ])('%j', (text, fault) => {
    const error = caught(() => serial.parse(text))
    expect(error).toBeInstanceOf(RangeError)
    expect(error).toMatchObject(refusal)
    expect(error.message).toContain(fault)
  })

  it.each([undefined, null, 7n, 20240101, ['A'], new String('A')])('if it is no string, but %s', (text) => {
    const error = caught(() => serial.parse(text as never))
    expect(error).toBeInstanceOf(TypeError)
    expect(error).toMatchObject(refusal)
  })

  it('if two digits of a year mean a year after the last tick', () => {
    const short = defineSerial({ pattern: '{yyMMddHHmmssSSS}{worker}{sequence}', layout })
    expect(short.parse('240101000000003' + '00000')).toBe(0n)
    expect(caught(() => short.parse('230101000000003' + '00000')).message).toContain('is later than the last tick')
  })
})

describe('ids of a generator', () => {
  it('are the ids of their serials', () => {
    const ids = createGenerator({ node: { datacenter: 3, worker: 7 }, state: 'process', namespace: freshNamespace() })
    const serial = defineSerial({ pattern: `001${classic}`, layout: ids.layout, timeZone: '+08:00' })
    const made = ids.take(5000)
    const texts = made.map(serial.format)
    expect(new Set(texts).size).toBe(made.length)
    expect(texts.map(serial.parse)).toEqual(made)
    expect(texts.toSorted()).toEqual(texts)
  })
})
