import { blockCipher } from '#cipher'
import type { BlockCipher } from '../core/cipher.js'

/**
 * Makes AES on single blocks, for `aes` of `defineKind` in browsers and on edge runtimes. It is that of
 * `@noble/ciphers` there, and that of `node:crypto` on Node. A block alone is no encryption of messages.
 *
 * @param key - 16, 24 or 32 bytes, which are copied.
 * @example
 * const keys = { a: Uint8Array.from({ length: 32 }, (_, i) => i) } // a random key in your service
 * const invoice = defineKind({ prefix: 'inv', layout: layouts.twitter, keys, aes })
 * invoice.text(1541816160830398464n) // 'inv_11a6v3q2w8yw1a0w9t2h80wa02'
 */
export function aes(key: Uint8Array): BlockCipher {
  return blockCipher(key)
}
