import { Validator } from '@seriousme/openapi-schema-validator'
import type { StandardJSONSchemaV1 } from '@standard-schema/spec'
import { Ajv } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { defineLayout, isId, type Layout, layouts } from 'graupel'
import { defineKind, idSchema, uuidSchema } from 'graupel/kind'
import { describe, expect, it } from 'vitest'
import { caught } from '../support/engines.js'

const order = defineKind({ prefix: 'ord', layout: layouts.twitter })
const narrow = defineKind({ prefix: 'n', layout: layouts.js53 })
const doc = defineKind({ prefix: 'doc', uuid: true })
const narrower = defineLayout({
  name: 'narrower',
  epochMs: 0,
  tickMs: 1,
  fields: [
    ['timestamp', 41],
    ['sequence', 9],
  ],
})
const uuids = [
  '019a8f2e-6b1c-7000-8070-abcdef012345',
  '019A8F2E-6B1C-7000-B070-ABCDEF012345',
  '019a8f2e-6b1c-8000-9070-abcdef012345',
  '019A8F2E-6b1c-8000-a070-abcdef012345',
  // Another variant, another version, and other texts.
  '019a8f2e-6b1c-7000-0070-abcdef012345',
  '019a8f2e-6b1c-7000-c070-abcdef012345',
  'f81d4fae-7dec-11d0-a765-00a0c91e6bf6',
  '00000000-0000-0000-0000-000000000000',
  '{019a8f2e-6b1c-7000-8070-abcdef012345}',
  'urn:uuid:019a8f2e-6b1c-7000-8070-abcdef012345',
  '019a8f2e6b1c70008070abcdef012345',
  '019a8f2e-6b1c-7000-8070-abcdef01234g',
  '019a8f2e-6b1c-7000-8070-abcdef012345\n',
]
const targets = ['draft-2020-12', 'draft-07', 'openapi-3.0'] as const
const texts = [
  ...[0n, 7n, 2n ** 53n - 1n].flatMap((id) => [order.text(id), narrow.text(id)]),
  order.text(2n ** 63n - 1n),
  doc.text('01890a5d-ac96-774b-bcce-b302099a8057'),
  'ord_8000000000000',
  'n_0080000000000',
  'doc_81h455vb4pex5vsknk084sn02q',
  'ord_1ASD13XH1F800',
  'ord_000000000000',
  'xord_0000000000000',
  'ord_0000000000000\n',
  '',
]

const jsonOf53Bits = { type: 'integer', minimum: 0, maximum: 2 ** 53 - 1 }

/** Compiles the JSON Schema of this target with ajv. */
function validatorOf(schema: StandardJSONSchemaV1, target: (typeof targets)[number]) {
  const json = schema['~standard'].jsonSchema.input({ target })
  return (target === 'draft-2020-12' ? new Ajv2020() : new Ajv()).compile(json)
}

