import { rangeError, show, typeError } from '../core/errors.js'
import { whole } from '../core/typed-array.js'
import { type Field, genuineLayout, type Layout, loadId } from '../layout/index.js'

/**
 * Checks ids from outside for libraries that take a Standard Schema (standardschema.dev, version 1), such as
 * tRPC and Hono. Takes text. Its JSON Schema, by the Standard JSON Schema, is for OpenAPI and forms.
 *
 * @example
 * const schema = idSchema(layouts.twitter)
 * schema['~standard'].validate('9223372036854775808').issues?.[0].code // 'ERR_ID_INVALID'
 */
export interface IdSchema<Output> {
  /** Name and form of the specification. `validate` never throws, and `types` exists in types alone. */
  readonly '~standard': {
    readonly version: 1
    readonly vendor: 'graupel'
    readonly validate: (value: unknown) => IdResult<Output>
    readonly types?: { readonly input: string; readonly output: Output }
    readonly jsonSchema: IdJsonSchema
  }
}

/**
 * Describes the texts of an {@link IdSchema} as JSON Schema. `target` is `'draft-2020-12'`, `'draft-07'` or
 * `'openapi-3.0'`; these have the same object.
 *
 * @throws RangeError `ERR_OPTION_INVALID` for another target, and from `output` of a schema that gives
 * bigints, because JSON has none.
 */
export interface IdJsonSchema {
  /** The texts that the schema takes. */
  readonly input: (options: { readonly target: string }) => Record<string, unknown>
  /** The texts that the schema gives. */
  readonly output: (options: { readonly target: string }) => Record<string, unknown>
}

/**
 * Result of an {@link IdSchema}: the id, or the reason why the value is refused, with the code of the error.
 */
export type IdResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly [{ readonly message: string; readonly code: 'ERR_ID_INVALID' }] }

/**
 * Makes a schema that checks ids in decimal digits, as URLs and JSON have them.
 *
 * The pattern of its JSON Schema allows as many digits as the greatest id has. It does not compare the number
 * with the greatest id; `validate` does.
 *
 * @param layout - The layout that the ids have to fit. Ids of a signed layout fit a `BIGINT`.
 * @param output - The form of a valid id: a bigint, or the text itself. A number is the index of a callback,
 * and is ignored.
 * @throws TypeError `ERR_LAYOUT_INVALID`; RangeError `ERR_OPTION_INVALID`.
 * @example
 * const schema = idSchema(layouts.discord)
 * schema['~standard'].validate('175928847299117063').value // 175928847299117063n
 * idSchema(layouts.discord, 'text')['~standard'].validate('175928847299117063').value // '175928847299117063'
 */
export function idSchema<F extends readonly Field[]>(layout: Layout<F>, output: 'text'): IdSchema<string>
export function idSchema<F extends readonly Field[]>(layout: Layout<F>, output?: 'bigint' | number): IdSchema<bigint>
export function idSchema(layout: Layout, output: 'bigint' | 'text' | number = 'bigint'): IdSchema<bigint | string> {
  const own = genuineLayout(layout)
  if (output !== 'bigint' && output !== 'text' && typeof output !== 'number') {
    throw rangeError('ERR_OPTION_INVALID', `output is ${show(output)}; pass 'bigint' or 'text'`, 'output')
  }
  const maxLength = String(2n ** BigInt(own.bits) - 1n).length
  const json = { pattern: `^(0|[1-9][0-9]{0,${maxLength - 1}})$`, minLength: 1, maxLength }
  return schemaOf(json, output === 'text', (value) => {
    if (typeof value !== 'string') {
      throw typeError('ERR_ID_INVALID', `the id is ${show(value)} (${typeof value}); send it as a string of digits`)
    }
    loadId(value, own)
    return output === 'text' ? value : (whole[0] as bigint)
  })
}

/** What JSON Schema says about the texts of a schema. Lengths are in characters. */
interface TextRules {
  readonly pattern: string
  readonly minLength: number
  readonly maxLength: number
}

const targets = ['draft-2020-12', 'draft-07', 'openapi-3.0']

/**
 * Makes a schema of a function that returns the output, or throws an error with the code `ERR_ID_INVALID`.
 *
 * @param givesText - Whether the output is the text, which JSON Schema can describe.
 */
export function schemaOf<Output>(
  rules: TextRules,
  givesText: boolean,
  read: (value: unknown) => Output,
): IdSchema<Output> {
  function validate(value: unknown): IdResult<Output> {
    try {
      return { value: read(value) }
    } catch (error) {
      return { issues: [{ message: (error as Error).message, code: 'ERR_ID_INVALID' }] }
    }
  }
  function input({ target }: { readonly target: string }) {
    if (targets.includes(target)) return { type: 'string', ...rules }
    throw rangeError('ERR_OPTION_INVALID', `target is ${show(target)}; pass one of ${targets.join(', ')}`, 'target')
  }
  function output(options: { readonly target: string }) {
    if (givesText) return input(options)
    throw rangeError(
      'ERR_OPTION_INVALID',
      "the output is a bigint, which JSON does not have; describe the input, or pass 'text' to idSchema",
      'output',
    )
  }
  const jsonSchema = Object.freeze({ input, output })
  return Object.freeze({ '~standard': Object.freeze({ version: 1, vendor: 'graupel', validate, jsonSchema }) })
}
