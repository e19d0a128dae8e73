import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { setTimeout as sleep } from 'node:timers/promises'
import { generatorRows } from '../generator/options.js'
import {
  createGenerator,
  type ErrorCode,
  type Field,
  type GeneratorOptions,
  type IdGenerator,
  type Layout,
  type LeaseEvent,
} from '../index.js'
import { acquireLease, type LeaseOptions } from '../lease/index.js'
import { leaseRows } from '../lease/options.js'
import { type Arguments, flagFor, helpFlag, type Manual, quote, UsageError } from './arguments.js'
import { chooseText, textFlags } from './id-texts.js'
import { interruptible } from './interrupt.js'
import { nextNumbers, numberFlags } from './next-numbers.js'
import { type Format, formats, formatter, type Ids, lines, printIds } from './next-print.js'
import { isDumb, type Output, timeText } from './output.js'
import { type Terminal, WaitLine } from './progress.js'
import { type OpenStore, storeFlags, withStore } from './store.js'
import { chooseTags, layoutFlags, readLayout, readNode, tagFlag, wholeNumber } from './values.js'

const flags = {
  count: { short: 'n', value: 'N', help: 'how many ids or numbers (1)' },
  node: {
    value: 'NODE',
    help: 'the node of this process: 7, or datacenter=1,worker=7 (the variable GRAUPEL_NODE). With --store, the node to lease, or some of its fields (any)',
  },
  ...layoutFlags,
  layout: { ...layoutFlags.layout, help: 'how ids are made up (twitter)' },
  tag: tagFlag,
  format: { value: 'FORMAT', choices: formats, help: 'how ids are written (decimal)' },
  ...textFlags,
  namespace: flagFor(generatorRows.namespace, 'TEXT', 'ids of different namespaces may share a node'),
  'on-rollback': flagFor(generatorRows.onRollback, 'ACTION', 'when the clock stepped back'),
  'on-overflow': flagFor(generatorRows.onOverflow, 'ACTION', 'when a tick is used up'),
  'max-ahead-ms': {
    value: 'MS',
    help: 'how far advance may count ahead of the clock (1000, or two ticks if that is more)',
  },
  'max-wait-ms': {
    value: 'MS',
    help: 'how long one wait may block (50, or two ticks if that is more; with --store 10000)',
  },
  'sequence-start': flagFor(generatorRows.sequenceStart, 'START', 'first sequence of a new tick'),
  clock: flagFor(generatorRows.clock, 'CLOCK', 'which clock'),
  state: {
    value: 'STATE',
    help: 'where the last id is remembered: host, process, thread, or the path of a file (host)',
  },
  'open-timeout-ms': {
    value: 'MS',
    help: 'how long to wait for a locked state file, or the first tick (1000, or two ticks if that is more)',
  },
  'reserve-ms': flagFor(generatorRows.reserveMs, 'MS', 'how far ahead a state file reserves time'),
  ...storeFlags,
  store: { ...storeFlags.store, help: `lease a node from, or take numbers of, ${storeFlags.store.help}` },
  ...numberFlags,
  'acquire-timeout-ms': flagFor(leaseRows.acquireTimeoutMs, 'MS', 'how long to wait for a free node of the store'),
  'window-ms': flagFor(leaseRows.windowMs, 'MS', 'how long a lease lasts after a renewal'),
  engine: flagFor(generatorRows.engine, 'ENGINE', 'which engine'),
  help: helpFlag,
} as const