describe('the JSON Schema', () => {
  it.each(targets)('of a kind accepts what the kind accepts, for %s', (target) => {
    for (const kind of [order, narrow, doc]) {
      const valid = validatorOf(kind.schema, target)
      expect(texts.map((text) => valid(text))).toEqual(texts.map((text) => kind.is(text)))
      expect([7, null, {}].map((value) => valid(value))).toEqual([false, false, false])
      const { input, output } = kind.schema['~standard'].jsonSchema
      expect(output({ target })).toEqual(input({ target }))
    }
  })

  it.each(targets)('of ids in digits accepts all ids, for %s', (target) => {
    for (const layout of [layouts.twitter as Layout, layouts.js53 as Layout, narrower as Layout]) {
      const valid = validatorOf(idSchema(layout), target)
      const greatest = 2n ** BigInt(layout.bits) - 1n
      for (const id of [0n, 7n, greatest]) expect(valid(String(id))).toBe(true)
      for (const wrong of ['', '01', '-1', '1.5', ' 7', '7\n', `${greatest}0`]) {
        expect([wrong, valid(wrong), isId(wrong, layout)]).toEqual([wrong, false, false])
      }
    }
  })

  it.each(targets)('of ids accepts the numbers that validate accepts, for %s', (target) => {
    for (const layout of [layouts.twitter as Layout, layouts.js53 as Layout, narrower as Layout]) {
      const schema = idSchema(layout)
      const valid = validatorOf(schema, target)
      const greatest = 2 ** layout.bits - 1
      const numbers = [0, -0, 7, greatest, greatest + 1, 2 ** 53, -1, 1.5, 1e300]
      const accepted = numbers.map((number) => schema['~standard'].validate(number).issues === undefined)
      expect(numbers.map((number) => valid(number))).toEqual(accepted)
      expect(accepted.includes(true)).toBe(layout.bits <= 53)
      expect([null, true, {}, [7]].map((value) => valid(value))).toEqual([false, false, false, false])
    }
  })

  it.each(targets)('of a UUID accepts what the schema accepts, for %s', (target) => {
    for (const version of [7, 8] as const) {
      const schema = uuidSchema(version)
      const ajv = addFormats.default(target === 'draft-2020-12' ? new Ajv2020() : new Ajv())
      const { input, output } = schema['~standard'].jsonSchema
      expect(input({ target }).format).toBe('uuid')
      const [valid, given] = [ajv.compile(input({ target })), ajv.compile(output({ target }))]
      const accepted = uuids.map((uuid) => schema['~standard'].validate(uuid).issues === undefined)
      expect(uuids.map((uuid) => valid(uuid))).toEqual(accepted)
      expect(accepted.slice(0, 4)).toEqual([version === 7, version === 7, version === 8, version === 8])
      expect(accepted.slice(4)).not.toContain(true)
      expect(uuids.map((uuid) => given(uuid))).toEqual(
        accepted.map((is, i) => is && uuids[i] === uuids[i]?.toLowerCase()),
      )
    }
  })

  it('is an own object for each call', () => {
    const { input } = order.schema['~standard'].jsonSchema
    const target = 'openapi-3.0'
    input({ target }).type = 'number'
    expect(input({ target })).toEqual({ type: 'string', pattern: order.pattern, minLength: 17, maxLength: 17 })
  })

  it('is refused for another target, and for a bigint as output', () => {
    const { input, output } = order.schema['~standard'].jsonSchema
    const wrong = { code: 'ERR_OPTION_INVALID', option: 'target' }
    for (const call of [input, output]) expect(caught(() => call({ target: 'draft-04' }))).toMatchObject(wrong)
    const target = 'draft-07'
    const bigints = idSchema(layouts.twitter)['~standard'].jsonSchema
    expect(caught(() => bigints.output({ target }))).toMatchObject({ code: 'ERR_OPTION_INVALID', option: 'output' })
    const digits = idSchema(layouts.twitter, 'text')['~standard'].jsonSchema
    expect(digits.output({ target })).toEqual(bigints.input({ target }))
    const [texts, numbers] = (['text', 'number'] as const).map((output) => {
      const schema = output === 'text' ? idSchema(layouts.js53, output) : idSchema(layouts.js53, output)
      const { jsonSchema } = schema['~standard']
      expect(jsonSchema.input({ target })).toEqual({ anyOf: [expect.anything(), jsonOf53Bits] })
      return jsonSchema.output({ target })
    })
    expect(texts).toEqual({ type: 'string', pattern: '^(0|[1-9][0-9]{0,15})$', minLength: 1, maxLength: 16 })
    expect(numbers).toEqual(jsonOf53Bits)
  })

  it('stands in a valid document of OpenAPI 3.0', async () => {
    const schema = order.schema['~standard'].jsonSchema.input({ target: 'openapi-3.0' })
    const responses = { 200: { description: 'the order' } }
    const get = { parameters: [{ name: 'id', in: 'path', required: true, schema }], responses }
    const info = { title: 'orders', version: '1' }
    const result = await new Validator().validate({ openapi: '3.0.3', info, paths: { '/orders/{id}': { get } } })
    expect(result).toMatchObject({ valid: true })
  })
})
