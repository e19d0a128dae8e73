import { setTimeout as sleep } from 'node:timers/promises'
import { engineOptions } from '../engine/choose.js'
import { startModes } from '../engine/engine.js'
import {
  createGenerator,
  type ErrorCode,
  type Field,
  type GeneratorOptions,
  type IdGenerator,
  type Layout,
} from '../index.js'
import { overflowActions, rollbackActions } from '../policy/policy.js'
import { type Arguments, helpFlag, quote, UsageError, wholeNumber } from './arguments.js'
import { type Format, formats, formatter } from './format.js'
import type { Manual } from './help.js'
import { withLease } from './next/leased.js'
import { nextNumbers, numberFlags } from './next/numbers.js'
import { type Ids, printIds } from './next/print.js'
import type { Output } from './output.js'
import { storeFlags } from './store.js'
import { layoutFlags, layoutsOf, nodeOf } from './values.js'

const flags = {
  count: { short: 'n', value: 'N', help: 'how many ids or numbers (1)' },
  node: {
    value: 'NODE',
    help: 'which node this is: 7, or datacenter=1,worker=7; else the variable GRAUPEL_NODE. Of a store: which one to lease, all fields of it or some (any)',
  },
  ...layoutFlags,
  layout: { ...layoutFlags.layout, help: 'how ids are made up (twitter)' },
  format: { value: 'FORMAT', choices: formats, help: 'how ids are written (decimal)' },
  namespace: { value: 'TEXT', help: 'ids of different namespaces may share a node (default)' },
  'on-rollback': { value: 'ACTION', choices: rollbackActions, help: 'when the clock stepped back (advance)' },
  'on-overflow': { value: 'ACTION', choices: overflowActions, help: 'when a tick is used up (wait)' },
  'max-ahead-ms': {
    value: 'MS',
    help: 'how far advance may count ahead of the clock (1000, or two ticks if that is more)',
  },
  'max-wait-ms': {
    value: 'MS',
    help: 'how long one wait may block (50, or two ticks if that is more; with --store 10000)',
  },
  'sequence-start': { value: 'START', choices: Object.keys(startModes), help: 'first sequence of a new tick (zero)' },
  clock: { value: 'CLOCK', choices: ['wall', 'steady'], help: 'which clock (wall)' },
  state: {
    value: 'STATE',
    help: 'where the last id is remembered: host, process, thread, or the path of a file (host)',
  },
  'window-ms': { value: 'MS', help: 'how much time a state file (900) or the store (6000) reserves at once' },
  ...storeFlags,
  store: { ...storeFlags.store, help: `lease a node from, or take numbers of, ${storeFlags.store.help}` },
  ...numberFlags,
  'acquire-timeout-ms': { value: 'MS', help: 'how long to wait for a free node of the store (30000)' },
  engine: { value: 'ENGINE', choices: engineOptions, help: 'which engine (auto)' },
  help: helpFlag,
} as const

export const nextManual: Manual = {
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
    'Commands that run at the same time may use one node. With --engine js the second',
    'one is refused there, and with --state process it may make equal ids: then each',
    'needs a node of its own. With --store each has one, leased for as long as the',
    'command runs: see graupel lease --help.',
    '--segment and --counter print numbers without time, which the store counts. As',
    'many are fetched as are printed. What --counter has counted is printed also',
    'when a signal ends the command: only a second signal, or a reader that is gone,',
    'leaves a gap.',
  ],
}

type NextArguments = Arguments<keyof typeof flags>

