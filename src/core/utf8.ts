/**
 * Encodes a text in UTF-8. jsdom and some versions of React Native have no `TextEncoder`.
 *
 * @param text - It has no half of a surrogate pair.
 */
export function utf8(text: string): Uint8Array {
  const parts = encodeURIComponent(text).match(/%..|./g) ?? []
  return Uint8Array.from(parts, (part) => (part.length === 1 ? part.charCodeAt(0) : Number.parseInt(part.slice(1), 16)))
}
