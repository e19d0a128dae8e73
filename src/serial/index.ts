export { defineSerial, type SerialOptions } from './define.js'
export type { Serial } from './serial.js'