export const nextManual: Manual<typeof flags> = {
  name: 'next',
  usage: [
    'graupel next [-n N] --node NODE [flags]',
    'graupel next [-n N] --store URL [flags]',
    'graupel next [-n N] --segment NAME --store URL [--format FORMAT]',
    'graupel next [-n N] --counter NAME --store URL [--pattern PATTERN]',
  ].join('\n'),
  summary: 'Make ids, or numbers of a store, and print them, one a line.',
  flags,
  notes: [
    'bytes are written without line ends, 8 for each id. json is one object a line.',
    'UUIDs and texts of a kind take the slots of ids: no two are equal, in any form.',
    'Commands that run at the same time may use one node. With --engine js the second',
    'one is refused, and with --state process it may make equal ids: give each a node',
    'of its own. With --store, each command leases a node for as long as it runs: see',
    'graupel lease --help.',
    '--segment and --counter print numbers without time, which the store counts. As',
    'many are fetched as are printed. Numbers that --counter has counted are printed',
    'even if a signal ends the command. Only a second signal, or a reader that is',
    'gone, leaves a gap.',
  ],
}

type NextArguments = Arguments<keyof typeof flags>
type Values = NextArguments['values']

/** Prints ids, until the signal is aborted. */
type Print = (generator: IdGenerator, signal?: AbortSignal) => Promise<void>

/** `graupel next`. */
export async function next({ values, positionals }: NextArguments, output: Output): Promise<void> {
  if (positionals.length > 0) {
    throw new UsageError(
      'ERR_OPTION_INVALID',
      `${quote(positionals[0] as string)} is not the value of a flag; the number of ids is given with -n`,
    )
  }
  const count = wholeNumber('--count', values.count ?? '1')
  if (count < 0) throw new UsageError('ERR_OPTION_INVALID', `--count is ${count}; give 0 or more`)
  const format = (values.format ?? 'decimal') as Format
  if (format === 'bytes' && output.isTerminal) {
    throw new UsageError(
      'ERR_OPTION_INVALID',
      "--format bytes is not for a terminal; send it to a file or a pipe, or use '--format hex'",
    )
  }
  if (await nextNumbers(values, { count, format, output })) return
  const layout = readLayout(values)
  const tags = chooseTags(layout, values.tag)
  const text = chooseText(values, layout)
  const print: Print = (generator, signal) => {
    const write =
      text === undefined
        ? formatter(format, (id) => {
            const { timestamp, timestampMs, node, fields, sequence, tags } = generator.decode(id)
            return { id: id.toString(), timestamp, timestampMs, node, fields, sequence, tags }
          })
        : lines(text)
    // This thread renews the lease, so nothing may block it.
    const ids = layout.tagFields.length === 0 ? generator : viewOf(generator, tags)
    const make = (array: Ids) => (signal === undefined ? ids.fill(array) : ids.fillAsync(array))
    // At most the ids of one tick, so that they are written while the next tick comes.
    return printIds(make, 2 ** layout.sequence.bits, { count, write, output }, signal)
  }
  if (values.store === undefined) await printOwn(values, layout, print)
  else await printLeased({ ...values, store: values.store }, layout, print, output)
}

function viewOf(generator: IdGenerator, tags: object): IdGenerator {
  return (generator as unknown as { with(tags: object): IdGenerator }).with(tags)
}

/** Prints ids of a node that the operator has chosen. */
async function printOwn(values: Values, layout: Layout, print: Print): Promise<void> {
  for (const name of ['prefix', 'table', 'acquire-timeout-ms'] as const) {
    if (values[name] !== undefined) throw new UsageError('ERR_OPTION_INVALID', `--${name} is for --store; leave it out`)
  }
  if (values['window-ms'] !== undefined) {
    throw new UsageError('ERR_OPTION_INVALID', '--window-ms is for --store; for a state file give --reserve-ms')
  }
  const state = {
    state: values.state,
    openTimeoutMs:
      readMilliseconds(values, 'open-timeout-ms') ?? Math.min(86_400_000, Math.max(1000, 2 * layout.tickMs)),
    reserveMs: readMilliseconds(values, 'reserve-ms'),
  }
  using generator = open({ ...generatorOf(values, layout), ...idsOf(values, layout), ...state }, layout)
  try {
    await print(generator)
  } finally {
    await untilPast(generator, layout)
  }
}

