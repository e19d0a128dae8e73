import { readFileSync } from 'node:fs'
import { defineLayout, type Layout, layouts } from 'graupel'
import { describe, expect, it } from 'vitest'
import { idCode } from '../../web/src/code/index.ts'
import { shapeOf } from '../../web/src/code/shape.ts'
import { pastedId } from '../../web/src/ids/pasted.ts'
import { alternatives, sections, valuesOf } from '../../web/src/learn/sections.ts'
import { bitsOf, hexOf, making, type Step, takingApart } from '../../web/src/learn/steps.ts'
import { defaults } from '../../web/src/state.ts'
import { languages } from '../../web/src/text/language.ts'

const { ids: vectors } = JSON.parse(readFileSync(new URL('../support/vectors.json', import.meta.url), 'utf8')) as {
  ids: { layout: keyof typeof layouts; epochMs?: number; id: string; timestampMs: number }[]
}

const early = defineLayout({
  name: 'early',
  epochMs: -28_800_000,
  tickMs: 10,
  unsigned: true,
  fields: [
    ['shard', 3, 'tag'],
    ['timestamp', 41],
    ['sequence', 12],
    ['worker', 8],
  ],
})

/** Computes a formula as bigints. A formula after `name =` gives that name a value. */
function compute({ formula }: Step, names: Record<string, bigint>): bigint {
  const text = formula
    .replace(/^\w+ = /, '')
    .replaceAll('−', '-')
    .replaceAll('÷', '/')
    .replaceAll('×', '*')
    .replace(/\b(0x[\da-f]+|\d+)\b/g, '$1n')
  return new Function(...Object.keys(names), `return ${text}`)(...Object.values(names)) as bigint
}

describe('the steps of an id', () => {
  const cases: [string, Layout][] = [
    ...vectors.map(({ id, layout, epochMs }): [string, Layout] => [
      id,
      epochMs === undefined ? layouts[layout] : defineLayout({ ...(layouts[layout] as Layout), epochMs }),
    ]),
    ['0', layouts.sonyflake],
    [String(2n ** 63n - 1n), layouts.twitter],
    [String(2n ** 64n - 1n), early],
  ]

  it.each(cases)('of %s lead to the id and back, each as its formula says', (text, layout) => {
    const id = BigInt(text)
    const up = making(id, layout)
    const names: Record<string, bigint> = {}
    for (const step of up) {
      const { formula, value } = step
      const [name = ''] = formula.split(' = ')
      // Given values have no formula.
      if (/^\w+$/.test(formula)) names[formula] = value
      else expect([formula, compute(step, names)]).toEqual([formula, value])
      if (formula.includes(' = ')) names[name] = value
    }
    expect(up.at(-1)?.value).toBe(id)

    const down = takingApart(id, layout)
    const read: Record<string, bigint> = { id }
    for (const step of down) {
      const { formula, value } = step
      if (formula === 'epoch') read['epoch'] = value
      expect([formula, compute(step, read)]).toEqual([formula, value])
      const [name = '', right] = formula.split(' = ')
      if (right !== undefined) read[name] = value
    }
    expect(down.at(-1)?.value).toBe(names['now'])
    for (const { name } of layout.placements) expect(read[name]).toBe(names[name])
  })

  it('have the same number in three forms', () => {
    expect([hexOf(255n), bitsOf(5n)]).toEqual(['0xff', '101'])
    // Baidu's and other epochs may be before 1970.
    expect([hexOf(-1n), bitsOf(-1n)]).toEqual(['−0x1', '1'.repeat(64)])
  })
})

describe('the texts of the view Learn', () => {
  it('have the numbers of the layout', () => {
    const { years, perSecond, lastNode } = valuesOf(layouts.twitter, String)
    expect({ years, perSecond, lastNode }).toEqual({ years: 69.7, perSecond: 4_096_000, lastNode: 1023 })
    expect(valuesOf(layouts.sonyflake, String)).toMatchObject({
      years: 174.2,
      perTick: 256,
      perSecond: 25_600,
      tick: 10,
    })
    // No number of the default layout stands in a text. The primer counts with 12 bits.
    for (const [language, messages] of Object.entries(languages)) {
      for (const { key } of sections.filter(({ key }) => key !== 'learnPrimer')) {
        expect([language, messages[key]]).toEqual([
          language,
          expect.not.stringMatching(/69|4.?096|102[34]|2080|2010-11/),
        ])
      }
    }
  })

  it('stand in the list of sections once each', () => {
    const keys = Object.keys(languages.en).filter((key) => key.startsWith('learn'))
    const small = ['learnColumns', 'learnLink', 'learnIdHint', 'learnLead', 'learnNow', 'learn']
    expect(sections.map(({ key }) => key).toSorted()).toEqual(keys.filter((key) => !small.includes(key)).toSorted())
  })

  it('have a line for each alternative, five steps, and six sentences of history', () => {
    for (const messages of Object.values(languages)) {
      expect(messages.learnOthers.split('\n').length - 1).toBe(alternatives.length)
      expect(messages.learnSteps.split('\n').length - 1).toBe(5)
      expect(messages.learnHistory.split('\n').length - 1).toBe(6)
    }
  })
})

describe('the id of the view Learn', () => {
  const nowMs = Date.UTC(2026, 10, 27)
  it.each([
    ['is that of the view Parse, in its likeliest layout', { ids: '175928847299117063' }, 'discord'],
    ['is in the chosen layout', { ids: ' 175928847299117063\n', layout: 'twitter' }, 'twitter'],
    [
      'has the chosen epoch',
      { ids: '175928847299117063', layout: 'twitter', epoch: '2020-01-01' },
      'twitter@1577836800000/1:timestamp.41,datacenter.5,worker.5,sequence.12',
    ],
  ])('%s', (_, values, layout) => {
    expect(pastedId({ ...defaults.parse, ...values }, nowMs)).toEqual({ id: '175928847299117063', layout })
  })

  it.each(['', '1, 2', 'no id'])('is none for %j', (ids) => {
    expect(pastedId({ ...defaults.parse, ids }, nowMs)).toBeUndefined()
  })
})

describe('the code of a layout', () => {
  it('has common names of fields, and marks all others', () => {
    const layout = defineLayout({
      name: 'x\n*/ ?> "\\u000a',
      epochMs: 0,
      tickMs: 1,
      fields: [
        ['timestamp', 41],
        ['class', 2],
        ['class_', 2],
        ['worker', 2],
        ['sequence', 12],
      ],
    })
    const shape = shapeOf(layout)
    expect(shape.fields.map(({ name }) => name)).toEqual(['timestamp_', 'class_', 'class__', 'worker', 'sequence'])
    expect(shape.heading[0]).toMatch(/^Ids of the layout x u000a: timestamp 41,/)
  })

  it('runs in JavaScript: the other languages have long tests', async () => {
    for (const { id, layout, epochMs, timestampMs } of vectors) {
      if (epochMs !== undefined) continue
      const code = idCode('JavaScript', layouts[layout])
      const { encode, decode } = await import(`data:text/javascript,${encodeURIComponent(code)}`)
      const parts = decode(BigInt(id))
      expect(parts.timestampMs).toBe(BigInt(timestampMs))
      expect(encode(parts)).toBe(BigInt(id))
      expect(() => encode({ ...parts, sequence: 1n << 53n })).toThrow('sequence is 9007199254740992; it must be')
    }
  })

  it('has no generator for a layout that is for decoding only', () => {
    expect(idCode('Go', layouts.mastodon)).not.toContain('Generator')
    expect(idCode('Go', layouts.twitter)).toContain('NewGenerator')
  })
})
