import { defineLayout, defineSerial, type Layout, layouts } from 'graupel'
import { describe, expect, it } from 'vitest'
import { caught } from '../support/engines.js'

const { twitter, tsid, discord } = layouts
const dayMs = 86_400_000

function layoutOf(spec: { tickMs?: number; epochMs?: number; fields?: [string, number][] }): Layout {
  const {
    tickMs = 1,
    epochMs = Date.UTC(2024, 0),
    fields = [
      ['timestamp', 41],
      ['sequence', 9],
    ],
  } = spec
  return defineLayout<readonly [string, number][]>({ name: 'own', epochMs, tickMs, fields })
}

const rows: [pattern: string, reason: string, layout?: Layout][] = [
  // A part is missing.
  [
    '{yyyyMMddHHmmss}{node}{sequence}',
    "{SSS} is missing, so that two ids of layout 'twitter' could have one text; add it",
  ],
  ['{yyyyMMddHHmmSSS}{node}{sequence}', '{ss} is missing'],
  ['{yyyyMMddHHssSSS}{node}{sequence}', '{mm} is missing'],
  ['{yyyyMMddmmssSSS}{node}{sequence}', '{HH} is missing'],
  ['{yyyyMMHHmmssSSS}{node}{sequence}', '{dd} is missing'],
  ['{yyyyddHHmmssSSS}{node}{sequence}', '{MM} is missing'],
  ['{yyddHHmmssSSS}{node}{sequence}', '{MM} is missing'],
  ['{MMddHHmmssSSS}{node}{sequence}', '{yyyy} is missing'],
  ['{yyyyMMddHHmmssSSS}{node}', '{sequence} is missing'],
  ['{yyyyMMddHHmmssSSS}{sequence}', '{datacenter}, {worker} are missing'],
  ['{yyyyMMddHHmmssSSS}{worker}{sequence}', '{datacenter} is missing'],
  ['{yyyyMMddHHmmssSSS}{sequence}', '{node} is missing', tsid],
  ['text', '{yyyy}, {MM}, {dd}, {HH}, {mm}, {ss}, {SSS}, {worker}, {process}, {sequence} are missing', discord],
  ['{yyyyMMddHHmmss}{sequence}', '{SSS} is missing', layoutOf({ tickMs: 999 })],
  ['{yyyyMMddHHmm}{sequence}', '{ss} is missing', layoutOf({ tickMs: 1000 })],
  ['{yyyyMMddHHmmSSS}{sequence}', '{ss} is missing', layoutOf({ tickMs: 1000 })],
  [
    '{yyyyMMddHHmmSSS}{sequence}',
    '{ss} is missing',
    layoutOf({
      tickMs: 60_000,
      fields: [
        ['timestamp', 20],
        ['sequence', 9],
      ],
    }),
  ],
  [
    '{yyyyMMdd}{sequence}',
    '{HH} is missing',
    layoutOf({
      tickMs: dayMs - 1,
      fields: [
        ['timestamp', 9],
        ['sequence', 9],
      ],
    }),
  ],
  [
    '{yyyyMM}{sequence}',
    '{dd} is missing',
    layoutOf({
      tickMs: 31 * dayMs - 1,
      fields: [
        ['timestamp', 9],
        ['sequence', 9],
      ],
    }),
  ],
  [
    '{yyyydd}{sequence}',
    '{MM} is missing',
    layoutOf({
      tickMs: dayMs,
      fields: [
        ['timestamp', 9],
        ['sequence', 9],
      ],
    }),
  ],
  [
    '{yyyy}{sequence}',
    '{MM} is missing',
    layoutOf({
      tickMs: 366 * dayMs - 1,
      fields: [
        ['timestamp', 9],
        ['sequence', 9],
      ],
    }),
  ],
  // A part does not fit.
  [
    '001{yyyyMMddHHmmssSSS}{sequence:3}',
    "{sequence:3} has too few digits: 1023, the largest that 10 bits of layout 'own' hold, has 4; write {sequence}, or give the layout fewer bits",
    layoutOf({
      fields: [
        ['timestamp', 41],
        ['sequence', 10],
      ],
    }),
  ],
  [
    '{yyyyMMddHHmmssSSS}{node:3}{sequence}',
    "{node:3} has too few digits: 1023, the largest that 10 bits of layout 'twitter' hold, has 4",
  ],
  ['{yyyyMMddHHmmssSSS}{datacenter}{worker:1}{sequence}', '{worker:1} has too few digits: 31, the largest that 5 bits'],
  ['{yyyyMMddHHmmssSSS}{node}{worker}{sequence}', '{node} has {worker} in it; leave out the one or the other'],
  ['{yyyyMMddHHmmssSSS}{datacenter}{worker}{node}{sequence}', '{node} has {datacenter}, {worker} in it'],
  [
    '{yyMMddHHmmssSSS}{node}{sequence}',
    "{yy} tells 100 years apart, and the times of layout 'tsid' go from the year 2020 to 2159; write {yyyy}",
    tsid,
  ],
  [
    '{yyyyMMddHHmmssSSS}{sequence}',
    "a year has four digits, 0000 to 9999, and the times of layout 'own' go from -000001-12-31T23:59:59.999Z to 0069-09-06T15:47:35.550Z",
    layoutOf({ epochMs: Date.parse('0000-01-01T00:00:00Z') - 1 }),
  ],
  [
    '{yyyyMMddHHmmssSSS}{sequence}',
    'go from 9940-01-01T00:00:00.000Z to +010009-09-06T15:47:35.551Z; give the layout another epoch, or its timestamp fewer bits',
    layoutOf({ epochMs: Date.UTC(9940, 0) }),
  ],
  // Names that are used twice.
  [
    '{yyyyMMddHHmmssSSS}{dd}{sequence}',
    '{dd} stands there twice; use each placeholder once',
    layoutOf({
      fields: [
        ['timestamp', 41],
        ['dd', 3],
        ['sequence', 9],
      ],
    }),
  ],
  [
    '{yyyyMMddHHmmssSSS}{sequence}',
    "the node field 'dd' has the name of a unit of time; write {node} for all node fields",
    layoutOf({
      fields: [
        ['timestamp', 41],
        ['dd', 3],
        ['sequence', 9],
      ],
    }),
  ],
  [
    '{yyyyMMddHHmmssSSS}{node}{sequence}',
    "the node field 'mm' has the name of a unit of time; rename it in the layout",
    layoutOf({
      fields: [
        ['timestamp', 41],
        ['mm', 3],
        ['node', 3],
        ['sequence', 9],
      ],
    }),
  ],
  [
    '{yyyyMMddHHmmssSSS}{node}{sequence}',
    '{worker} is missing',
    layoutOf({
      fields: [
        ['timestamp', 41],
        ['worker', 3],
        ['node', 3],
        ['sequence', 9],
      ],
    }),
  ],
  // Unknown placeholders.
  [
    '{yyyyMMddHHmmssSSS}{shard}{sequence}',
    "there is no placeholder 'shard'; the placeholders are {yyyy}, {yy}, {MM}, {dd}, {HH}, {mm}, {ss}, {SSS}, {datacenter}, {worker}, {node}, {sequence}",
  ],
  ['{yyyyMMddHHmmssSSS}{node}{sequence}', "there is no placeholder 'node'; the placeholders are", layoutOf({})],
  [
    '{other}',
    'the placeholders are {yyyy}, {yy}, {MM}, {dd}, {HH}, {mm}, {ss}, {SSS}, {worker}, {node}, {sequence}',
    layoutOf({
      fields: [
        ['timestamp', 41],
        ['mm', 3],
        ['worker', 3],
        ['node', 3],
        ['sequence', 9],
      ],
    }),
  ],
  ['{timestamp}{node}{sequence}', "there is no placeholder 'timestamp'"],
  ['{yyyyMMddHHmmssSSS}{node}{sequence}{sequence}', '{sequence} stands there twice; use each placeholder once'],
]

