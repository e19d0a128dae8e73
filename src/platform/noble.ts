import { unsafe } from '@noble/ciphers/aes.js'
import type { BlockCipher } from '../core/cipher.js'

/**
 * AES of `@noble/ciphers`, for runtimes without `node:crypto`. The package calls single blocks unsafe,
 * because they are no encryption of messages; its own FF1 is made of them.
 *
 * @param key - 16, 24 or 32 bytes, which are copied.
 */
export function blockCipher(key: Uint8Array): BlockCipher {
  const { expandKeyLE, expandKeyDecLE, encryptBlock, decryptBlock } = unsafe
  const keys = expandKeyLE(Uint8Array.from(key))
  const inverse = expandKeyDecLE(Uint8Array.from(key))
  return {
    encrypt: (block) => encryptBlock(keys, block),
    decrypt: (block) => decryptBlock(inverse, block),
  }
}
