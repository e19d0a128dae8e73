import { blockText, checkVersion, loadUuid } from '../codec/uuid.js'
import { rangeError, show, typeError } from '../core/errors.js'
import { type IdSchema, schemaOf } from './schema.js'

/** Characters of a UUID. */
const length = 36

/**
 * Makes a schema that checks UUIDs of one version, as `graupel/uuid` makes them, for libraries that take a
 * Standard Schema. It takes the text in either case, and gives it in small letters. Its JSON Schema has the
 * format `uuid` and a pattern for the version.
 *
 * @param version - 7, or 8 if the generator has `version: 8`.
 * @throws RangeError `ERR_OPTION_INVALID` for another version.
 * @example
 * const { validate } = uuidSchema()['~standard']
 * validate('019A8F2E-6B1C-7000-8070-ABCDEF012345').value // '019a8f2e-6b1c-7000-8070-abcdef012345'
 * validate('f81d4fae-7dec-11d0-a765-00a0c91e6bf6').issues?.[0].code // 'ERR_ID_INVALID'
 */
export function uuidSchema(version: 7 | 8 = 7): IdSchema<string> {
  checkVersion(version)
  const block = new DataView(new ArrayBuffer(16))
  const rules = (hex: string, variant: string) => () => ({
    type: 'string',
    format: 'uuid',
    pattern: `^${hex}{8}-${hex}{4}-${version}${hex}{3}-${variant}${hex}{3}-${hex}{12}$`,
    minLength: length,
    maxLength: length,
  })
  return schemaOf(rules('[0-9a-fA-F]', '[89abAB]'), rules('[0-9a-f]', '[89ab]'), (value) => {
    if (typeof value !== 'string') {
      throw typeError('ERR_ID_INVALID', `the UUID is ${show(value)} (${typeof value}); send its text`)
    }
    loadUuid(value, block)
    const uuid = blockText(block)
    if (uuid[14] === String(version) && '89ab'.includes(uuid[19] as string)) return uuid
    throw rangeError(
      'ERR_ID_INVALID',
      `the UUID ${show(value)} does not have version ${version} of RFC 9562; send one that has`,
    )
  })
}
