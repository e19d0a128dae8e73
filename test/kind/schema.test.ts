import type { StandardSchemaV1 } from '@standard-schema/spec'
import { isId, type Layout, layouts } from 'graupel'
import { idSchema } from 'graupel/kind'
import { describe, expect, expectTypeOf, it } from 'vitest'

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

  it('is frozen, and its types are those of the specification', () => {
    const texts = idSchema(layouts.js53, 'text')
    expect([texts, texts['~standard']].every(Object.isFrozen)).toBe(true)
    expectTypeOf<StandardSchemaV1.InferOutput<typeof texts>>().toEqualTypeOf<string>()
    expectTypeOf<StandardSchemaV1.InferInput<typeof texts>>().toEqualTypeOf<string>()
    const bigints = idSchema(layouts.js53)
    expectTypeOf<StandardSchemaV1.InferOutput<typeof bigints>>().toEqualTypeOf<bigint>()
    expect(bigints['~standard']).toMatchObject({ version: 1, vendor: 'graupel' })
  })

  it('is not made of something else than a layout, or for another output', () => {
    expect(() => idSchema({ ...layouts.twitter } as unknown as Layout)).toThrow(
      expect.objectContaining({ code: 'ERR_LAYOUT_INVALID' }),
    )
    expect(() => idSchema(layouts.twitter, 'number' as 'text')).toThrow(
      expect.objectContaining({ code: 'ERR_OPTION_INVALID', option: 'output' }),
    )
  })
})
