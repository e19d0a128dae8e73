/** Where, in a 64-bit element seen as two of 32 bits, the lower half is: 0 on little-endian machines. */
export const low = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1 ? 0 : 1
export const high = 1 - low

/** One number of 64 bits, and its halves. To write a bigint to one and read the other is faster than to divide it. */
export const whole = new BigUint64Array(1)
export const halves = new Uint32Array(whole.buffer)
export const two32 = 2 ** 32
