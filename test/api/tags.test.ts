import { composeId, createGenerator, decode, defineLayout, defineSerial, type GeneratorView, idsBetween } from 'graupel'
import { testGenerator } from 'graupel/testing'
import { decodeUuid, idOfUuid, uuidOf } from 'graupel/uuid'
import { describe, expect, it } from 'vitest'
import { engines, freshNamespace } from '../support/engines.js'

const epochMs = Date.UTC(2024, 0, 1)
const layout = defineLayout({
  name: 'sharded',
  epochMs,
  tickMs: 1,
  fields: [
    ['timestamp', 41],
    ['worker', 8],
    ['shard', 6, 'tag'],
    ['kind', 1, 'tag?'],
    ['sequence', 7],
  ],
})
const mask = ~(0x7fn << 7n)

describe('a layout with tags', () => {
  it('keeps tags apart from the node', () => {
    expect(layout.nodes).toBe(256)
    expect(layout.tagFields).toEqual([
      { name: 'shard', bits: 6, shift: 8, isRequired: true },
      { name: 'kind', bits: 1, shift: 7, isRequired: false },
    ])
    expect(defineLayout({ ...layout, epochMs: 0 }).tagFields).toEqual(layout.tagFields)
  })

  it('composes and decodes them', () => {
    const parts = { timestampMs: epochMs + 9, node: 7, sequence: 3 }
    const id = composeId({ ...parts, tags: { shard: 5 } }, layout)
    expect(decode(id, layout)).toMatchObject({ ...parts, fields: { worker: 7 }, tags: { shard: 5, kind: 0 } })
    expect(composeId(decode(id, layout), layout)).toBe(id)
    expect(decode(id, layout).tags.shard).toBe(5)
  })

  it.each([
    ['shard', {}],
    ['shard', { shard: 64 }],
    ['shard', { shard: '5' }],
    ['kind', { shard: 1, kind: -1 }],
    ['shrad', { shard: 1, shrad: 1 }],
  ])('refuses a bad %s by name: %o', (option, tags) => {
    const error = expect.objectContaining({ code: 'ERR_OPTION_INVALID', option })
    const parts = { timestampMs: epochMs, node: 0, tags: tags as { shard: number } }
    expect(() => composeId(parts, layout)).toThrow(error)
    using ids = createGenerator({ node: 1, layout, state: 'process' })
    expect(() => ids.with(tags as { shard: number })).toThrow(error)
  })

  it.each([[['shard', 6, 'tags']], [['sequence', 6, 'tag']]])('refuses the field %o', (field) => {
    const fields = [['timestamp', 41], field, ['sequence', 8]] as never
    expect(() => defineLayout({ ...layout, fields })).toThrow(expect.objectContaining({ code: 'ERR_LAYOUT_INVALID' }))
  })

  it('has ranges of all tags below the timestamp, and one for each value above', () => {
    const { first, end } = idsBetween(epochMs + 5, epochMs + 6, layout)
    const last = composeId({ timestampMs: epochMs + 5, node: 255, sequence: 127, tags: { shard: 63, kind: 1 } }, layout)
    expect(end - first).toBe(1n << 22n)
    expect(last).toBe(end - 1n)
    const fields = [
      ['shard', 6, 'tag'],
      ['timestamp', 41],
      ['sequence', 8],
    ] as const
    const above = defineLayout({ ...layout, fields })
    const range = idsBetween(epochMs + 5, epochMs + 6, above, { shard: 9 })
    expect(range.first).toBe(composeId({ timestampMs: epochMs + 5, node: 0, tags: { shard: 9 } }, above))
    expect(range.end - range.first).toBe(256n)
    expect(() => idsBetween(0, 1, above)).toThrow(expect.objectContaining({ option: 'shard' }))
    expect(() => idsBetween(0, 1, layout, { shard: 1 })).toThrow(expect.objectContaining({ option: 'tags' }))
  })

  it('has serials and UUIDs with the tags', () => {
    const id = composeId({ timestampMs: epochMs + 9, node: 7, sequence: 3, tags: { shard: 5, kind: 1 } }, layout)
    const { format, parse } = defineSerial({
      pattern: '{yyyyMMddHHmmssSSS}-{worker}-{shard}-{kind}-{sequence}',
      layout,
    })
    expect(format(id)).toBe('20240101000000009-007-05-1-003')
    expect(parse(format(id))).toBe(id)
    expect(() => defineSerial({ pattern: '{yyyyMMddHHmmssSSS}{worker}{sequence}', layout })).toThrow(
      '{shard}, {kind} are',
    )
    expect(idOfUuid(uuidOf(id, layout), layout)).toBe(id)
    expect(decodeUuid(uuidOf(id, layout), layout).tags).toEqual({ shard: 5, kind: 1 })
  })
})

