import type { StandardSchemaV1 } from '@standard-schema/spec'
import fc from 'fast-check'
import { defineLayout, encodeId, type LayoutSpec, layouts } from 'graupel'
import { defineKind, type Kind } from 'graupel/kind'
import { testGenerator } from 'graupel/testing'
import { createRandomUuidGenerator } from 'graupel/uuid'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { caught } from '../support/engines.js'

const order = defineKind({ prefix: 'ord', layout: layouts.twitter })
const user = defineKind({ prefix: 'usr', layout: layouts.twitter })
const id = 1541815603606036480n
const text = 'ord_1asd13xh1f800'
const ids63 = fc.bigInt({ min: 0n, max: 2n ** 63n - 1n })

describe('a kind', () => {
  // Users have these texts in databases and links, so no version may change them.
  it.each([
    [0n, 'ord_0000000000000'],
    [1n, 'ord_0000000000001'],
    [31n, 'ord_000000000000z'],
    [32n, 'ord_0000000000010'],
    [id, text],
    [2n ** 63n - 1n, 'ord_7zzzzzzzzzzzz'],
  ])('writes %d as ever', (one, written) => {
    expect(order.text(one)).toBe(written)
    expect(order.text(String(one))).toBe(written)
    expect(order.id(written)).toBe(one)
    expect(order.is(written)).toBe(true)
    expect(order.length).toBe(written.length)
  })

  it('writes base32 of encodeId in small letters, in the order of the ids', () => {
    fc.assert(
      fc.property(ids63, ids63, (one, other) => {
        const [first, second] = [order.text(one), order.text(other)]
        expect(first).toBe(`ord_${encodeId(one, 'base32').toLowerCase()}`)
        expect(order.id(first)).toBe(one)
        expect(first < second).toBe(one < other)
      }),
    )
  })

  it('takes every id of 64 bits if its layout has as many', () => {
    const fields = [['timestamp', 44] as const, ['node', 10] as const, ['sequence', 10] as const]
    const layout = defineLayout({ name: 'wide', epochMs: 0, tickMs: 1, unsigned: true, fields })
    const wide = defineKind({ prefix: 'w', layout })
    expect(wide.text(2n ** 64n - 1n)).toBe('w_fzzzzzzzzzzzz')
    expect(wide.id('w_fzzzzzzzzzzzz')).toBe(2n ** 64n - 1n)
    // The first digit has five bits, of which an id uses four.
    expect(wide.is('w_g000000000000')).toBe(false)
  })

  it('is frozen, and has calls that need no this', () => {
    const { text: write, id: read, ids: typed, is, schema } = order
    const generator = testGenerator()
    expect(typed(generator)).toBe(generator)
    expect(read(write(id))).toBe(id)
    expect(is(write(id))).toBe(true)
    expect([order, schema, schema['~standard']].every(Object.isFrozen)).toBe(true)
  })

  it.each([
    ['another prefix', 'usr_1asd13xh1f800'],
    ['no prefix', '1asd13xh1f800'],
    ['another separator', 'ord-1asd13xh1f800'],
    ['a digit less', text.slice(0, -1)],
    ['a digit more', `${text}0`],
    ['a capital', 'ord_1ASD13XH1F800'],
    ['a letter for a digit that looks so', 'ord_1asd13xh1f80o'],
    ['u, which the alphabet lacks', 'ord_1asd13xh1f80u'],
    ['a space', 'ord_1asd13xh1f80 '],
    ['a character beyond ASCII', 'ord_1asd13xh1f80é'],
    ['64 bits, which the layout never makes', 'ord_8000000000000'],
    ['65 bits', 'ord_g000000000000'],
    ['nothing', ''],
  ])('refuses a text with %s', (_what, wrong) => {
    const error = caught(() => order.id(wrong))
    expect([error.constructor, error.code]).toEqual([RangeError, 'ERR_ID_INVALID'])
    expect(order.is(wrong)).toBe(false)
    expect(order.schema['~standard'].validate(wrong)).toEqual({
      issues: [{ message: error.message, code: 'ERR_ID_INVALID' }],
    })
  })

  it.each([undefined, null, 5, id, [text], new Date(), Symbol('s')])('refuses %s for a text', (wrong) => {
    const error = caught(() => order.id(wrong as never))
    expect([error.constructor, error.code]).toEqual([TypeError, 'ERR_ID_INVALID'])
    expect(order.is(wrong)).toBe(false)
  })

  it.each([-1n, 2n ** 63n, 5, '05', text, null])('refuses %s for an id', (wrong) => {
    expect(caught(() => order.text(wrong as bigint)).code).toBe('ERR_ID_INVALID')
  })
})

