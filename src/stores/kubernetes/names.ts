/** The longest name of an object (RFC 1123, as Kubernetes has it), and the longest value of a label. */
export const maxName = 253
export const maxLabel = 63

/** Runs of small letters and digits that are joined by single hyphens, one for each folder. */
const plain = /^[a-z0-9]+(-[a-z0-9]+)*(\/[a-z0-9]+(-[a-z0-9]+)*)*$/
const digestBytes = 16

/**
 * A key as the name of an object, or as the value of a label: `graupel/leases/orders/12` is `graupel.leases.orders.12`. What has
 * other characters, or is too long, ends with two hyphens and a hash, which no plain one has; so two keys never have one name.
 */
export async function nameOf(text: string, maxLength: number): Promise<string> {
  if (text.length <= maxLength && plain.test(text)) return text.replaceAll('/', '.')
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))
  const hash = [...digest.subarray(0, digestBytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  const folders = text.toLowerCase().split('/')
  const readable = folders.map((part) => (part.match(/[a-z0-9]+/g) ?? ['x']).join('-')).join('.')
  return `${readable.slice(0, maxLength - hash.length - 2).replace(/[-.]+$/, '')}--${hash}`
}

/** Who holds a lease, for the column HOLDER of `kubectl get leases`: the owner that a value names, if it names one. */
export function holderOf(value: string): string | undefined {
  try {
    const { owner, isReleased } = JSON.parse(value)
    if (typeof owner === 'string' && owner !== '' && isReleased !== true) return owner.slice(0, maxName)
  } catch {
    // Any text may be a value.
  }
  return undefined
}
