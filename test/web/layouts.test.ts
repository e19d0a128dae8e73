import { composeId, defineLayout, type Layout, layouts } from 'graupel'
import { describe, expect, it } from 'vitest'
import { choose, chooseToMake } from '../../web/src/layouts/choice.ts'
import { codeOf, designOf } from '../../web/src/layouts/design.ts'
import { factsOf, neighboursOf } from '../../web/src/layouts/facts.ts'
import { firstMsAbove, orderOf } from '../../web/src/layouts/order.ts'
import { fieldsFromText, fieldsToText, layoutFromText, layoutToText, typedOf } from '../../web/src/layouts/spec-text.ts'
import { defaults, defaultValues, isLeftOut, linkOf, readLink } from '../../web/src/state.ts'
import { readNumber, readTime } from '../../web/src/text/time.ts'

const nowMs = Date.UTC(2026, 10, 22)
/** A layout with one bit of time less and a later epoch than Leaf, so its ids grow twice as fast. */
const faster = defineLayout({
  name: 'faster',
  epochMs: Date.UTC(2020, 0, 1),
  tickMs: 1,
  fields: [
    ['timestamp', 40],
    ['worker', 11],
    ['sequence', 12],
  ],
})
/** A layout with both kinds of tags, one above the sequence and one below it. */
const sharded = defineLayout({
  name: 'sharded',
  epochMs: Date.UTC(2024, 0, 1),
  tickMs: 1,
  fields: [
    ['timestamp', 41],
    ['worker', 8],
    ['shard', 6, 'tag'],
    ['sequence', 7],
    ['kind', 1, 'tag?'],
  ],
})
const leafFrom = (epochMs: number) => defineLayout({ ...layouts.leaf, name: 'new', epochMs })

describe('a link', () => {
  it('has all values that differ from the defaults, also wrong ones', () => {
    const values = { ...defaultValues().parse, ids: '1,2\n#&=%ü', epoch: 'x?y' }
    const link = linkOf('parse', values)
    expect(link).not.toContain('layout')
    expect(readLink(link, () => ({}))).toMatchObject({ view: 'parse', values })
  })

  it('has the tags of a layout in a form that people read', () => {
    const values = { ...defaultValues().generate, layout: layoutToText(sharded), tags: '5.1' }
    const link = linkOf('generate', values)
    expect(link).toContain('worker.8,shard.6.tag,sequence.7,kind.1.tag?&tags=5.1')
    expect(readLink(link, () => ({}))).toMatchObject({ view: 'generate', values })
  })

  it('leaves long texts out, and keeps their present values', () => {
    const values = { ...defaultValues().parse, ids: '1'.repeat(10_000), layout: 'leaf' }
    const link = linkOf('parse', values)
    expect(isLeftOut(link)).toBe(true)
    expect(link.length).toBeLessThan(100)
    expect(readLink(link, () => values)?.values).toEqual(values)
  })

  it.each(['', '#', '#nothing', '#constructor?x=1'])('is not read from %j', (hash) => {
    expect(readLink(hash, () => ({}))).toBeUndefined()
  })
})

describe('a layout as text', () => {
  it.each([...Object.values(layouts), sharded])('of $name is read back unchanged', (layout) => {
    expect(layoutFromText(layoutToText(layout))).toEqual({ ...layout })
  })

  it('of a decode-only layout makes no ids', () => {
    for (const text of ['mastodon', layoutToText(defineLayout({ ...layouts.mastodon, name: 'ours' }))]) {
      expect(choose(text, '').layout?.decodeOnly).toBe(true)
      expect(chooseToMake(text, '')).toMatchObject({
        layout: undefined,
        layoutTrouble: { key: 'troubleDecodeOnly' },
      })
    }
    expect(chooseToMake('wide', '').layout).toBe(layouts.wide)
  })

  it('keeps wrong names, bits and roles', () => {
    const fields = [
      ['a.b,c:d', '4x'],
      ['', ''],
      ['a', '1', 'tag.?,'],
    ] as const
    expect(fieldsFromText(fieldsToText(fields))).toEqual(fields)
  })

  it('has a message for a text that cannot be read', () => {
    expect(choose('nothing', '').layoutTrouble).toMatchObject({ key: 'troubleLayoutText' })
    expect(choose('x@0/1:timestamp.41', '').layoutTrouble).toMatchObject({ key: 'troubleLibrary' })
    expect(choose('x@0/1:timestamp.41,sequence.4,a.1.tags', '').layoutTrouble?.values?.['message']).toMatch(
      "role 'tags'",
    )
    expect(choose('leaf', 'soon').epochTrouble).toMatchObject({ key: 'troubleTime' })
    expect(choose('leaf', '2020-01-01').layout?.epochMs).toBe(Date.UTC(2020, 0, 1))
  })
})

