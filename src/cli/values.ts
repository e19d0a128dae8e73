import { defineLayout, type ErrorCode, encodings, type Field, type Layout, layouts } from '../index.js'
import { type Flag, quote, UsageError } from './arguments.js'

/** The encodings that a terminal and a line of a file can hold. */
export const textEncodings = encodings.filter((encoding) => encoding !== 'bytes')

/** The flags that say how an id is made up. */
export const layoutFlags = {
  layout: { value: 'NAME', choices: Object.keys(layouts), help: 'how ids are made up' },
  epoch: {
    value: 'TIME',
    help: "the time of timestamp 0, instead of the layout's own: 2020-01-01, 2020-01-01T00:00:00Z, or milliseconds since 1970",
  },
} as const satisfies Record<string, Flag>

type Name = keyof typeof layouts
type LayoutValues = { readonly layout?: string; readonly epoch?: string }

/**
 * Returns the preset that the flags name, or all presets if the flags name none.
 *
 * @throws UsageError, RangeError `ERR_EPOCH_INVALID`
 */
export function layoutsOf({ layout, epoch }: LayoutValues): readonly Layout[] {
  const names = layout === undefined ? (Object.keys(layouts) as Name[]) : [layout as Name]
  if (epoch === undefined) return names.map((name) => layouts[name])
  const epochMs = momentOf('--epoch', epoch)
  return names.map((name) => defineLayout<readonly Field[]>({ ...(layouts[name] as Layout), epochMs }))
}

/**
 * Reads a node: `7`, or `datacenter=1,worker=7`. The library checks whether it fits the layout.
 *
 * @throws UsageError `ERR_NODE_INVALID`
 */
export function nodeOf(text: string): number | Record<string, number> {
  if (!text.includes('=')) return fieldOf(text, text)
  const fields: Record<string, number> = {}
  for (const piece of text.split(',')) {
    const [name, value, ...rest] = piece.split('=')
    if (!name || value === undefined || rest.length > 0) throw unreadableNode(text)
    if (Object.hasOwn(fields, name)) {
      throw new UsageError('ERR_NODE_INVALID', `--node is ${quote(text)}, which has ${quote(name)} twice; give it once`)
    }
    fields[name] = fieldOf(value, text)
  }
  return fields
}

function fieldOf(digits: string, node: string): number {
  if (!/^(0|[1-9][0-9]*)$/.test(digits)) throw unreadableNode(node)
  return Number(digits)
}

function unreadableNode(text: string): UsageError {
  return new UsageError(
    'ERR_NODE_INVALID',
    `--node is ${quote(text)}; give a whole number such as 7, or one for each field such as datacenter=1,worker=7`,
  )
}

/**
 * Reads a whole number in plain digits.
 *
 * @throws UsageError with the code, unless a JavaScript number holds it exactly
 */
export function wholeNumber(flag: string, text: string, code: ErrorCode = 'ERR_OPTION_INVALID'): number {
  if (!/^(0|-?[1-9][0-9]*)$/.test(text)) {
    throw new UsageError(code, `${flag} is ${quote(text)}; give a whole number in digits, such as 1000`)
  }
  const number = Number(text)
  if (!Number.isSafeInteger(number)) {
    const { MAX_SAFE_INTEGER: max, MIN_SAFE_INTEGER: min } = Number
    throw new UsageError(code, `${flag} is ${text}; give ${number > 0 ? `at most ${max}` : `at least ${min}`}`)
  }
  return number
}

const moments = 'give a day such as 2020-01-01, a time such as 2020-01-01T00:00:00Z, or milliseconds since 1970'

/**
 * Reads a moment, in milliseconds since 1970: a day of UTC, an ISO time with its zone, or the milliseconds.
 *
 * @throws UsageError `ERR_EPOCH_INVALID`, also for a text with two meanings: a year, a day without dashes, a
 * time without a zone
 */
export function momentOf(flag: string, text: string): number {
  const refuse = (fault: string) => new UsageError('ERR_EPOCH_INVALID', `${flag} is ${quote(text)}${fault}`)
  if (/^[12]\d{3}$/.test(text)) throw refuse(`, which may be a year or milliseconds; ${moments}`)
  if (/^[12]\d{3}[01]\d[0-3]\d$/.test(text)) throw refuse(`, which may be a day or milliseconds; ${moments}`)
  if (/^[+-]?[0-9]+$/.test(text)) return wholeNumber(flag, text, 'ERR_EPOCH_INVALID')
  const [, day, time, zone] =
    /^(\d{4}-\d\d-\d\d)(?:[Tt](\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)([Zz]|[+-]\d\d:\d\d)?)?$/.exec(text) ?? []
  if (day === undefined) throw refuse(`; ${moments}`)
  if (time !== undefined && zone === undefined) {
    throw refuse(', a time without a zone; add Z for UTC, or an offset such as +08:00')
  }
  const dayMs = Date.parse(`${day}T00:00:00Z`)
  const ms = time === undefined ? dayMs : Date.parse(`${day}T${time}${zone?.toUpperCase()}`)
  // Date.parse() reads 30 February as 1 March, and 24:00 as the next day.
  const isDay = !Number.isNaN(dayMs) && new Date(dayMs).toISOString().startsWith(day)
  if (!isDay || Number.isNaN(ms) || time?.startsWith('24'))
    throw refuse(', which no calendar or clock shows; correct it')
  return ms
}
