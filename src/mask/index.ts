export type { Aes, BlockCipher } from '../core/cipher.js'
export { aes } from './aes.js'
export { createMask, type Mask, type MaskBits, type MaskOptions } from './mask.js'
