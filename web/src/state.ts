/**
 * The values of each view, with their defaults. All values are texts, so a wrong value is kept as it was
 * typed, and a link can have it.
 */
export const defaults = {
  parse: { ids: '', encoding: '', column: '', layout: '', epoch: '', row: '' },
  generate: { layout: 'twitter', epoch: '', node: '', tags: '', time: '', count: '10', format: 'decimal' },
  design: {
    name: 'orders',
    epoch: '2024-01-01',
    tick: '1',
    unsigned: '',
    fields: 'timestamp.41,region.4,worker.6,sequence.12',
  },
  compare: { old: 'leaf', oldEpoch: '', new: 'wide', newEpoch: '', largest: '', oldIds: '', newIds: '', encoding: '' },
  learn: { id: '', layout: 'twitter', language: 'JavaScript' },
} as const

export type View = keyof typeof defaults
export type Values<V extends View> = { [K in keyof (typeof defaults)[V]]: string }
export type AllValues = { [V in View]: Values<V> }

/** The fields for ids, which take more ids than a text field can hold. */
export type IdsField = 'parse.ids' | 'compare.oldIds' | 'compare.newIds'

export const views = Object.keys(defaults) as View[]

export function defaultValues(): AllValues {
  return structuredClone(defaults)
}

function isView(text: string | undefined): text is View {
  return text !== undefined && Object.hasOwn(defaults, text)
}

/** Links leave longer texts out, because programs cut long links off. */
const maxLinkedText = 6000

/** The parameter that names the texts that are too long for the link. */
const leftOutKey = 'left-out'

/**
 * Returns the hash for a view and its values that differ from the defaults: `#parse?ids=1541815603606036480`.
 *
 * @param attached - Keys of values that are too large for a text field.
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
  // A hash may contain these characters, and people read links.
  const text = query
    .toString()
    .replaceAll('%2C', ',')
    .replaceAll('%3A', ':')
    .replaceAll('%40', '@')
    .replaceAll('%2F', '/')
    .replaceAll('%3F', '?')
  return `#${view}${text === '' ? '' : `?${text}`}`
}

/**
 * Reads a hash. A value that it does not name gets its default.
 *
 * @param current - Returns the values of a view, for those that the hash leaves out.
 * @returns undefined if the hash names no view
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

/** Tells whether a link can have the text. */
export function isLinkable(text: string): boolean {
  return text.length <= maxLinkedText
}

/** Tells whether a link leaves a text out. */
export function isLeftOut(link: string): boolean {
  return link.includes(`${leftOutKey}=`)
}