/** `graupel next`. */
export async function next({ values, positionals }: NextArguments, output: Output): Promise<void> {
  if (positionals.length > 0) {
    throw new UsageError(
      'ERR_OPTION_INVALID',
      `${quote(positionals[0] as string)} is not the value of a flag; the number of ids is given with -n`,
    )
  }
  const count = countOf(values.count)
  const format = (values.format ?? 'decimal') as Format
  if (format === 'bytes' && output.isTerminal) {
    throw new UsageError(
      'ERR_OPTION_INVALID',
      "--format bytes is not for a terminal; send it to a file or a pipe, or use '--format hex'",
    )
  }
  if (await nextNumbers(values, { count, format, output })) return
  const [layout] = layoutsOf({ layout: 'twitter', ...values }) as [Layout]
  const print = (generator: IdGenerator, signal?: AbortSignal) => {
    const write = formatter(format, (id) => partsOf(id, generator))
    // At most one tick's ids, so that they are written while the next tick comes.
    // A lease is renewed by this thread, so it must not be blocked while it waits for that.
    const make = (array: Ids) => (signal === undefined ? generator.fill(array) : generator.fillAsync(array))
    return printIds(make, 2 ** layout.sequence.bits, { count, write, output }, signal)
  }
  if (values.store !== undefined) {
    if (values.state !== undefined) {
      throw new UsageError('ERR_OPTION_INVALID', '--state is for a node that is not leased; leave it out, or --store')
    }
    return withLease({ ...values, store: values.store }, leaseOf(values, layout), generatorOf(values, layout), print)
  }
  for (const name of ['prefix', 'table', 'acquire-timeout-ms'] as const) {
    if (values[name] !== undefined) throw new UsageError('ERR_OPTION_INVALID', `--${name} is for --store; leave it out`)
  }
  using generator = open(values, layout)
  try {
    await print(generator)
  } finally {
    await untilPast(generator, layout)
  }
}

/**
 * Waits for the end of the last tick where no other process knows what this one issued: the same command, run again within
 * that tick, would begin with the same id.
 */
async function untilPast(generator: IdGenerator, { epochMs, tickMs }: Layout): Promise<void> {
  const { issued, aheadMs, state } = generator.stats()
  if (issued === 0 || (state !== 'process' && state !== 'thread')) return
  const inTickMs = (Date.now() - epochMs) % tickMs
  await sleep(aheadMs + tickMs - inTickMs)
}

function partsOf(id: bigint, generator: IdGenerator) {
  const { timestamp, timestampMs, node, fields, sequence } = generator.decode(id)
  return { id: id.toString(), timestamp, timestampMs, node, fields, sequence }
}

function countOf(text = '1'): number {
  const count = wholeNumber('--count', text)
  if (count < 0) throw new UsageError('ERR_OPTION_INVALID', `--count is ${count}; give 0 or more`)
  return count
}

type Values = NextArguments['values']

function millisecondsOf(values: Values, name: 'max-ahead-ms' | 'max-wait-ms' | 'window-ms' | 'acquire-timeout-ms') {
  const text = values[name]
  return text === undefined ? undefined : wholeNumber(`--${name}`, text)
}

/** What of the flags is for every generator. */
function generatorOf(values: Values, { tickMs }: Layout) {
  return {
    onRollback: values['on-rollback'],
    onOverflow: values['on-overflow'],
    maxAheadMs: millisecondsOf(values, 'max-ahead-ms'),
    // A tick may be longer than the library's 50 ms, and a command may wait for it, and for a store that is slow.
    maxWaitMs: millisecondsOf(values, 'max-wait-ms') ?? Math.max(values.store === undefined ? 50 : 10_000, 2 * tickMs),
    sequenceStart: values['sequence-start'],
    clock: values.clock,
    engine: values.engine,
  }
}

function leaseOf(values: Values, layout: Layout) {
  return {
    layout,
    namespace: values.namespace,
    node: values.node === undefined ? undefined : nodeOf(values.node),
    windowMs: millisecondsOf(values, 'window-ms'),
    acquireTimeoutMs: millisecondsOf(values, 'acquire-timeout-ms'),
  }
}

function open(values: Values, layout: Layout): IdGenerator {
  const options = {
    ...generatorOf(values, layout),
    node: values.node === undefined ? undefined : nodeOf(values.node),
    layout,
    namespace: values.namespace,
    state: values.state,
    windowMs: millisecondsOf(values, 'window-ms'),
  }
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
