import type { StandardSchemaV1 } from '@standard-schema/spec'
import { defineLayout, isId, type Layout, layouts } from 'graupel'
import { defineKind, idSchema, uuidSchema } from 'graupel/kind'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { caught } from '../support/engines.js'

const largest = String(2n ** 63n - 1n)

describe('the schema of a layout', () => {
  const schema: StandardSchemaV1<string, bigint> = idSchema(layouts.twitter)
  const { validate } = schema['~standard']

  it('gives a bigint, or the text itself', () => {
    expect(validate('1541815603606036480')).toEqual({ value: 1541815603606036480n })
    expect(validate('0')).toEqual({ value: 0n })
    expect(validate(largest)).toEqual({ value: BigInt(largest) })
    expect(idSchema(layouts.twitter, 'text')['~standard'].validate(largest)).toEqual({ value: largest })
  })

  it.each([
    ['an id that a BIGINT does not hold', String(2n ** 63n), 'has 64 bits'],
    ['an id that is too large for 64 bits', String(2n ** 64n), '2^64 - 1'],
    ['a leading zero', '01', 'leading zero'],
    ['no text', '', '1 to 20 digits'],
    ['a number', 7, 'the id is 7 (number); send it as a string of digits'],
    ['a bigint', 7n, 'send it as a string'],
    ['nothing', undefined, 'send it as a string'],
  ])('refuses %s with the code', (_name, value, message) => {
    const { issues } = validate(value) as StandardSchemaV1.FailureResult
    expect(issues).toEqual([{ message: expect.stringContaining(message), code: 'ERR_ID_INVALID' }])
    expect(isId(typeof value === 'string' ? value : null, layouts.twitter)).toBe(false)
  })

  it('takes numbers if the layout has at most 53 bits, and gives the id in the form that was asked for', () => {
    const greatest = 2 ** 53 - 1
    for (const id of [0, 7, greatest]) {
      for (const given of [id, String(id)]) {
        expect(idSchema(layouts.js53)['~standard'].validate(given)).toEqual({ value: BigInt(id) })
        expect(idSchema(layouts.js53, 'text')['~standard'].validate(given)).toEqual({ value: String(id) })
        expect(idSchema(layouts.js53, 'number')['~standard'].validate(given)).toEqual({ value: id })
      }
    }
    const { value } = idSchema(layouts.js53, 'number')['~standard'].validate(-0) as { value: number }
    expect(Object.is(value, 0)).toBe(true)
  })

  it.each([
    ['a number above 2^53 - 1', 2 ** 53, 'as a number it is whole, from 0 to 2^53 - 1'],
    ['a negative number', -1, 'as a number it is whole'],
    ['a fraction', 1.5, 'as a number it is whole'],
    ['NaN', Number.NaN, 'as a number it is whole'],
    ['a bigint', 7n, 'send it as a number or a string of digits'],
    ['a number object', Object(7), 'send it as a number or a string of digits'],
    ['digits of 54 bits', String(2 ** 53), 'has 54 bits'],
  ])('of 53 bits refuses %s with the code', (_name, given, message) => {
    const { issues } = idSchema(layouts.js53)['~standard'].validate(given)
    expect(issues).toEqual([{ message: expect.stringContaining(message), code: 'ERR_ID_INVALID' }])
  })

  it('refuses numbers with more bits than the layout has', () => {
    const fields = [['timestamp', 41] as const, ['sequence', 9] as const]
    const layout = defineLayout({ name: 'own', epochMs: 0, tickMs: 1, fields })
    const { validate: own } = idSchema(layout)['~standard']
    expect(own(2 ** 50 - 1)).toEqual({ value: 2n ** 50n - 1n })
    expect(own(2 ** 50).issues?.[0].message).toContain('has 51 bits')
  })

  it('is frozen, and its types are those of the specification', () => {
    const texts = idSchema(layouts.js53, 'text')
    expect([texts, texts['~standard']].every(Object.isFrozen)).toBe(true)
    expectTypeOf<StandardSchemaV1.InferOutput<typeof texts>>().toEqualTypeOf<string>()
    expectTypeOf<StandardSchemaV1.InferInput<typeof texts>>().toEqualTypeOf<string | number>()
    expectTypeOf<StandardSchemaV1.InferInput<typeof schema>>().toEqualTypeOf<string>()
    const numbers = idSchema(layouts.js53, 'number')
    expectTypeOf<StandardSchemaV1.InferOutput<typeof numbers>>().toEqualTypeOf<number>()
    // @ts-expect-error twitter has 63 bits
    expect(() => idSchema(layouts.twitter, 'number')).toThrow()
    const bigints = idSchema(layouts.js53)
    expectTypeOf<StandardSchemaV1.InferOutput<typeof bigints>>().toEqualTypeOf<bigint>()
    expect(bigints['~standard']).toMatchObject({ version: 1, vendor: 'graupel' })
  })

  it('is not made of something else than a layout, or for another output', () => {
    expect(() => idSchema({ ...layouts.twitter } as unknown as Layout)).toThrow(
      expect.objectContaining({ code: 'ERR_LAYOUT_INVALID' }),
    )
    for (const [layout, output, rule] of [
      [
        layouts.twitter,
        'number',
        "output is 'number', and ids of layout 'twitter' have 63 bits; pass 'bigint' or 'text'",
      ],
      [layouts.js53, 'bytes', "output is 'bytes'; pass 'bigint' or 'text' or 'number'"],
    ] as const) {
      expect(caught(() => idSchema(layout as Layout, output as 'text'))).toMatchObject({
        code: 'ERR_OPTION_INVALID',
        option: 'output',
        message: expect.stringContaining(rule),
      })
    }
  })
})

it.each([null, 'no error'])('tells in text why a value is refused that throws %j when it is shown', (thrown) => {
  const value = {
    get [Symbol.toStringTag]() {
      throw thrown
    },
  }
  const order = defineKind({ prefix: 'ord', layout: layouts.twitter })
  expect(order.is(value)).toBe(false)
  for (const { '~standard': standard } of [order.schema, idSchema(layouts.twitter), uuidSchema()]) {
    const { issues } = standard.validate(value) as StandardSchemaV1.FailureResult
    expect(issues[0]?.message).toEqual(expect.any(String))
  }
})