describe('a serial is refused with the pattern', () => {
  it.each(rows)('%s: %s', (pattern, reason, layout = twitter) => {
    const error = caught(() => defineSerial({ pattern, layout }))
    expect(error).toBeInstanceOf(RangeError)
    expect(error).toMatchObject({ code: 'ERR_PATTERN_INVALID' })
    expect(error.message).toContain(reason)
  })

  it('if an offset gives its times a year of more than four digits', () => {
    const pattern = '{yyyyMMddHHmmssSSS}{sequence}'
    const layout = layoutOf({ epochMs: Date.parse('0000-01-01T00:00:00Z') })
    expect(defineSerial({ pattern, layout, timeZone: '+01:00' }).format(0n)).toBe('00000101010000000000')
    expect(caught(() => defineSerial({ pattern, layout, timeZone: '-01:00' })).message).toContain(
      'a year has four digits',
    )
  })
})

describe('the options of a serial', () => {
  const pattern = '{yyyyMMddHHmmssSSS}{node}{sequence}'

  it.each([
    [
      undefined,
      TypeError,
      'ERR_OPTION_INVALID',
      'the options are undefined; pass an object such as { pattern, layout }',
    ],
    [null, TypeError, 'ERR_OPTION_INVALID', 'the options are null'],
    [pattern, TypeError, 'ERR_OPTION_INVALID', 'the options are'],
    [
      { pattern, layout: twitter, zone: 'UTC' },
      TypeError,
      'ERR_OPTION_UNKNOWN',
      "there is no option 'zone'; the options are pattern, layout, timeZone",
    ],
    [{ pattern }, TypeError, 'ERR_LAYOUT_INVALID', 'the layout is undefined'],
    [{ pattern, layout: 'twitter' }, TypeError, 'ERR_LAYOUT_INVALID', "the layout is 'twitter'"],
    [{ layout: twitter }, TypeError, 'ERR_PATTERN_INVALID', 'the pattern is undefined'],
    [{ pattern: '', layout: twitter }, RangeError, 'ERR_PATTERN_INVALID', "the pattern is '': it is empty"],
    [{ pattern, layout: twitter, timeZone: 8 }, TypeError, 'ERR_OPTION_INVALID', 'timeZone is 8'],
    [{ pattern, layout: twitter, timeZone: null }, TypeError, 'ERR_OPTION_INVALID', 'timeZone is null'],
    [
      { pattern, layout: twitter, timeZone: 'Europe/Berlin' },
      RangeError,
      'ERR_OPTION_INVALID',
      'one text would stand for two moments',
    ],
  ])('%o are refused', (options, kind, code, message) => {
    const error = caught(() => defineSerial(options as never))
    expect(error).toBeInstanceOf(kind)
    expect(error).toMatchObject({ code })
    expect(error.message).toContain(message)
  })
})
