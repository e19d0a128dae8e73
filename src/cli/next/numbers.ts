import { resets } from '../../counter/period.js'
import {
  type CounterOptions,
  createCounter,
  createSegmentGenerator,
  type SegmentGenerator,
} from '../../segments/index.js'
import { type Flag, UsageError } from '../arguments.js'
import { type Format, formatter } from '../format.js'
import { interruptible } from '../interrupt.js'
import type { Output } from '../output.js'
import { type OpenStore, type StoreValues, withStore } from '../store.js'
import { type Ids, maxInChunk, printIds, printParts } from './print.js'

/** The flags of numbers without time. */
export const numberFlags = {
  segment: { value: 'NAME', help: 'print numbers of segments with this name, in place of ids' },
  counter: { value: 'NAME', help: 'print consecutive numbers of the counter with this name' },
  pattern: {
    value: 'PATTERN',
    help: 'how the numbers of a counter are written, such as IN-{yyyy}-{count:6} ({count})',
  },
  reset: { value: 'PERIOD', choices: resets, help: 'when a counter begins anew (never)' },
  'time-zone': { value: 'ZONE', help: 'where its dates are from: UTC or an offset such as +08:00 (UTC)' },
} as const satisfies Record<string, Flag>

type Kind = 'segment' | 'counter'
type Values = { readonly [name in string]?: string }

interface Wanted {
  readonly count: number
  readonly format: Format
  readonly output: Output
}

/** What else each kind takes. */
const taken: Readonly<Record<Kind, readonly string[]>> = {
  segment: ['count', 'format'],
  counter: ['count', 'pattern', 'reset', 'time-zone'],
}
const takenByAll = ['store', 'prefix', 'table']

/** The most that are fetched at once, as the library has it: a multiple of what is printed at once. */
const maxStep = 2 ** 24
/** The most that are counted at once, by one write to the store. */
const maxCounted = 4096

/**
 * Prints numbers without time where the flags ask for them; `false` where they ask for ids.
 *
 * @throws UsageError for a flag that is not for them; what the library throws.
 */
export async function nextNumbers(values: Values, wanted: Wanted): Promise<boolean> {
  const kind = kindOf(values)
  if (kind === undefined) return false
  const { store, prefix, table } = values
  if (store === undefined) {
    throw new UsageError(
      'ERR_OPTION_INVALID',
      `--${kind} is for a store; give --store URL, such as redis://127.0.0.1:6379`,
    )
  }
  const place: StoreValues = { store, ...(prefix !== undefined && { prefix }), ...(table !== undefined && { table }) }
  await interruptible((signal) =>
    withStore(place, { mayMake: true, signal }, async (open) => {
      try {
        if (wanted.count > 0) await printers[kind](open, values, wanted, signal)
      } catch (error) {
        const { message } = Object(error)
        if (typeof message === 'string') (error as Error).message = message.replace(/^name\b/, `--${kind}`)
        throw error
      }
    }),
  )
  return true
}

/** @throws UsageError */
function kindOf(values: Values): Kind | undefined {
  const [kind, other] = (Object.keys(taken) as Kind[]).filter((name) => values[name] !== undefined)
  if (other !== undefined) throw notFor(other, `--${kind}`)
  const allowed = kind === undefined ? undefined : [kind, ...taken[kind], ...takenByAll]
  for (const name of Object.keys(values)) {
    if (allowed !== undefined && !allowed.includes(name)) throw notFor(name, `--${kind}`)
    if (kind === undefined && taken.counter.includes(name) && name !== 'count') {
      throw new UsageError('ERR_OPTION_INVALID', `--${name} is for --counter; leave it out`)
    }
  }
  return kind
}

function notFor(name: string, what: string): UsageError {
  return new UsageError('ERR_OPTION_INVALID', `--${name} is not for ${what}; leave it out`)
}

type Printer = (open: OpenStore, values: Values, wanted: Wanted, signal: AbortSignal) => Promise<void>

/** As many are fetched as are printed, so that none is wasted. */
const printSegment: Printer = async ({ store }, { segment: name = '' }, { count, format, output }, signal) => {
  let numbers: SegmentGenerator | undefined
  let unfetched = count
  let left = 0
  const write = formatter(format, (number) => ({ number: number.toString() }))
  const make = async (array: Ids) => {
    if (left === 0) {
      numbers?.close()
      // One segment for each generator, because the size and the time of the next are not the command's.
      left = Math.min(unfetched, maxStep)
      unfetched -= left
      numbers = await createSegmentGenerator({ store, name, step: left, maxStep, prefetchAt: 1, signal })
    }
    left -= array.length
    return (numbers as SegmentGenerator).fillAsync(array)
  }
  try {
    await printIds(make, maxInChunk, { count, write, output }, signal)
  } finally {
    numbers?.close()
  }
}

/** What was counted is printed, also where a signal ends the command meanwhile: else it would be missing. */
const printCounts: Printer = async ({ store }, values, { count, output }, signal) => {
  const { counter: name = '', pattern, reset, 'time-zone': timeZone } = values
  // The library checks whether the text of the flags is what the types say.
  using counter = await createCounter({ store, name, pattern, reset, timeZone, signal } as CounterOptions)
  await printParts(count, output, async (left) => {
    if (signal.aborted) return undefined
    const texts = await counter.take(Math.min(left, maxCounted))
    return (await output.write(`${texts.join('\n')}\n`)) ? texts.length : undefined
  })
}

const printers: Readonly<Record<Kind, Printer>> = { segment: printSegment, counter: printCounts }
