import { namedNumbers, plainNumber } from '../core/plain-numbers.js'
import { defineLayout, type ErrorCode, encodings, type Field, type Layout, layouts } from '../index.js'
import { checkTags, refuseSeconds } from '../layout/index.js'
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
  fields: {
    value: 'FIELDS',
    help: "the fields of a layout of your own, with --epoch instead of --layout: 'timestamp 41, worker 8, shard 6 tag, sequence 8'",
  },
  'tick-ms': { value: 'MS', help: 'the length of a tick of --fields, in milliseconds; 1 without it' },
} as const satisfies Record<string, Flag>

type Name = keyof typeof layouts
type LayoutValues = { readonly [name in keyof typeof layoutFlags]?: string }

/** The flag of a command that makes ids. */
export const tagFlag = {
  value: 'TAGS',
  help: 'the tags of the ids, if their layout has tags: shard=5, or shard=5,tenant=2',
} as const satisfies Flag

/** Whether the flags choose one layout. */
export function isLayoutGiven({ layout, fields }: LayoutValues): boolean {
  return layout !== undefined || fields !== undefined
}

/**
 * Returns the layout that the flags choose, or twitter.
 *
 * @throws as {@link readLayouts}
 */
export function readLayout(values: LayoutValues): Layout {
  const [layout] = readLayouts(isLayoutGiven(values) ? values : { ...values, layout: 'twitter' })
  return layout as Layout
}

/**
 * Returns the layout that the flags choose, or all presets if the flags choose none.
 *
 * @throws UsageError, RangeError `ERR_EPOCH_INVALID`; UsageError `ERR_OPTION_INVALID`; UsageError, RangeError
 * `ERR_LAYOUT_INVALID`
 */
export function readLayouts({ layout, epoch, fields, 'tick-ms': tick }: LayoutValues): readonly Layout[] {
  if (fields !== undefined) {
    if (layout !== undefined) {
      throw new UsageError('ERR_OPTION_INVALID', '--fields is a layout, and --layout is given, too; leave one out')
    }
    if (epoch === undefined) {
      throw new UsageError(
        'ERR_EPOCH_INVALID',
        '--fields has no epoch, and other epochs make other times; give --epoch, such as --epoch 2024-01-01',
      )
    }
    return [ownLayout(fields, readEpoch(epoch), wholeNumber('--tick-ms', tick ?? '1', 'ERR_LAYOUT_INVALID'))]
  }
  if (tick !== undefined) {
    throw new UsageError('ERR_OPTION_INVALID', '--tick-ms is for --fields; give both, or leave --tick-ms out')
  }
  const names = layout === undefined ? (Object.keys(layouts) as Name[]) : [layout as Name]
  if (epoch === undefined) return names.map((name) => layouts[name])
  const epochMs = readEpoch(epoch)
  return names.map((name) => defineLayout<readonly Field[]>({ ...(layouts[name] as Layout), epochMs }))
}

/** Reads `--epoch`. @throws UsageError, RangeError `ERR_EPOCH_INVALID` */
function readEpoch(text: string): number {
  const epochMs = readMoment('--epoch', text)
  refuseSeconds(epochMs)
  return epochMs
}

/** Makes a layout of the text that `fieldsText` writes. */
function ownLayout(text: string, epochMs: number, tickMs: number): Layout {
  const fields = text.split(',').map((field) => {
    const [, name, bits, role] = /^\s*(\S+)\s+(\d{1,3})(?:\s+(\S+))?\s*$/.exec(field) ?? []
    if (name === undefined) {
      throw new UsageError(
        'ERR_LAYOUT_INVALID',
        `--fields has ${quote(field.trim())}; give each field as its name, its bits and, if it is a tag, its role: 'timestamp 41, worker 8, shard 6 tag, sequence 8'`,
      )
    }
    return role === undefined ? [name, Number(bits)] : [name, Number(bits), role]
  })
  // Only an unsigned integer holds 64 bits, so no flag has to say it.
  const unsigned = fields.reduce((sum, [, bits]) => sum + (bits as number), 0) === 64
  // The library checks the names, the bits and the roles.
  return defineLayout({ name: 'own', epochMs, tickMs, unsigned, fields: fields as unknown as readonly Field[] })
}

/**
 * Returns the values of all tags of a layout. @param text - The value of `--tag`.
 *
 * @throws UsageError, TypeError, RangeError `ERR_OPTION_INVALID`
 */
export function chooseTags(layout: Layout, text: string | undefined): Readonly<Record<string, number>> {
  const given = text === undefined ? {} : readTags(text)
  const missing = layout.tagFields.find(({ name, isRequired }) => isRequired && !Object.hasOwn(given, name))
  if (missing !== undefined) {
    throw new UsageError(
      'ERR_OPTION_INVALID',
      `the tag '${missing.name}' has no default, and there is no value for it; give one, such as --tag ${missing.name}=0`,
    )
  }
  return checkingTags(() => checkTags(layout, given, '--tag'))
}

/**
 * Runs work that checks tags. An error names the tag as its option, and a tag may have the name of a flag.
 *
 * @throws UsageError without the option
 */
export function checkingTags<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    const { code, message } = error as UsageError
    if (code === undefined) throw error
    throw new UsageError(code, message)
  }
}

/**
 * Reads tags: `shard=5,tenant=2`. The library checks whether they fit the layout.
 *
 * @throws UsageError `ERR_OPTION_INVALID`
 */
export function readTags(text: string): Record<string, number> {
  const wanted = 'a whole number for each tag, such as shard=5,tenant=2'
  return namedNumbers(text, refusal('ERR_OPTION_INVALID', '--tag', text, wanted))
}

/**
 * Reads a node: `7`, or `datacenter=1,worker=7`. The library checks whether it fits the layout.
 *
 * @throws UsageError `ERR_NODE_INVALID`
 */
export function readNode(text: string): number | Record<string, number> {
  const refuse = refusal(
    'ERR_NODE_INVALID',
    '--node',
    text,
    'a whole number such as 7, or one for each field such as datacenter=1,worker=7',
  )
  if (text.includes('=')) return namedNumbers(text, refuse)
  const node = plainNumber(text)
  if (node === undefined) throw refuse(undefined)
  return node
}

/** Returns the function that makes the error for numbers which cannot be read. */
function refusal(code: ErrorCode, flag: string, text: string, wanted: string) {
  return (twice: string | undefined) =>
    new UsageError(
      code,
      twice === undefined
        ? `${flag} is ${quote(text)}; give ${wanted}`
        : `${flag} is ${quote(text)}, which has ${quote(twice)} twice; give it once`,
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
export function readMoment(flag: string, text: string): number {
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