function open(options: object, layout: Layout): IdGenerator {
  try {
    // The library checks whether the text of the flags is what the types say.
    return createGenerator(options as GeneratorOptions<readonly Field[]>)
  } catch (error) {
    if ((error as { code?: ErrorCode }).code !== 'ERR_NODE_REQUIRED') throw error
    throw new UsageError(
      'ERR_NODE_REQUIRED',
      `no node was given, and two hosts with the same node make the same ids; give --node with a number from 0 to ${layout.nodes - 1} that no other host uses, or --store to lease one, or set GRAUPEL_NODE`,
    )
  }
}

/**
 * Waits for the end of the last tick, unless the state outlives this process. The same command, run again
 * within that tick, would begin with the same id.
 */
async function untilPast(generator: IdGenerator, { epochMs, tickMs }: Layout): Promise<void> {
  const { issued, aheadMs, state } = generator.stats()
  if (issued === 0 || (state !== 'process' && state !== 'thread')) return
  const inTickMs = (Date.now() - epochMs) % tickMs
  await sleep(aheadMs + tickMs - inTickMs)
}

/** Leases a node, prints ids of it, and gives it back, even if a signal ends the command. */
function printLeased(
  values: Values & { readonly store: string },
  layout: Layout,
  print: Print,
  { stderr }: Output,
): Promise<void> {
  for (const name of ['state', 'open-timeout-ms', 'reserve-ms'] as const) {
    if (values[name] === undefined) continue
    const message = `--${name} is for a node that is not leased; leave out --${name} or --store`
    throw new UsageError('ERR_OPTION_INVALID', message)
  }
  const choice = {
    ...idsOf(values, layout),
    windowMs: readMilliseconds(values, 'window-ms'),
    acquireTimeoutMs: readMilliseconds(values, 'acquire-timeout-ms'),
  }
  const options = generatorOf(values, layout)
  return interruptible((signal) =>
    withStore(values, { mayMake: true, signal }, async (open) => {
      const lease = await acquire(open, choice, signal, stderr)
      try {
        using generator = createGenerator({ ...options, lease } as GeneratorOptions<readonly Field[]>)
        await print(generator as IdGenerator, signal)
      } finally {
        await release(lease, open)
      }
    }),
  )
}

async function acquire({ store }: OpenStore, choice: object, signal: AbortSignal, stderr: Terminal) {
  using _line = new WaitLine(isDumb() ? undefined : stderr, store)
  return await acquireLease({ ...choice, store, signal } as LeaseOptions)
}

/** Releases the lease. Warns if the store cannot be told. */
async function release(lease: Awaited<ReturnType<typeof acquire>>, { hide }: OpenStore): Promise<void> {
  const listen = (message: unknown) => {
    const { type, node, ceilingMs, error } = message as LeaseEvent
    if (type !== 'released' || error === undefined) return
    const freeAt = timeText(ceilingMs as number)
    process.emitWarning(`node ${node} was not released, and is free after ${freeAt}: ${hide(error)}`)
  }
  subscribe('graupel:lease', listen)
  await lease.release()
  unsubscribe('graupel:lease', listen)
}

/** Returns the options that generators and leases have in common. */
function idsOf(values: Values, layout: Layout) {
  return {
    layout,
    namespace: values.namespace,
    node: values.node === undefined ? undefined : readNode(values.node),
  }
}

/** Returns the options that a generator has with a lease and without. */
function generatorOf(values: Values, { tickMs }: Layout) {
  return {
    onRollback: values['on-rollback'],
    onOverflow: values['on-overflow'],
    maxAheadMs: readMilliseconds(values, 'max-ahead-ms'),
    // A tick may be longer than the library's 50 ms. A command may wait for a tick, and for a slow store.
    maxWaitMs:
      readMilliseconds(values, 'max-wait-ms') ?? Math.max(values.store === undefined ? 50 : 10_000, 2 * tickMs),
    sequenceStart: values['sequence-start'],
    clock: values.clock,
    engine: values.engine,
  }
}

function readMilliseconds(values: Values, name: keyof Values & `${string}-ms`) {
  const text = values[name]
  return text === undefined ? undefined : wholeNumber(`--${name}`, text)
}
