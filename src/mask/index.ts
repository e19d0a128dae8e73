export { createMask, type Mask, type MaskBits, type MaskOptions } from './mask.js'
