const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/**
 * Reads a shortcode, by which Instagram writes the id of a post: 11 digits of base64. Returns `undefined` for
 * other texts, and for more than 64 bits.
 */
export function readShortcode(text: string): bigint | undefined {
  if (!/^[A-P][\w-]{10}$/.test(text)) return undefined
  return [...text].reduce((sum, digit) => sum * 64n + BigInt(digits.indexOf(digit)), 0n)
}
