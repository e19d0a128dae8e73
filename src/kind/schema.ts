import { rangeError, show, typeError } from '../core/errors.js'
import { whole } from '../core/typed-array.js'
import { type Field, genuineLayout, type Layout, loadId } from '../layout/index.js'

/**
 * Checks ids from outside for libraries that take a Standard Schema (standardschema.dev, version 1), such as
 * tRPC and Hono. Takes text.
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
  }
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
  return schemaOf((value) => {
    if (typeof value !== 'string') {
      throw typeError('ERR_ID_INVALID', `the id is ${show(value)} (${typeof value}); send it as a string of digits`)
    }
    loadId(value, own)
    return output === 'text' ? value : (whole[0] as bigint)
  })
}

/**
 * Makes a schema of a function that returns the output, or throws an error with the code `ERR_ID_INVALID`.
 */
export function schemaOf<Output>(read: (value: unknown) => Output): IdSchema<Output> {
  function validate(value: unknown): IdResult<Output> {
    try {
      return { value: read(value) }
    } catch (error) {
      return { issues: [{ message: (error as Error).message, code: 'ERR_ID_INVALID' }] }
    }
  }
  return Object.freeze({ '~standard': Object.freeze({ version: 1, vendor: 'graupel', validate }) })
}
