import type { StandardSchemaV1 } from '@standard-schema/spec'
import fc from 'fast-check'
import { defineLayout, encodeId, layouts } from 'graupel'
import { defineKind, type Kind } from 'graupel/kind'
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
    const { text: write, id: read, is, schema } = order
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
    expectTypeOf(order.id).returns.toEqualTypeOf<bigint>()
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
