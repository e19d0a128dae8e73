import { composeId, defineLayout, defineSerial, type Layout } from 'graupel'
import { describe, expect, it } from 'vitest'

const dayMs = 86_400_000
const time = '{yyyy}{MM}{dd}{HH}{mm}{ss}{SSS}'

function layoutOf(fields: [string, number][], epochMs = Date.UTC(2024, 0, 1)): Layout {
  return defineLayout<readonly [string, number][]>({ name: 'own', epochMs, tickMs: 1, fields })
}

const usual = layoutOf([
  ['timestamp', 41],
  ['region', 3],
  ['worker', 4],
  ['sequence', 9],
])
const sonyflake = layoutOf([
  ['timestamp', 39],
  ['sequence', 8],
  ['machine', 5],
])
const split = layoutOf([
  ['timestamp', 39],
  ['region', 3],
  ['sequence', 8],
  ['machine', 5],
])
const nodeFirst = layoutOf([
  ['worker', 4],
  ['timestamp', 41],
  ['sequence', 9],
])
const reversed = layoutOf([
  ['sequence', 9],
  ['worker', 4],
  ['timestamp', 41],
])
const lastCentury = layoutOf(
  [
    ['timestamp', 41],
    ['worker', 4],
    ['sequence', 9],
  ],
  Date.UTC(1950, 0, 1),
)
const wholeCentury = layoutOf(
  [
    ['timestamp', 41],
    ['worker', 4],
    ['sequence', 9],
  ],
  Date.UTC(2000, 0, 1),
)
const named = layoutOf([
  ['timestamp', 41],
  ['dd', 4],
  ['sequence', 9],
])
/** A layout with one tick a day, so that the node could stand in the place of the day. */
const daily = defineLayout({
  name: 'daily',
  epochMs: Date.UTC(2024, 0, 1),
  tickMs: dayMs,
  fields: [
    ['timestamp', 12],
    ['dd', 4],
    ['sequence', 9],
  ],
})

/** Ids whose parts differ at every place. */
function sample(layout: Layout): bigint[] {
  const steps = [0, 1, 2, 999, 1000, 59_999, 60_000, 3_599_999, 3_600_000, dayMs - 1, dayMs, 31 * dayMs, 366 * dayMs]
  const times = [...steps, 12 * 366 * dayMs, 51 * 366 * dayMs].map((ms) => layout.epochMs + ms)
  const last = layout.epochMs + 2 ** layout.timestamp.bits * layout.tickMs
  const numbers = (bits: number) => [0, 1, 2, 2 ** (bits - 1), 2 ** bits - 2, 2 ** bits - 1]
  return times
    .filter((timestampMs) => timestampMs < last)
    .flatMap((timestampMs) =>
      numbers(layout.nodeBits).flatMap((node) =>
        numbers(layout.sequence.bits).map((sequence) => composeId({ timestampMs, node, sequence }, layout)),
      ),
    )
}

function isInOrder(pattern: string, layout: Layout): boolean {
  const { format } = defineSerial({ pattern, layout })
  const ids = [...new Set(sample(layout))].sort((a, b) => (a < b ? -1 : 1))
  const texts = ids.map(format)
  return texts.every((text, i) => i === 0 || (texts[i - 1] as string) < text)
}

describe('sortable', () => {
  it.each<[string, Layout]>([
    [`${time}{region}{worker}{sequence}`, usual],
    [`Z${time}/{node}-{sequence}9`, usual],
    ['{yyMMddHHmmssSSS}{node:9}{sequence:20}', usual],
    [`${time}{sequence}{machine}`, sonyflake],
    [`${time}{region}{sequence}{machine}`, split],
    [`{worker}${time}{sequence}`, nodeFirst],
    [`{sequence}{node}${time}`, reversed],
    [`${time}{node}{sequence}`, lastCentury],
    ['{yyMMddHHmmssSSS}{node}{sequence}', wholeCentury],
    [`${time}{node}{sequence}`, named],
    ['{yyyyMMdd}{node}{sequence}', daily],
  ])('is true for %s, and so are the texts', (pattern, layout) => {
    expect(defineSerial({ pattern, layout }).sortable).toBe(true)
    expect(isInOrder(pattern, layout)).toBe(true)
  })

  it.each<[string, string, Layout]>([
    ['the day before the month', '{yyyy}{dd}{MM}{HH}{mm}{ss}{SSS}{node}{sequence}', usual],
    ['the month before the year', '{MM}{yyyy}{dd}{HH}{mm}{ss}{SSS}{node}{sequence}', usual],
    ['milliseconds before seconds', '{yyyyMMddHHmm}{SSS}{ss}{node}{sequence}', usual],
    ['the node within the time', '{yyyyMMdd}{node}{HHmmssSSS}{sequence}', usual],
    ['the node before the time', `{node}${time}{sequence}`, usual],
    ['the sequence before the node', `${time}{sequence}{node}`, usual],
    ['node fields in another order', `${time}{worker}{region}{sequence}`, usual],
    [
      'the node before the sequence, though the id has the node after the sequence',
      `${time}{machine}{sequence}`,
      sonyflake,
    ],
    [
      'the whole node before the sequence, though the id has it on both sides of the sequence',
      `${time}{node}{sequence}`,
      split,
    ],
    [
      'the whole node after the sequence, though the id has it on both sides of the sequence',
      `${time}{sequence}{node}`,
      split,
    ],
    ['the time first, though the id has it second', `${time}{worker}{sequence}`, nodeFirst],
    ['two digits of a year through the turn of a century', '{yyMMddHHmmssSSS}{node}{sequence}', lastCentury],
    ['the node in the place of the unit that has its name', '{yyyy}{MM}{node}{dd}{sequence}', daily],
  ])('is false with %s, and so are the texts', (_, pattern, layout) => {
    expect(defineSerial({ pattern, layout }).sortable).toBe(false)
    expect(isInOrder(pattern, layout)).toBe(false)
  })
})
