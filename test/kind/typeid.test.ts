import fc from 'fast-check'
import { defineKind } from 'graupel/kind'
import { describe, expect, it } from 'vitest'
import { caught } from '../support/engines.js'

// spec/valid.json and spec/invalid.json of the TypeID specification 0.3.0 (github.com/jetify-com/typeid).
const valid: [name: string, typeid: string, prefix: string, uuid: string][] = [
  ['nil', '00000000000000000000000000', '', '00000000-0000-0000-0000-000000000000'],
  ['one', '00000000000000000000000001', '', '00000000-0000-0000-0000-000000000001'],
  ['ten', '0000000000000000000000000a', '', '00000000-0000-0000-0000-00000000000a'],
  ['sixteen', '0000000000000000000000000g', '', '00000000-0000-0000-0000-000000000010'],
  ['thirty-two', '00000000000000000000000010', '', '00000000-0000-0000-0000-000000000020'],
  ['max-valid', '7zzzzzzzzzzzzzzzzzzzzzzzzz', '', 'ffffffff-ffff-ffff-ffff-ffffffffffff'],
  ['valid-alphabet', 'prefix_0123456789abcdefghjkmnpqrs', 'prefix', '0110c853-1d09-52d8-d73e-1194e95b5f19'],
  ['valid-uuidv7', 'prefix_01h455vb4pex5vsknk084sn02q', 'prefix', '01890a5d-ac96-774b-bcce-b302099a8057'],
  ['prefix-underscore', 'pre_fix_00000000000000000000000000', 'pre_fix', '00000000-0000-0000-0000-000000000000'],
]

const letters = 'abcdefghijklmnopqrstuvwxyz'
/** The prefix is everything before the last underscore; a text that has none belongs to the empty prefix. */
const invalid: [name: string, typeid: string][] = [
  ['prefix-uppercase', 'PREFIX_00000000000000000000000000'],
  ['prefix-numeric', '12345_00000000000000000000000000'],
  ['prefix-period', 'pre.fix_00000000000000000000000000'],
  ['prefix-non-ascii', 'préfix_00000000000000000000000000'],
  ['prefix-spaces', '  prefix_00000000000000000000000000'],
  ['prefix-64-chars', `${letters}${letters}abcdefghijkl_00000000000000000000000000`],
  ['separator-empty-prefix', '_00000000000000000000000000'],
  ['separator-empty', '_'],
  ['suffix-short', 'prefix_1234567890123456789012345'],
  ['suffix-long', 'prefix_123456789012345678901234567'],
  ['suffix-spaces', 'prefix_1234567890123456789012345 '],
  ['suffix-uppercase', 'prefix_0123456789ABCDEFGHJKMNPQRS'],
  ['suffix-hyphens', 'prefix_123456789-123456789-123456'],
  ['suffix-wrong-alphabet', 'prefix_ooooooiiiiiiuuuuuuulllllll'],
  ['suffix-ambiguous-crockford', 'prefix_i23456789ol23456789oi23456'],
  ['suffix-hyphens-crockford', 'prefix_123456789-0123456789-0123456'],
  ['suffix-overflow', 'prefix_8zzzzzzzzzzzzzzzzzzzzzzzzz'],
  ['prefix-underscore-start', '_prefix_00000000000000000000000000'],
  ['prefix-underscore-end', 'prefix__00000000000000000000000000'],
]

describe('a TypeID', () => {
  it.each(valid)('%s of the specification is %s', (_name, typeid, prefix, uuid) => {
    const kind = defineKind({ prefix, uuid: true })
    expect(kind.id(typeid)).toBe(uuid)
    expect(kind.text(uuid)).toBe(typeid)
    expect(kind.text(uuid.toUpperCase())).toBe(typeid)
    expect(kind.text(Buffer.from(uuid.replaceAll('-', ''), 'hex'))).toBe(typeid)
  })

  it.each(invalid)('%s of the specification is refused', (_name, typeid) => {
    const prefix = typeid.slice(0, Math.max(0, typeid.lastIndexOf('_')))
    const code = caught(() => defineKind({ prefix, uuid: true }).id(typeid)).code
    expect(code).toBe(/^(prefix)?$/.test(prefix) ? 'ERR_ID_INVALID' : 'ERR_OPTION_INVALID')
    for (const other of ['', 'prefix', 'pre_fix'])
      expect(defineKind({ prefix: other, uuid: true }).is(typeid)).toBe(false)
  })

  it('has each UUID, in the order of the UUIDs', () => {
    const kind = defineKind({ prefix: 'doc', uuid: true })
    fc.assert(
      fc.property(fc.uuid(), fc.uuid(), (one, other) => {
        expect(kind.id(kind.text(one))).toBe(one)
        expect(kind.text(one) < kind.text(other)).toBe(one < other)
      }),
    )
  })

  it.each([
    ['a UUID without hyphens', '01890a5dac96774bbcceb302099a8057'],
    ['a UUID in braces', '{01890a5d-ac96-774b-bcce-b302099a8057}'],
    ['a UUID with another letter', '01890a5d-ac96-774b-bcce-b302099a805g'],
    ['15 bytes', new Uint8Array(15)],
    ['no text', 5],
  ])('is not made of %s', (_what, given) => {
    expect(caught(() => defineKind({ prefix: 'doc', uuid: true }).text(given as string)).code).toBe('ERR_ID_INVALID')
  })
})
