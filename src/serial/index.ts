export { defineSerial, type SerialOptions } from './define.js'
export type { BaseSerial, Serial } from './serial.js'