describe('the generator of a kind', () => {
  const { twitter: layout } = layouts

  it('is the generator that was given', () => {
    const ids = testGenerator()
    expect(order.ids(ids)).toBe(ids)
    expect(order.id(order.text(order.ids(ids).next())).toString()).toMatch(/^\d+$/)
    const uuids = createRandomUuidGenerator()
    expect(defineKind({ prefix: 'doc', uuid: true }).ids(uuids)).toBe(uuids)
  })

  it('may have a layout of another name, or a view', () => {
    const ids = testGenerator({ layout: defineLayout({ ...layout, name: 'ours' }) })
    expect(order.ids(ids)).toBe(ids)
    const tagged = defineLayout({
      ...layout,
      name: 'tagged',
      fields: [...layout.fields.slice(0, 3), ['shard', 4, 'tag'], ['sequence', 8]],
    })
    const view = testGenerator({ layout: tagged }).with({ shard: 5 })
    expect(defineKind({ prefix: 'row', layout: tagged }).ids(view)).toBe(view)
  })

  it.each([
    ['other fields', { fields: [...layout.fields].reverse() }],
    [
      'the same fields with a tag',
      {
        fields: [
          ['timestamp', 41],
          ['datacenter', 5],
          ['worker', 5, 'tag'],
          ['sequence', 12],
        ],
      },
    ],
    ['another epoch', { epochMs: layout.epochMs + 1 }],
    ['another tick', { tickMs: 10 }],
  ])('has no layout with %s', (_what, change) => {
    const other = defineLayout({ ...layout, ...change, name: 'other' } as LayoutSpec)
    const error = caught(() => order.ids({ layout: other }))
    expect([error.constructor, error.code]).toEqual([RangeError, 'ERR_LAYOUT_INVALID'])
    expect(error.message).toMatch(/has layout 'other' \(.*\), and the kind 'ord' has layout 'twitter' \(.*\); pass/)
  })

  it.each([undefined, null, 5, {}, () => 7n])('is not %s', (wrong) => {
    const doc = defineKind({ prefix: 'doc', uuid: true })
    for (const call of [() => order.ids(wrong as never), () => doc.ids(wrong as never)]) {
      const error = caught(call)
      expect([error.constructor, error.code]).toEqual([TypeError, 'ERR_OPTION_INVALID'])
    }
  })

  it('does not make UUIDs for a kind of ids, or ids for a kind of UUIDs', () => {
    expect(caught(() => order.ids(createRandomUuidGenerator() as never)).code).toBe('ERR_OPTION_INVALID')
    const doc = defineKind({ prefix: 'doc', uuid: true })
    expect(caught(() => doc.ids(testGenerator() as never)).code).toBe('ERR_OPTION_INVALID')
    expect(caught(() => order.ids({ layout: { ...layout } as never })).code).toBe('ERR_LAYOUT_INVALID')
  })
})

describe('defineKind refuses', () => {
  const { twitter: layout } = layouts
  it.each(['', '_', '_ord', 'ord_', 'Ord', 'örd', 'or d', 'ord1', 'or-d', 'ord\n', 'a'.repeat(64)])(
    'the prefix %j',
    (prefix) => {
      const error = caught(() => defineKind({ prefix, layout }))
      expect([error.constructor, error.code]).toEqual([RangeError, 'ERR_OPTION_INVALID'])
    },
  )

  it.each([
    ['no options', undefined, 'ERR_OPTION_INVALID'],
    ['no prefix', { layout }, 'ERR_OPTION_INVALID'],
    ['a prefix that is no text', { prefix: 5, layout }, 'ERR_OPTION_INVALID'],
    ['no layout', { prefix: 'ord' }, 'ERR_LAYOUT_INVALID'],
    ['the name of a layout', { prefix: 'ord', layout: 'twitter' }, 'ERR_LAYOUT_INVALID'],
    ['a layout of UUIDs', { prefix: 'ord', layout, uuid: true }, 'ERR_OPTION_INVALID'],
    ['uuid that is neither true nor false', { prefix: 'ord', uuid: 1 }, 'ERR_OPTION_INVALID'],
    ['another option', { prefix: 'ord', layout, separator: '-' }, 'ERR_OPTION_UNKNOWN'],
  ])('%s', (_what, options, code) => {
    expect(caught(() => defineKind(options as never)).code).toBe(code)
  })

  it('no prefix of 1 to 63 characters', () => {
    for (const prefix of ['a', 'a'.repeat(63), `a${'_'.repeat(61)}z`]) {
      const kind = defineKind({ prefix, layout })
      expect(kind.id(kind.text(id))).toBe(id)
    }
  })
})

describe('the types', () => {
  type OrderId = Kind.Text<typeof order>

  it('tell the texts of two kinds apart', () => {
    const ship = (given: OrderId) => given
    expect(ship(order.text(id))).toBe(text)
    // @ts-expect-error a user is no order
    ship(user.text(id))
    // @ts-expect-error nothing has checked this text
    ship(text)
    const value: unknown = text
    if (order.is(value)) expectTypeOf(value).toEqualTypeOf<OrderId>()
    expectTypeOf(order.id).returns.toEqualTypeOf<Kind.Id<typeof order>>()
    expectTypeOf<Kind.Id<typeof order>>().toExtend<bigint>()
    expectTypeOf<OrderId>().toExtend<string>()
  })

  it('of the schema are those of a Standard Schema', () => {
    const schema: StandardSchemaV1<string, OrderId> = order.schema
    expectTypeOf<StandardSchemaV1.InferOutput<typeof order.schema>>().toEqualTypeOf<OrderId>()
    expectTypeOf<StandardSchemaV1.InferInput<typeof order.schema>>().toEqualTypeOf<string>()
    expect(schema['~standard']).toMatchObject({ version: 1, vendor: 'graupel' })
    expect(schema['~standard'].validate(text)).toEqual({ value: text })
  })
})