/** The ids that each engine has made with the same clock. */
const idsByEngine: bigint[][] = []

describe.each(engines)('views on the %s engine', (engine) => {
  const make = (clock?: () => number) =>
    createGenerator({
      node: 7,
      layout,
      engine,
      state: 'process',
      namespace: freshNamespace(),
      onOverflow: 'advance',
      maxAheadMs: 1e6,
      ...(clock && { clock }),
    })

  it('take the slots of one generator in order, whatever their tags', () => {
    let now = epochMs + 1_000_000
    using ids = make(() => now)
    const views = [5, 63, 0, 5].map((shard) => ids.with({ shard, kind: 1 }))
    const made: bigint[] = []
    for (let i = 0; i < 4000; i++) {
      const view = views[i % 4] as (typeof views)[number]
      const batch = i % 7 === 0 ? view.take(1 + (i % 40)) : [i % 3 === 0 ? BigInt(view.nextString()) : view.next()]
      for (const id of batch) expect(decode(id, layout).tags).toEqual(view.tags)
      made.push(...batch)
      if (i % 50 === 0) now++
    }
    idsByEngine.push(made)
    const slots = made.map((id) => id & mask)
    expect(slots.every((slot, i) => i === 0 || slot > (slots[i - 1] as bigint))).toBe(true)
    expect(views.reduce((sum, view) => sum + view.stats().issued, 0)).toBe(made.length)
    expect(ids.stats().issued).toBe(0)
  })

  it('refuse calls of the generator whose tag has to be chosen', async () => {
    using ids = make() as unknown as GeneratorView
    const error = expect.objectContaining({ code: 'ERR_OPTION_INVALID', option: 'shard' })
    expect(() => ids.next()).toThrow(error)
    expect(() => ids.take(1)).toThrow(error)
    await expect(ids.nextAsync()).rejects.toThrow(error)
    expect(JSON.parse(JSON.stringify(ids.with({ shard: 3 }))).tags).toEqual({ shard: 3, kind: 0 })
  })

  it('close with their generator, and alone', () => {
    const ids = make()
    const one = ids.with({ shard: 1 })
    const two = one.with({ shard: 2 })
    one.close()
    expect(() => one.next()).toThrow(expect.objectContaining({ code: 'ERR_CLOSED' }))
    expect(() => one.with({ shard: 2 })).toThrow(expect.objectContaining({ code: 'ERR_CLOSED' }))
    two.next()
    ids.close()
    expect(() => two.with({ shard: 2 })).toThrow(expect.objectContaining({ code: 'ERR_CLOSED' }))
    expect(() => two.next()).toThrow(expect.objectContaining({ code: 'ERR_CLOSED' }))
    expect(two.stats().issued).toBe(1)
    expect(() => ids.with({ shard: 3 })).toThrow(expect.objectContaining({ code: 'ERR_CLOSED' }))
  })
})

it('makes the same ids on both engines', () => {
  expect(idsByEngine).toHaveLength(engines.length)
  for (const made of idsByEngine) expect(made).toEqual(idsByEngine[0])
})

it('resets views with their test generator', () => {
  const ids = testGenerator({ layout })
  const view = ids.with({ shard: 1 })
  const first = view.next()
  ids.reset()
  expect(view.next()).toBe(first)
})
