import { counterRows } from '../counter/options.js'
import { type CounterOptions, createCounter, createSegmentGenerator, type SegmentGenerator } from '../segments/index.js'
import { type Flag, flagFor, messageOf, UsageError } from './arguments.js'
import { interruptible } from './interrupt.js'
import { type Format, formatter, type Ids, maxInChunk, printIds, printParts } from './next-print.js'
import type { Output } from './output.js'
import { type OpenStore, type StoreValues, withStore } from './store.js'

/** The flags of numbers without time. */
export const numberFlags = {
  segment: { value: 'NAME', help: 'print numbers of segments with this name, instead of ids' },
  counter: { value: 'NAME', help: 'print consecutive numbers of the counter with this name' },
  pattern: {
    value: 'PATTERN',
    help: 'how the numbers of a counter are written, such as IN-{yyyy}-{count:6} ({count})',
  },
  reset: flagFor(counterRows.reset, 'PERIOD', 'when a counter begins again'),
  'time-zone': flagFor(counterRows.timeZone, 'ZONE', 'the zone of its dates: UTC, or an offset such as +08:00'),
} as const satisfies Record<string, Flag>

type Kind = 'segment' | 'counter'
type Values = { readonly [name in string]?: string }

interface Wanted {
  readonly count: number
  readonly format: Format
  readonly output: Output
}

/** The other flags that each kind takes. */
const flagsOfKind: Readonly<Record<Kind, readonly string[]>> = {
  segment: ['count', 'format'],
  counter: ['count', 'pattern', 'reset', 'time-zone'],
}
const storeFlagNames = ['store', 'prefix', 'table']

/** The largest segment that the library fetches at once. */
const maxStep = 2 ** 24
/** The most numbers that one write to the store counts. */
const maxCounted = 4096

/**
 * Prints numbers without time if the flags ask for them, and returns `false` if the flags ask for ids.
 *
 * @throws UsageError for a flag of ids; what the library throws.
 */
export async function nextNumbers(values: Values, wanted: Wanted): Promise<boolean> {
  const kind = chooseKind(values)
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
        // The flag has another name than the option.
        if (Object(error).option === 'name')
          throw new UsageError(Object(error).code, messageOf(Object(error), `--${kind}`))
        throw error
      }
    }),
  )
  return true
}

/** @throws UsageError */
function chooseKind(values: Values): Kind | undefined {
  const [kind, other] = (Object.keys(flagsOfKind) as Kind[]).filter((name) => values[name] !== undefined)
  if (other !== undefined) throw notFor(other, `--${kind}`)
  const allowed = kind === undefined ? undefined : [kind, ...flagsOfKind[kind], ...storeFlagNames]
  for (const name of Object.keys(values)) {
    if (allowed !== undefined && !allowed.includes(name)) throw notFor(name, `--${kind}`)
    if (kind === undefined && flagsOfKind.counter.includes(name) && name !== 'count') {
      throw new UsageError('ERR_OPTION_INVALID', `--${name} is for --counter; leave it out`)
    }
  }
  return kind
}

function notFor(name: string, what: string): UsageError {
  return new UsageError('ERR_OPTION_INVALID', `--${name} is not for ${what}; leave it out`)
}

type Printer = (open: OpenStore, values: Values, wanted: Wanted, signal: AbortSignal) => Promise<void>

/** Fetches exactly the numbers that it prints, so that none is wasted. */
const printSegment: Printer = async ({ store }, { segment: name = '' }, { count, format, output }, signal) => {
  let numbers: SegmentGenerator | undefined
  let unfetched = count
  let left = 0
  const write = formatter(format, (number) => ({ number: number.toString() }))
  const make = async (array: Ids) => {
    if (left === 0) {
      numbers?.close()
      // A generator chooses the size and the time of its second segment itself, so each generator fetches a
      // single segment.
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

/** Prints the numbers already counted even if a signal ends the command, so that none is lost. */
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
