import { rangeError, show, typeError } from '../core/errors.js'
import { isBytes, lengthGetter } from '../core/typed-array.js'
import { utf8 } from '../core/utf8.js'
import type { Layout } from '../layout/index.js'

/** The lengths of AES keys, in bytes. */
const keyLengths: readonly number[] = [16, 24, 32]

/**
 * A name begins with a letter, because objects always list names such as '2' first, and the first key hides.
 */
const keyName = /^[A-Za-z][0-9A-Za-z]{0,15}$/

const advice = 'pass 16, 24 or 32 random bytes, such as crypto.getRandomValues(new Uint8Array(32))'

/**
 * Returns the keys by their names. The first key hides. A key without a name has the name ''.
 *
 * @throws TypeError, RangeError `ERR_KEY_INVALID`
 */
export function checkKeys(keys: unknown): readonly (readonly [name: string, key: Uint8Array])[] {
  if (typeof keys !== 'object' || keys === null || isBytes(keys) || Array.isArray(keys)) {
    const what = typeof keys === 'object' ? show(keys) : `a value of type ${typeof keys}`
    throw typeError('ERR_KEY_INVALID', `keys is ${what}; pass an object such as { b: newKey, a: oldKey }`)
  }
  const given = Object.entries(keys)
  if (given.length === 0)
    throw rangeError('ERR_KEY_INVALID', 'keys is empty; pass at least one key, of which the first hides')
  const all = given.map(([name, key]) => {
    if (name !== '' && !keyName.test(name)) {
      // A longer name may be a key, so no message shows it.
      const shown = name.length > 16 ? `of ${name.length} characters` : show(name)
      throw rangeError(
        'ERR_KEY_INVALID',
        `keys has the name ${shown}; a name is a letter, followed by at most 15 letters or digits of ASCII; the name '' stands for a key without a name`,
      )
    }
    return [name, checkKey(key, name === '' ? 'the key' : `the key '${name}'`)] as const
  })
  for (const [i, [name, key]] of all.entries()) {
    const twin = all.slice(0, i).find(([, other]) => isEqual(other, key))
    if (twin === undefined) continue
    throw rangeError(
      'ERR_KEY_INVALID',
      `the keys ${show(twin[0])} and ${show(name)} are equal; a new name needs a new key`,
    )
  }
  return all
}

/**
 * Copies the bytes of a key. A subclass cannot change which bytes are copied.
 *
 * @throws TypeError, RangeError `ERR_KEY_INVALID`
 */
export function checkKey(given: unknown, what = 'the key'): Uint8Array {
  if (!isBytes(given)) {
    const type = typeof given === 'object' ? show(given) : `of type ${typeof given}`
    const remedy = typeof given === 'string' ? "pass its bytes: Buffer.from(text, 'hex')" : advice
    throw typeError('ERR_KEY_INVALID', `${what} is ${type}, and not a Uint8Array; ${remedy}`)
  }
  // An array whose memory was transferred is empty, and cannot be copied.
  const key = lengthGetter.call(given) === 0 ? new Uint8Array() : new Uint8Array(given)
  if (!keyLengths.includes(key.length)) {
    const text =
      key.length === 48 || key.length === 64 ? "; if these are digits of hex, pass Buffer.from(text, 'hex')" : ''
    throw rangeError('ERR_KEY_INVALID', `${what} has ${key.length} bytes; ${advice}${text}`)
  }
  // One repeated byte is memory that was never filled.
  if (key.every((byte) => byte === key[0])) {
    throw rangeError('ERR_KEY_INVALID', `${what} is the same byte ${key.length} times; ${advice}`)
  }
  return key
}

/** Whether two keys have the same bytes. */
export function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, i) => byte === other[i])
}

/**
 * Returns 64 bits by which the blocks that one key encrypts for different uses or layouts differ: FNV-1a of
 * both as JSON. They need not be secret, because they are encrypted. The layout's name does not count.
 *
 * @param use - The prefix of a kind, or a text that is no prefix.
 */
export function proofOf(use: string, { epochMs, tickMs, fields }: Layout): bigint {
  let value = 0xcbf29ce484222325n
  for (const byte of utf8(JSON.stringify([use, epochMs, tickMs, fields]))) {
    value = BigInt.asUintN(64, (value ^ BigInt(byte)) * 0x100000001b3n)
  }
  return value
}