describe('a design', () => {
  it('shows each fault at its field', () => {
    const design = { ...defaults.design, tick: '0', epoch: '', fields: 'timestamp.41,Node.1,timestamp.2,sequence.60' }
    const { tickTrouble, epochTrouble, fieldTroubles, layout } = designOf(design)
    expect(tickTrouble?.key).toBe('troubleNumber')
    expect(epochTrouble?.key).toBe('troubleTime')
    expect(fieldTroubles.map((trouble) => trouble?.key)).toEqual([
      undefined,
      'troubleFieldName',
      'troubleFieldTwice',
      'troubleNumber',
    ])
    expect(layout).toBeUndefined()
  })

  it('has one layout for equal values, which a link and another epoch have, too', () => {
    const { layout } = designOf(defaults.design)
    expect(designOf({ ...defaults.design }).layout).toBe(layout)
    expect(choose(layoutToText(layout as Layout), '').layout).toBe(layout)
    expect(choose(layoutToText(leafFrom(0)), '2024-01-01').layout).toBe(
      designOf({ ...defaults.design, name: 'new', fields: fieldsToText(layouts.leaf.fields.map(typedOf)) }).layout,
    )
    expect(choose(layoutToText(layouts.leaf), '').layout).toBe(layouts.leaf)
  })

  it('has code that defines the layout', () => {
    const design = {
      ...defaults.design,
      name: `it's "new" 5`,
      unsigned: '1',
      fields: 'timestamp.42,node.10,sequence.12',
    }
    const { layout } = designOf(design)
    if (layout === undefined) throw new Error('there is no layout')
    const [, name, body] = /export const (\w+) = defineLayout\((.*)\)$/s.exec(codeOf(layout)) ?? []
    expect(name).toBe('itSNew5Layout')
    expect(defineLayout(new Function(`return (${body})`)())).toEqual(layout)
  })

  it('has code with its tags', () => {
    const fields = fieldsToText(sharded.fields.map(typedOf))
    const { layout } = designOf({ ...defaults.design, name: 'sharded', fields })
    expect(layout).toEqual(sharded)
    const code = codeOf(sharded)
    expect(code).toContain("    ['shard', 6, 'tag'],\n    ['sequence', 7],\n    ['kind', 1, 'tag?'],")
    expect(defineLayout(new Function(`return (${/defineLayout\((.*)\)$/s.exec(code)?.[1]})`)())).toEqual(sharded)
  })

  it.each(['import', 'define-layout', '5', '\n"\'\\\u2028'])(
    'has code that makes the layout that is called %j',
    (name) => {
      const { layout } = designOf({ ...defaults.design, name })
      if (layout === undefined) throw new Error('there is no layout')
      const code = codeOf(layout)
        .replace(/^import .*/, '')
        .replace('export', '')
      const constant = /const (\w+)/.exec(code)?.[1]
      expect(new Function('defineLayout', `'use strict';${code};return ${constant}`)(defineLayout)).toEqual(layout)
    },
  )

  it('refuses a text of very many fields without reading them all', () => {
    const fields = Array.from({ length: 100_000 }, (_, i) => `f${i}.1`).join(',')
    const { fields: read, layout, trouble } = designOf({ ...defaults.design, fields, unsigned: '1' })
    expect({ layout, count: read.length, key: trouble?.key }).toEqual({
      layout: undefined,
      count: 65,
      key: 'troubleBits',
    })
  })
})

