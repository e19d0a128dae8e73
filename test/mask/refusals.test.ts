import { runInNewContext } from 'node:vm'
import { createMask, type MaskBits } from 'graupel/mask'
import { describe, expect, it } from 'vitest'
import { caught } from '../support/engines.js'

const key = Uint8Array.from({ length: 32 }, (_, i) => i * 7)
const secret = 'a secret of 32 characters it is.'

describe('createMask refuses', () => {
  it.each<[string, unknown, typeof TypeError | typeof RangeError]>([
    ['no key', undefined, TypeError],
    ['null', null, TypeError],
    ['a text', secret, TypeError],
    ['a number', 5, TypeError],
    ['an array of numbers', [...key], TypeError],
    ['an ArrayBuffer', key.buffer, TypeError],
    ['other elements', new Uint16Array(16), TypeError],
    ['no bytes', new Uint8Array(0), RangeError],
    ['15 bytes', key.subarray(0, 15), RangeError],
    ['17 bytes', key.subarray(0, 17), RangeError],
    ['33 bytes', new Uint8Array(33), RangeError],
    ['the digits of a key', Buffer.from(Buffer.from(key).toString('hex')), RangeError],
    ['32 bytes of zero', new Uint8Array(32), RangeError],
    ['16 equal bytes', new Uint8Array(16).fill(255), RangeError],
  ])('%s as a key', (_what, given, kind) => {
    const alone = caught(() => createMask(given as Uint8Array))
    expect([alone.constructor, alone.code]).toEqual([kind, 'ERR_KEY_INVALID'])
    const named = caught(() => createMask({ keys: { b: key, a: given as Uint8Array } }))
    expect([named.constructor, named.code]).toEqual([kind, 'ERR_KEY_INVALID'])
    expect(named.message).toContain("the key 'a'")
  })

  it('a subclass with another length', () => {
    class Liar extends Uint8Array {
      override get length() {
        return 32
      }
    }
    expect(caught(() => createMask(Liar.of(1, 2, 3))).code).toBe('ERR_KEY_INVALID')
  })

  it('a key whose memory was transferred', () => {
    const gone = Uint8Array.from(key)
    structuredClone(gone.buffer, { transfer: [gone.buffer] })
    expect(caught(() => createMask(gone)).code).toBe('ERR_KEY_INVALID')
  })

  it('no valid key of another realm', () => {
    const given: Uint8Array = runInNewContext('Uint8Array.from({ length: 32 }, (_, i) => i * 7)')
    expect(given).not.toBeInstanceOf(Uint8Array)
    const hidden = createMask(key).hide(1n)
    expect([createMask(given).hide(1n), createMask({ keys: { a: given } }).hide(1n)]).toEqual([hidden, hidden])
  })

  it('a key without showing the key', () => {
    const bytes = Buffer.from(secret)
    const given = [
      secret,
      bytes.subarray(0, 15),
      bytes.toString('hex'),
      [...bytes],
      { keys: secret },
      { keys: bytes },
      { keys: { [secret]: key } },
      { keys: { [bytes.toString('hex')]: key } },
    ]
    for (const one of given) {
      const { message, stack } = caught(() => createMask(one as never))
      for (const text of ['secret', bytes.toString('hex').slice(0, 8), String(bytes[0]), '97,']) {
        expect(`${message} ${stack?.split('\n')[0]}`).not.toContain(text)
      }
    }
  })

  it.each<[string, unknown]>([
    ['none', {}],
    ['no object', 'b'],
    ['bytes', key],
    ['an array', [key]],
    ['undefined', undefined],
    ['two equal ones', { b: key, a: Uint8Array.from(key) }],
  ])('as keys: %s', (_what, keys) => {
    expect(caught(() => createMask({ keys } as never)).code).toBe('ERR_KEY_INVALID')
  })

  // In { 2: newKey, 1: oldKey }, JavaScript lists the key 1 first.
  it.each(['1', '2b', 'a-b', 'a b', 'é', '_', 'a'.repeat(17)])('the key name %j', (name) => {
    const error = caught(() => createMask({ keys: { [name]: key } }))
    expect([error.constructor, error.code]).toEqual([RangeError, 'ERR_KEY_INVALID'])
    expect(error.message).toContain('a name is a letter')
  })

  it.each(['63', 62, 0, 128, 53.5, null, true])('%s bits', (bits) => {
    expect(caught(() => createMask({ keys: { a: key }, bits: bits as MaskBits })).code).toBe('ERR_OPTION_INVALID')
  })

  it.each(['bytes', 'base64', '', null, 5])('the encoding %j', (encoding) => {
    expect(caught(() => createMask({ keys: { a: key }, encoding: encoding as 'hex' })).code).toBe(
      'ERR_ENCODING_UNKNOWN',
    )
  })

  it('unknown options', () => {
    const error = caught(() => createMask({ keys: { a: key }, tweak: key } as never))
    expect([error.constructor, error.code]).toEqual([TypeError, 'ERR_OPTION_UNKNOWN'])
    expect(error.message).toContain('the options are keys, bits, encoding')
  })
})

describe.each([64, 63, 53] as const)('a mask of %d bits refuses', (bits) => {
  const mask = createMask({ keys: { a: key }, bits })
  const calls = { hide: mask.hide, reveal: mask.reveal, hideString: mask.hideString }

  it.each<unknown>([-1n, 2n ** BigInt(bits), 2n ** 70n, `${2n ** BigInt(bits)}`, '', '-5', '05', ' 5', '1e3', '0x5'])(
    'the id %s',
    (id) => {
      for (const call of Object.values(calls)) {
        const error = caught(() => call(id as bigint))
        expect([error.constructor, error.code]).toEqual([RangeError, 'ERR_ID_INVALID'])
      }
    },
  )

  it.each<unknown>([5, null, undefined, {}, [5n], true])('the id %s', (id) => {
    for (const call of Object.values(calls)) {
      const error = caught(() => call(id as bigint))
      expect([error.constructor, error.code]).toEqual([TypeError, 'ERR_ID_INVALID'])
    }
  })
})
