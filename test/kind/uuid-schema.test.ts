import type { StandardSchemaV1 } from '@standard-schema/spec'
import { uuidSchema } from 'graupel/kind'
import { createUuidGenerator } from 'graupel/uuid'
import { describe, expect, it } from 'vitest'
import { caught, freshNamespace } from '../support/engines.js'

const upper = '019A8F2E-6B1C-7000-8070-ABCDEF012345'

describe('the schema of UUIDs', () => {
  it.each([7, 8] as const)('takes those of a generator of version %i, and not those of another', (version) => {
    const uuids = createUuidGenerator({ node: 7, version, namespace: freshNamespace() })
    const schema: StandardSchemaV1<string, string> = uuidSchema(version)
    const other = uuidSchema(version === 7 ? 8 : 7)
    for (const uuid of uuids.take(100)) {
      expect(schema['~standard'].validate(uuid)).toEqual({ value: uuid })
      expect(other['~standard'].validate(uuid)).toEqual({
        issues: [{ message: expect.stringMatching(/does not have version [78] of RFC 9562/), code: 'ERR_ID_INVALID' }],
      })
    }
    uuids.close()
  })

  it('has version 7 by default, and gives small letters', () => {
    const schema = uuidSchema()
    expect(schema['~standard'].validate(upper)).toEqual({ value: upper.toLowerCase() })
    expect([schema, schema['~standard'], schema['~standard'].jsonSchema].every(Object.isFrozen)).toBe(true)
  })

  it.each([7, null, undefined, {}, new Uint8Array(16), `{${upper}}`, upper.slice(1), `${upper} `, ''])(
    'refuses %j with the code',
    (wrong) => {
      const { issues } = uuidSchema()['~standard'].validate(wrong)
      expect(issues).toEqual([{ message: expect.stringContaining('the UUID is'), code: 'ERR_ID_INVALID' }])
    },
  )

  it('is of no other version', () => {
    for (const version of [4, '7', null, 0, {}]) {
      const error = caught(() => uuidSchema(version as never))
      expect(error).toMatchObject({ code: 'ERR_OPTION_INVALID', option: 'version' })
    }
  })
})
