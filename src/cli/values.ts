import { defineLayout, type Field, type Layout, layouts } from '../index.js'
import { type Flag, quote, UsageError } from './arguments.js'
import { momentOf } from './moment.js'

/** The flags that say how an id is made up; `next`, `inspect` and `overlap` have them. */
export const layoutFlags = {
  layout: { value: 'NAME', choices: Object.keys(layouts), help: 'how ids are made up' },
  epoch: {
    value: 'TIME',
    help: "the time of timestamp 0, instead of the layout's own: 2020-01-01, 2020-01-01T00:00:00Z, or milliseconds since 1970",
  },
} as const satisfies Record<string, Flag>

type Name = keyof typeof layouts
type LayoutValues = { readonly layout?: string; readonly epoch?: string }

/** The preset that the flags name; all of them where they name none. @throws UsageError, RangeError `ERR_EPOCH_INVALID` */
export function layoutsOf({ layout, epoch }: LayoutValues): readonly Layout[] {
  const names = layout === undefined ? (Object.keys(layouts) as Name[]) : [layout as Name]
  if (epoch === undefined) return names.map((name) => layouts[name])
  const epochMs = momentOf('--epoch', epoch)
  return names.map((name) => defineLayout<readonly Field[]>({ ...(layouts[name] as Layout), epochMs }))
}

/**
 * A node as typed: `7`, or `datacenter=1,worker=7`. The library checks whether it fits the layout.
 *
 * @throws UsageError `ERR_NODE_INVALID`
 */
export function nodeOf(text: string): number | Record<string, number> {
  if (!text.includes('=')) return part(text, text)
  const fields: Record<string, number> = {}
  for (const piece of text.split(',')) {
    const [name, value, ...rest] = piece.split('=')
    if (!name || value === undefined || rest.length > 0) throw unreadable(text)
    if (Object.hasOwn(fields, name)) {
      throw new UsageError('ERR_NODE_INVALID', `--node is ${quote(text)}, which has ${quote(name)} twice; give it once`)
    }
    fields[name] = part(value, text)
  }
  return fields
}

function part(digits: string, text: string): number {
  if (!/^(0|[1-9][0-9]*)$/.test(digits)) throw unreadable(text)
  return Number(digits)
}

function unreadable(text: string): UsageError {
  return new UsageError(
    'ERR_NODE_INVALID',
    `--node is ${quote(text)}; give a whole number such as 7, or one for each field such as datacenter=1,worker=7`,
  )
}
