import fc from 'fast-check'
import { createGenerator } from 'graupel'
import { createUuidGenerator, decodeUuid, parseUuid, ulidOf, uuidBytes, uuidOfUlid } from 'graupel/uuid'
import { describe, expect, it } from 'vitest'
import { freshNamespace } from '../support/engines.js'

const rule = "pass 26 digits of Crockford's base32, of which the first is 0 to 7"

describe('a ULID', () => {
  it.each([
    ['the example of the specification', '01ARZ3NDEKTSV4RRFFQ69G5FAV', '01563e3a-b5d3-d676-4c61-efb99302bd5b'],
    ['a UUID of version 7', '01H455VB4PEX5VSKNK084SN02Q', '01890a5d-ac96-774b-bcce-b302099a8057'],
    ['the least', '0'.repeat(26), '00000000-0000-0000-0000-000000000000'],
    ['the largest', `7${'Z'.repeat(25)}`, 'ffffffff-ffff-ffff-ffff-ffffffffffff'],
  ])('has the bytes of its UUID: %s', (_, ulid, uuid) => {
    expect([ulidOf(uuid), uuidOfUlid(ulid), uuidOfUlid(ulid.toLowerCase())]).toEqual([ulid, uuid, uuid])
    expect([ulidOf(uuidBytes(uuid)), ulidOf(`{${uuid.toUpperCase()}}`)]).toEqual([ulid, ulid])
  })

  it('is written and read for all bytes, and in the digits that a long division gives', () => {
    const digits = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), (bytes) => {
        let rest = BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
        let expected = ''
        for (let i = 0; i < 26; i++, rest /= 32n) expected = digits[Number(rest % 32n)] + expected
        const ulid = ulidOf(bytes)
        expect(ulid).toBe(expected)
        expect(uuidOfUlid(ulid)).toBe(parseUuid(bytes))
      }),
    )
  })

  it('has the time of a UUID that graupel made, and sorts as the UUIDs do', () => {
    const uuids = createUuidGenerator({ ids: createGenerator({ node: 3, namespace: freshNamespace() }) }).take(5000)
    const ulids = uuids.map((uuid) => ulidOf(uuid))
    expect(ulids.toSorted()).toEqual(ulids)
    expect(ulids.map((ulid) => decodeUuid(uuidOfUlid(ulid)).timestampMs)).toEqual(
      ulids.map((ulid) => Number.parseInt(ulid.slice(0, 10).toLowerCase().replace(/./g, digitOfRadix32), 32)),
    )
  })

  it.each([
    ['too many bits', '80000000000000000000000000', RangeError],
    ['25 characters', '0'.repeat(25), RangeError],
    ['27 characters', '0'.repeat(27), RangeError],
    ['the letter I', `01ARZ3NDEKTSV4RRFFQ69G5FAI`, RangeError],
    ['the letter o', `01arz3ndektsv4rrffq69g5fao`, RangeError],
    ['a letter that becomes k in small letters', `01ARZ3NDE\u212aTSV4RRFFQ69G5FAV`, RangeError],
    ['a line break', `01ARZ3NDEKTSV4RRFFQ69G5FAV\n`, RangeError],
    ['a UUID', '01563e3a-b5d3-d676-4c61-efb99302bd5b', RangeError],
    ['bytes', new Uint8Array(16), TypeError],
    ['nothing', undefined, TypeError],
  ])('is refused with %s', (_, ulid, type) => {
    const call = () => uuidOfUlid(ulid as string)
    expect(call).toThrow(type)
    expect(call).toThrow(expect.objectContaining({ code: 'ERR_ID_INVALID', message: expect.stringContaining(rule) }))
  })
})

/** Crockford's digit as the digit of `parseInt(…, 32)`. */
function digitOfRadix32(digit: string): string {
  return '0123456789abcdefghjkmnpqrstvwxyz'.indexOf(digit).toString(32)
}
