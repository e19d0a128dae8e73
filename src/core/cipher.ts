/** AES with one key, on single blocks of 16 bytes. */
export interface BlockCipher {
  /** Encrypts a block. The result is the block itself, or another array. */
  encrypt(block: Uint8Array): Uint8Array
  /** Decrypts a block, as `encrypt` does. */
  decrypt(block: Uint8Array): Uint8Array
}

/**
 * Makes AES for a key of 16, 24 or 32 bytes, which are copied. `#cipher` in package.json leads to one of two
 * implementations: Node's, or that of `@noble/ciphers`.
 */
export type Aes = (key: Uint8Array) => BlockCipher
