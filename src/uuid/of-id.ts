import { platform } from '#platform'
import { blockText, uuidText } from '../codec/uuid.js'
import { rangeError, show, typeError } from '../core/errors.js'
import { readOptions } from '../core/options.js'
import { halves, high, low } from '../core/typed-array.js'
import { type Field, type GivenId, genuineLayout, type Layout, loadId } from '../layout/index.js'
import { checkKey, isEqual, proofOf } from '../mask/keys.js'
import { bitsOf, block, load, loadedId } from './decode.js'

/** The options of {@link uuidOf} and {@link idOfUuid}. */
export interface UuidKeyOptions {
  /**
   * 16, 24 or 32 random bytes. The last bits of the UUID are made of the id by AES with this key, so nobody
   * without the key can make the UUID of an id. Needs `node:crypto`. A key that is `undefined` is refused.
   *
   * @default none; the last bits are zero
   */
  key?: Uint8Array
}

/**
 * Writes an id in the form of a UUID: a `BIGINT` inside, a UUID outside. Time, node and sequence can be read.
 *
 * The bits that are random in other UUIDs are zero, and anyone who knows the layout can make such a UUID.
 * With a key, these bits prove that a holder of the key has made it.
 *
 * @param id - A bigint, or the id in decimal digits. A number, if the layout has at most 53 bits.
 * @param layout - The layout that it was made with. Its sequence, node and tags have at most 34 bits,
 * and its sequence at most 32.
 * @throws TypeError, RangeError `ERR_ID_INVALID`, `ERR_LAYOUT_INVALID`, `ERR_KEY_INVALID`,
 * `ERR_OPTION_INVALID`; TypeError `ERR_OPTION_UNKNOWN`.
 * @example
 * uuidOf(1541815603606036480n, layouts.twitter) // '0181ab11-8149-7000-97a0-000000000000'
 * const key = Uint8Array.from({ length: 16 }, (_, i) => i) // use random bytes
 * uuidOf(1541815603606036480n, layouts.twitter, { key }) // '0181ab11-8149-7000-97ac-16138f3ece7d'
 */
export function uuidOf<F extends readonly Field[]>(
  id: GivenId<F>,
  layout: Layout<F>,
  options: UuidKeyOptions = {},
): string {
  layout = genuineLayout(layout)
  const bits = bitsOf(layout)
  const own = readOptions(options, ['key'], '{ key }')
  loadId(id, layout)
  const upper = halves[high] as number
  const lower = halves[low] as number
  // An undefined key may be a variable that is not set: without the key, nothing would be proved.
  bits.set(upper, lower, 'key' in own ? proofFor(upper, lower, layout, own.key) : noProof, 0)
  return uuidText(bits.word0, bits.word1, bits.word2, bits.word3)
}

/**
 * Returns the id of a UUID that {@link uuidOf} has written, with the same key if there was one, and refuses
 * all others.
 *
 * @throws TypeError, RangeError as {@link uuidOf}. A forged UUID is `ERR_ID_INVALID`, except with a
 * probability of 2^-(74 - n), for n bits of sequence, node and tags: 2^-52 with `layouts.twitter`.
 * @example
 * idOfUuid('0181ab11-8149-7000-97a0-000000000000', layouts.twitter) // 1541815603606036480n
 */
export function idOfUuid<F extends readonly Field[]>(
  uuid: string | Uint8Array,
  layout: Layout<F>,
  options: UuidKeyOptions = {},
): bigint {
  layout = genuineLayout(layout)
  load(uuid)
  const text = blockText(block)
  const id = loadedId(layout)
  if (uuidOf(id, layout, options) === text) return id
  throw rangeError(
    'ERR_ID_INVALID',
    `the UUID ${show(text)} was made without uuidOf, or with another key or version; pass one that uuidOf returned, or use decodeUuid`,
  )
}

/** The cipher and the bits of the last key and layout. Making them takes longer than a block. */
let last: { key: Uint8Array; layout: Layout; encrypt: (block: Uint8Array) => Uint8Array; use: bigint } | undefined

/** The bits of a UUID without a key. */
const noProof = /* @__PURE__ */ (() => new Int32Array(3))()

/**
 * 96 bits of a block of AES, over the id and the 64 bits that stand for UUIDs of the layout. No kind has the
 * same bits.
 */
function proofFor(upper: number, lower: number, layout: Layout, given: unknown): Int32Array {
  const key = checkKey(given)
  if (platform.blockCipher === undefined) {
    throw typeError(
      'ERR_OPTION_INVALID',
      'key is given, and this platform has no node:crypto; read such a UUID on a server, or use decodeUuid without a key',
      'key',
    )
  }
  if (last === undefined || last.layout !== layout || !isEqual(last.key, key)) {
    last = { key, layout, encrypt: platform.blockCipher(key).encrypt, use: proofOf('uuid:7', layout) }
  }
  const input = new DataView(new ArrayBuffer(16))
  input.setUint32(0, upper)
  input.setUint32(4, lower)
  input.setBigUint64(8, last.use)
  const bytes = last.encrypt(new Uint8Array(input.buffer))
  const proof = new DataView(bytes.buffer, bytes.byteOffset, 16)
  return Int32Array.of(proof.getInt32(4), proof.getInt32(8), proof.getInt32(0))
}