describe('the facts of a layout', () => {
  it('have the first moment with ids above 2^53 and 2^63', () => {
    expect(factsOf(layouts.js53)).toMatchObject({ unsafeFromMs: undefined, negativeFromMs: undefined })
    const { unsafeFromMs, negativeFromMs } = factsOf(layouts.discord)
    for (const [ms, bound] of [
      [unsafeFromMs, 2n ** 53n],
      [negativeFromMs, 2n ** 63n],
    ] as const) {
      const last = { node: 1023, sequence: 4095 }
      expect(composeId({ timestampMs: ms as number, ...last }, layouts.discord)).toBeGreaterThanOrEqual(bound)
      expect(composeId({ timestampMs: (ms as number) - 1, ...last }, layouts.discord)).toBeLessThan(bound)
    }
  })

  it('name the fields that make an answer take another tick', () => {
    expect(factsOf(layouts.twitter).aboveSequence).toEqual(['datacenter', 'worker'])
    expect(factsOf(layouts.sonyflake).aboveSequence).toEqual([])
    expect(factsOf(sharded).aboveSequence).toEqual(['worker', 'shard'])
    // Ids of this layout cannot be observed.
    const [timestamp, ...others] = sharded.fields
    const fields = [['region', 1], timestamp, ...others] as const
    expect(factsOf(defineLayout({ ...sharded, fields, unsigned: true })).aboveSequence).toEqual([])
  })

  it('tell which presets make the same ids, and which never do', () => {
    const relations = new Map(
      neighboursOf(layouts.twitter, nowMs).map(({ preset, relation }) => [preset.name, relation]),
    )
    expect(relations.get('leaf')).toBe('same')
    expect(relations.get('wide')).toBe('overlap')
    expect(relations.get('js53')).toBe('apart')
  })
})

describe('the order of a migration', () => {
  it('is above if the new epoch is earlier, and below if it is later', () => {
    expect(orderOf(layouts.leaf, leafFrom(layouts.leaf.epochMs - 1)).kind).toBe('above')
    expect(orderOf(layouts.leaf, leafFrom(layouts.leaf.epochMs + 1)).kind).toBe('below')
    // Within a tick, ids of both layouts interleave.
    expect(orderOf(layouts.leaf, layouts.twitter).kind).toBe('below')
  })

  it('changes at one moment if the ids of one layout grow faster', () => {
    const order = orderOf(layouts.leaf, faster)
    if (order.kind !== 'above from') throw new Error(order.kind)
    const old = (ms: number) => composeId({ timestampMs: ms, node: 1023, sequence: 4095 }, layouts.leaf)
    const next = (ms: number) => composeId({ timestampMs: ms, node: 0 }, faster)
    expect(next(order.ms)).toBeGreaterThan(old(order.ms))
    expect(next(order.ms - 1)).toBeLessThan(old(order.ms - 1))
  })

  it('does not exist if the timestamp is not the first field', () => {
    const mixed = defineLayout({
      ...layouts.leaf,
      name: 'mixed',
      fields: [
        ['worker', 10],
        ['timestamp', 41],
        ['sequence', 12],
      ],
    })
    expect(orderOf(layouts.leaf, mixed)).toMatchObject({ kind: 'unordered', layouts: [{ name: 'mixed' }] })
    expect(firstMsAbove(mixed, 1n)).toBeUndefined()
  })

  it('begins one tick after the largest old id', () => {
    const largest = 1541815603606036480n
    const ms = firstMsAbove(layouts.wide, largest) as number
    expect(composeId({ timestampMs: ms, node: 0 }, layouts.wide)).toBeGreaterThan(largest)
    expect(composeId({ timestampMs: ms - 1, node: 0 }, layouts.wide)).toBeLessThanOrEqual(largest)
    expect(firstMsAbove(layouts.js53, largest)).toBeUndefined()
  })
})

describe('a typed time', () => {
  it.each([
    ['1596211200000', 1596211200000],
    ['-28800000', -28800000],
    ['2026', Date.UTC(2026, 0, 1)],
    ['2026-11-22', Date.UTC(2026, 10, 22)],
    ['2026-11-22 12:30', Date.UTC(2026, 10, 22, 12, 30)],
    ['2026-11-22T12:30:01.5+08:00', Date.UTC(2026, 10, 22, 4, 30, 1, 500)],
    ['2026-11-22T12:30+0800', Date.UTC(2026, 10, 22, 4, 30)],
    [' 2026-11-22t12:30z ', Date.UTC(2026, 10, 22, 12, 30)],
  ])('may be %j', (text, ms) => {
    expect(readTime(text)).toBe(ms)
  })

  it.each(['', 'now', '12', '2026-13-01', '2026-02-30', '22.11.2026', '9000000000000000'])('may not be %j', (text) => {
    expect(() => readTime(text)).toThrow(/troubleTime/)
  })

  it.each(['', '1.5', '-1', '101', '1e2', '0x10'])('is refused as a number from 1 to 100: %j', (text) => {
    expect(() => readNumber(text, 1, 100)).toThrow('troubleNumber')
  })
})
