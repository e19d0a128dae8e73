import { runInNewContext } from 'node:vm'
import { type Encoding, encodeId, encodings, layouts, parseId } from 'graupel'
import { describe, expect, it } from 'vitest'
import { caught } from '../support/engines.js'

const max = 2n ** 64n - 1n

describe('encodings', () => {
  // Worked out by hand or by the tools that define the alphabets, not by this package.
  it.each<[Encoding, bigint, unknown]>([
    ['decimal', 0n, '0'],
    ['decimal', max, '18446744073709551615'],
    ['hex', 0n, '0000000000000000'],
    ['hex', 175928847299117063n, '0271065ac1020007'],
    ['hex', max, 'ffffffffffffffff'],
    ['base32', 32n, '0000000000010'],
    ['base32', max, 'FZZZZZZZZZZZZ'],
    ['base58', 58n, '11111111121'],
    ['base58', max, 'jpXCZedGfVQ'],
    ['base62', 61n, '0000000000z'],
    ['base62', max, 'LygHa16AHYF'],
    ['bytes', 0x0102030405060708n, Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8)],
    ['bytes', max, new Uint8Array(8).fill(255)],
  ])('%s writes %d as %s, and reads it', (encoding, id, text) => {
    expect(encodeId(id, encoding)).toEqual(text)
    expect(parseId(text as never, encoding as 'hex')).toBe(id)
  })

  it('takes decimal digits wherever it takes a bigint', () => {
    expect(encodeId('255', 'hex')).toBe('00000000000000ff')
  })

  it.each([
    ['hello', 'base62', 11],
    ['ff', 'hex', 16],
    ['Z', 'base32', 13],
    ['z', 'base58', 11],
    [`0${encodeId(max, 'base62')}`, 'base62', 11],
  ] as const)('refuses %s, because ids in %s have %d characters', (text, encoding, width) => {
    const error = caught(() => parseId(text, encoding))
    expect(error).toBeInstanceOf(RangeError)
    expect(error.code).toBe('ERR_ID_INVALID')
    expect(error.message).toContain(`exactly ${width}`)
  })

  it('reads hex and Crockford in both cases, and the letters that Crockford confuses', () => {
    expect(parseId('00000000000000fF', 'hex')).toBe(255n)
    expect(parseId('000000000001a', 'base32')).toBe(parseId('000000000001A', 'base32'))
    expect(parseId('0000000000oIl', 'base32')).toBe(parseId('0000000000011', 'base32'))
  })

  it('reads a Buffer and a view into the middle of one', () => {
    const buffer = Buffer.from('ff0000000000000007ff', 'hex')
    expect(parseId(buffer.subarray(1, 9), 'bytes')).toBe(7n)
  })

  it('reads the bytes of an array that says it is elsewhere, and of another realm', () => {
    const own = Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 7)
    const other = { buffer: new ArrayBuffer(8), byteOffset: 1, length: 1 }
    for (const [name, value] of Object.entries(other)) Object.defineProperty(own, name, { value })
    expect(parseId(own, 'bytes')).toBe(7n)
    expect(parseId(runInNewContext('Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 7)'), 'bytes')).toBe(7n)
  })

  it.each<[Encoding, unknown]>([
    ['decimal', ''],
    ['decimal', ' 1'],
    ['decimal', '1 '],
    ['decimal', '1n'],
    ['decimal', '-1'],
    ['decimal', '007'],
    ['decimal', '1e3'],
    ['decimal', '１'],
    ['decimal', '18446744073709551616'],
    ['decimal', '9'.repeat(30)],
    ['decimal', 1],
    ['decimal', 1n],
    ['hex', ''],
    ['hex', '0x'],
    ['hex', '0x000000000000ff'],
    ['hex', '000000000000000g'],
    ['hex', '0'.repeat(17)],
    ['hex', 255],
    ['base32', '000000000000U'],
    ['base32', '0000000000-12'],
    ['base32', 'G000000000000'],
    ['base58', '11111111110'],
    ['base58', '1111111111l'],
    ['base58', 'jpXCZedGfVR'],
    ['base62', '0000000000-'],
    ['base62', '0000000000é'],
    ['base62', '000000000😀'],
    ['base62', 'LygHa16AHYG'],
    ['base62', 'zzzzzzzzzzz'],
    ['base62', '000000000000'],
    ['bytes', new Uint8Array(7)],
    ['bytes', new Uint8Array(9)],
    ['bytes', [0, 0, 0, 0, 0, 0, 0, 1]],
    ['bytes', '00000001'],
    ['bytes', null],
  ])('%s refuses %s', (encoding, text) => {
    const error = caught(() => parseId(text as never, encoding as 'hex'))
    expect(error.code).toBe('ERR_ID_INVALID')
    expect(error instanceof TypeError || error instanceof RangeError).toBe(true)
  })

  it('refuses ids that are none', () => {
    for (const encoding of encodings) {
      for (const id of [-1n, max + 1n, '', '1n', 1, null]) {
        expect(caught(() => encodeId(id as never, encoding)).code).toBe('ERR_ID_INVALID')
      }
    }
  })

  it('refuses ids that are too wide for the layout that is given', () => {
    const { twitter, discord } = layouts
    for (const encoding of encodings) {
      const text = encodeId(2n ** 63n, encoding) as never
      expect(parseId(text, encoding as 'hex')).toBe(2n ** 63n)
      expect(parseId(text, encoding as 'hex', discord)).toBe(2n ** 63n)
      expect(caught(() => parseId(text, encoding as 'hex', twitter)).code).toBe('ERR_ID_INVALID')
      expect(caught(() => parseId(text, encoding as 'hex', {} as never)).code).toBe('ERR_LAYOUT_INVALID')
    }
  })

  it('refuses encodings that do not exist', () => {
    for (const encoding of ['base64', '', 'toString', undefined]) {
      expect(caught(() => encodeId(1n, encoding as never)).code).toBe('ERR_ENCODING_UNKNOWN')
      expect(caught(() => parseId('1', encoding as never)).code).toBe('ERR_ENCODING_UNKNOWN')
    }
  })
})
