import { digits64, read128, write128 } from '../codec/base32.js'
import type { Aes } from '../core/cipher.js'
import { rangeError, show } from '../core/errors.js'
import { halves, high, low, whole } from '../core/typed-array.js'
import { type Layout, loadId } from '../layout/index.js'
import { type checkKeys, proofOf } from '../mask/keys.js'
import { digitsError, type Form } from './form.js'

/**
 * Ids that are hidden: a text is one block of AES, over the id and the 64 bits of {@link proofOf}. A block
 * that nobody has made decrypts to other bits, except with a probability of 2^-64 for each key.
 *
 * @param keys - The first one writes. A text does not say which key has made it, because the proof does.
 */
export function opaqueForm(
  keys: ReturnType<typeof checkKeys>,
  prefix: string,
  layout: Layout,
  aes: Aes,
): Form<bigint, bigint | string | number> {
  const ciphers = keys.map(([, key]) => aes(key))
  const [{ encrypt }] = ciphers as [(typeof ciphers)[0]]
  whole[0] = proofOf(prefix, layout)
  const proofHigh = halves[high] as number
  const proofLow = halves[low] as number
  const given = new Uint8Array(16)
  const givenView = new DataView(given.buffer)
  const block = new Uint8Array(16)
  const blockView = new DataView(block.buffer)

  return {
    digits: 2 * digits64,
    bits: 128,
    write(id, codes, at) {
      loadId(id, layout)
      blockView.setUint32(0, halves[high] as number)
      blockView.setUint32(4, halves[low] as number)
      blockView.setUint32(8, proofHigh)
      blockView.setUint32(12, proofLow)
      block.set(encrypt(block))
      write128(blockView, codes, at)
    },
    read(text, at) {
      if (!read128(text, at, givenView)) throw digitsError(text, at, 128)
      for (const { decrypt } of ciphers) {
        block.set(given)
        block.set(decrypt(block))
        if (blockView.getUint32(8) !== proofHigh || blockView.getUint32(12) !== proofLow) continue
        const id = blockView.getBigUint64(0)
        loadId(id, layout)
        return id
      }
      throw rangeError(
        'ERR_ID_INVALID',
        `the text ${show(text)} was made with no key of this kind, or for another prefix or layout; pass a text that text() returned`,
      )
    },
  }
}
