import { defaults, isView, type Values, type View } from './state.ts'

/** Longer texts stay out of links: programs that pass links on cut them off. */
const maxLinkedText = 6000

/** Names the texts that are too long for the link. */
const leftOutKey = 'left-out'

/**
 * The hash for a view and all that differs from its defaults: `#parse?ids=1541815603606036480`.
 *
 * @param attached - Keys of values that are kept elsewhere, because they are large.
 */
export function linkOf<V extends View>(view: V, values: Values<V>, attached: readonly string[] = []): string {
  const query = new URLSearchParams()
  const leftOut = [...attached]
  for (const [key, value] of Object.entries<string>(values)) {
    if (value === (defaults[view] as Record<string, string>)[key]) continue
    if (value.length > maxLinkedText) leftOut.push(key)
    else query.set(key, value)
  }
  if (leftOut.length > 0) query.set(leftOutKey, leftOut.join(' '))
  // Commas and the like may stand in a hash as they are, and links are read by people.
  const text = query
    .toString()
    .replaceAll('%2C', ',')
    .replaceAll('%3A', ':')
    .replaceAll('%40', '@')
    .replaceAll('%2F', '/')
  return `#${view}${text === '' ? '' : `?${text}`}`
}

/**
 * Reads a hash. What it does not name gets its default; what was left out of it stays as it is.
 *
 * @returns undefined where the hash names no view
 */
export function readLink(
  hash: string,
  current: (view: View) => object,
): { view: View; values: object; leftOut: readonly string[] } | undefined {
  const [name, ...rest] = hash.replace(/^#/, '').split('?')
  if (!isView(name)) return undefined
  const query = new URLSearchParams(rest.join('?'))
  const leftOut = query.get(leftOutKey)?.split(' ') ?? []
  const kept = current(name) as Record<string, string>
  const values = Object.entries<string>(defaults[name]).map(([key, value]) => {
    return [key, query.get(key) ?? (leftOut.includes(key) ? kept[key] : value)]
  })
  return { view: name, values: Object.fromEntries(values), leftOut }
}

/** Whether a link carries the text. */
export function isLinkable(text: string): boolean {
  return text.length <= maxLinkedText
}

/** Whether something is missing in a link. */
export function isLeftOut(link: string): boolean {
  return link.includes(`${leftOutKey}=`)
}
