/**
 * What can be typed and chosen in each view, and what stands there at first. All of it is text, so that also what is wrong is
 * kept, and can stand in a link.
 */
export const defaults = {
  parse: { ids: '', encoding: '', layout: '', epoch: '', row: '' },
  generate: { layout: 'twitter', epoch: '', node: '', time: '', count: '10', format: 'decimal' },
  design: {
    name: 'orders',
    epoch: '2024-01-01',
    tick: '1',
    unsigned: '',
    fields: 'timestamp.41,region.4,worker.6,sequence.12',
  },
  compare: { old: 'leaf', oldEpoch: '', new: 'wide', newEpoch: '', largest: '', oldIds: '', newIds: '', encoding: '' },
} as const

export type View = keyof typeof defaults
export type Values<V extends View> = { [K in keyof (typeof defaults)[V]]: string }
export type AllValues = { [V in View]: Values<V> }

/** The fields that take ids, and so also more of them than a text field can hold. */
export type IdsField = 'parse.ids' | 'compare.oldIds' | 'compare.newIds'

export const views = Object.keys(defaults) as View[]

export function defaultValues(): AllValues {
  return structuredClone(defaults)
}

export function isView(text: string | undefined): text is View {
  return text !== undefined && Object.hasOwn(defaults, text)
}
