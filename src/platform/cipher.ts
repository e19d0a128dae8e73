/**
 * AES with one key, on single blocks of 16 bytes. `#cipher` in package.json leads to one of two
 * implementations: Node's, or that of `@noble/ciphers`.
 */
export interface BlockCipher {
  /** Encrypts a block. The result is the block itself, or another array. */
  encrypt(block: Uint8Array): Uint8Array
  /** Decrypts a block, as `encrypt` does. */
  decrypt(block: Uint8Array): Uint8Array
}
