import { rangeError, reasonOf, show, typeError } from '../core/errors.js'
import { whole } from '../core/typed-array.js'
import { type Field, type GivenId, genuineLayout, type IsNarrow, type Layout, loadId } from '../layout/index.js'

/**
 * Checks ids from outside for libraries that take a Standard Schema (standardschema.dev, version 1), such as
 * tRPC and Hono. Takes text; for ids of layouts of at most 53 bits also numbers. Its JSON Schema, by the
 * Standard JSON Schema, is for OpenAPI and forms.
 *
 * @example
 * const schema = idSchema(layouts.twitter)
 * schema['~standard'].validate('9223372036854775808').issues?.[0].code // 'ERR_ID_INVALID'
 */
export interface IdSchema<Output, Input = string> {
  /** Name and form of the specification. `validate` never throws, and `types` exists in types alone. */
  readonly '~standard': {
    readonly version: 1
    readonly vendor: 'graupel'
    readonly validate: (value: unknown) => IdResult<Output>
    readonly types?: { readonly input: Input; readonly output: Output }
    readonly jsonSchema: IdJsonSchema
  }
}

/**
 * Describes the values of an {@link IdSchema} as JSON Schema. `target` is `'draft-2020-12'`, `'draft-07'` or
 * `'openapi-3.0'`; these have the same object.
 *
 * @throws RangeError `ERR_OPTION_INVALID` for another target, and from `output` of a schema that gives
 * bigints, because JSON has none.
 */
export interface IdJsonSchema {
  /** The values that the schema takes. */
  readonly input: (options: { readonly target: string }) => Record<string, unknown>
  /** The values that the schema gives. */
  readonly output: (options: { readonly target: string }) => Record<string, unknown>
}

/**
 * Result of an {@link IdSchema}: the id, or the reason why the value is refused, with the code of the error.
 */
export type IdResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly [{ readonly message: string; readonly code: 'ERR_ID_INVALID' }] }

/**
 * Makes a schema that checks ids in decimal digits, as URLs and JSON have them. If the layout has at most 53
 * bits, such as `layouts.js53`, the schema takes numbers, too.
 *
 * The pattern of its JSON Schema allows as many digits as the greatest id has. It does not compare the number
 * in these digits with the greatest id; `validate` does. A JSON number is compared.
 *
 * @param layout - The layout that the ids have to fit. Ids of a signed layout fit a `BIGINT`.
 * @param output - The form of a valid id: `'bigint'`, its digits as `'text'`, or, if the layout has at most
 * 53 bits, a `'number'`; `'bigint'` if it is left out. The index of a callback is ignored.
 * @throws TypeError `ERR_LAYOUT_INVALID`; RangeError `ERR_OPTION_INVALID`.
 * @example
 * const schema = idSchema(layouts.discord)
 * schema['~standard'].validate('175928847299117063').value // 175928847299117063n
 * idSchema(layouts.discord, 'text')['~standard'].validate('175928847299117063').value // '175928847299117063'
 * idSchema(layouts.js53, 'number')['~standard'].validate(175928847299117).value // 175928847299117
 */
export function idSchema<F extends readonly Field[]>(
  layout: Layout<F>,
  output: 'text',
): IdSchema<string, Exclude<GivenId<F>, bigint>>
export function idSchema<F extends readonly Field[]>(
  layout: Layout<F>,
  output: [IsNarrow<F>] extends [false] ? never : 'number',
): IdSchema<number, Exclude<GivenId<F>, bigint>>
export function idSchema<F extends readonly Field[]>(
  layout: Layout<F>,
  output?: 'bigint' | number,
): IdSchema<bigint, Exclude<GivenId<F>, bigint>>
export function idSchema(
  layout: Layout,
  output: 'bigint' | 'text' | 'number' | number = 'bigint',
): IdSchema<bigint | string | number, string | number> {
  const own = genuineLayout(layout)
  const isNarrow = own.bits <= 53
  const outputs = ['bigint', 'text', ...(isNarrow ? ['number'] : [])]
  if (typeof output !== 'number' && !outputs.includes(output)) {
    const why = output === 'number' ? `, and ids of layout '${own.name}' have ${own.bits} bits` : ''
    throw rangeError(
      'ERR_OPTION_INVALID',
      `output is ${show(output)}${why}; pass ${outputs.map((one) => `'${one}'`).join(' or ')}`,
      'output',
    )
  }
  const greatest = 2n ** BigInt(own.bits) - 1n
  const maxLength = String(greatest).length
  const digits = textRules(`^(0|[1-9][0-9]{0,${maxLength - 1}})$`, 1, maxLength)
  const number = () => ({ type: 'integer', minimum: 0, maximum: Number(greatest) })
  const input = isNarrow ? () => ({ anyOf: [digits(), number()] }) : digits
  const outputRules = { text: digits, number, bigint: undefined }[typeof output === 'number' ? 'bigint' : output]
  return schemaOf(input, outputRules, (value) => {
    if (typeof value !== 'string' && !(isNarrow && typeof value === 'number')) {
      throw typeError(
        'ERR_ID_INVALID',
        `the id is ${show(value)} (${typeof value}); send it as ${isNarrow ? 'a number or ' : ''}a string of digits`,
      )
    }
    loadId(value, own)
    const id = whole[0] as bigint
    return output === 'text' ? String(id) : output === 'number' ? Number(id) : id
  })
}

/** Returns a new object with what JSON Schema says about the values of a schema. */
type JsonRules = () => Record<string, unknown>

/** The JSON Schema of texts. Lengths are in characters. */
export function textRules(pattern: string, minLength: number, maxLength = minLength): JsonRules {
  return () => ({ type: 'string', pattern, minLength, maxLength })
}

const targets = ['draft-2020-12', 'draft-07', 'openapi-3.0']

/**
 * Makes a schema of a function that returns the output, or throws an error with the code `ERR_ID_INVALID`.
 *
 * @param output - The JSON Schema of the output; `undefined` for bigints, which JSON does not have.
 */
export function schemaOf<Output, Input = string>(
  input: JsonRules,
  output: JsonRules | undefined,
  read: (value: unknown) => Output,
): IdSchema<Output, Input> {
  function validate(value: unknown): IdResult<Output> {
    try {
      return { value: read(value) }
    } catch (error) {
      return { issues: [{ message: reasonOf(error), code: 'ERR_ID_INVALID' }] }
    }
  }
  const describing =
    (rules: JsonRules | undefined) =>
    ({ target }: { readonly target: string }) => {
      if (!targets.includes(target)) {
        throw rangeError('ERR_OPTION_INVALID', `target is ${show(target)}; pass one of ${targets.join(', ')}`, 'target')
      }
      if (rules !== undefined) return rules()
      throw rangeError(
        'ERR_OPTION_INVALID',
        "the output is a bigint, which JSON does not have; describe the input, or pass 'text' to idSchema",
        'output',
      )
    }
  const jsonSchema = Object.freeze({ input: describing(input), output: describing(output) })
  return Object.freeze({ '~standard': Object.freeze({ version: 1, vendor: 'graupel', validate, jsonSchema }) })
}
