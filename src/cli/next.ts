import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises'
import {
  createGenerator,
  type EngineOption,
  type ErrorCode,
  type Field,
  type GeneratorOptions,
  type IdGenerator,
  type Layout,
  type OverflowAction,
  type RollbackAction,
  type SequenceStartMode,
} from '../index.js'
import { type Arguments, helpFlag, quote, UsageError, wholeNumber } from './arguments.js'
import { type Format, formats, formatter } from './format.js'
import type { Manual } from './help.js'
import type { Output } from './output.js'
import { isDumb } from './paint.js'
import { Progress } from './progress.js'
import { layoutFlags, layoutsOf, nodeOf } from './values.js'

const rollbackActions = ['throw', 'wait', 'advance', 'reuse'] satisfies RollbackAction[]
const overflowActions = ['wait', 'advance', 'throw'] satisfies OverflowAction[]
const sequenceStarts = ['zero', 'random', 'rotate'] satisfies SequenceStartMode[]
const engines = ['auto', 'native', 'js'] satisfies EngineOption[]

const flags = {
  count: { short: 'n', value: 'N', help: 'how many ids (1)' },
  node: { value: 'NODE', help: 'which node this is: 7, or datacenter=1,worker=7; else the variable GRAUPEL_NODE' },
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
    help: 'how long one wait for the next tick may take (here 50, or two ticks if that is more)',
  },
  'sequence-start': { value: 'START', choices: sequenceStarts, help: 'first sequence of a new tick (zero)' },
  clock: { value: 'CLOCK', choices: ['wall', 'steady'], help: 'which clock (wall)' },
  state: {
    value: 'STATE',
    help: 'where the last id is remembered: host, process, thread, or the path of a file (host)',
  },
  'window-ms': { value: 'MS', help: 'how far ids may be ahead of what the file says (900)' },
  engine: { value: 'ENGINE', choices: engines, help: 'which engine (auto)' },
  help: helpFlag,
} as const

export const nextManual: Manual = {
  name: 'next',
  usage: 'graupel next [-n N] --node NODE [flags]',
  summary: 'Make ids and print them, one a line.',
  flags,
  notes: [
    'bytes are written without line ends, 8 for each id. json is one object a line.',
    'Commands that run at the same time may use one node. With --engine js the second',
    'one is refused there, and with --state process it may make equal ids: then each',
    'needs a node of its own.',
  ],
}

type NextArguments = Arguments<keyof typeof flags>

/** The most ids made before they are written: text of some 300 KB. */
const mostInChunk = 16_384

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
  const [layout] = layoutsOf({ layout: 'twitter', ...values }) as [Layout]
  using generator = open(values, layout)
  const write = formatter(format, generator)
  // Not more than a tick holds, so that the ids of one tick are written while the next one comes.
  const array = new BigUint64Array(Math.min(count, mostInChunk, 2 ** layout.sequence.bits))
  // On one and the same terminal, ids that scroll by are progress enough.
  const progress = new Progress(output.isTerminal || isDumb() ? undefined : process.stderr, count)
  try {
    for (let done = 0; done < count; ) {
      const chunk = generator.fill(array.subarray(0, Math.min(array.length, count - done)))
      if (!(await output.write(write(chunk)))) break
      done += chunk.length
      progress.update(done)
      // A file is written without a turn of the event loop, and Ctrl-C needs one.
      await turn()
    }
  } finally {
    progress.erase()
    await untilPast(generator, layout)
  }
}

/**
 * Waits until the last tick is over where nothing remembers what this process issued: the same command, run again within
 * the same tick, would begin with the same id.
 */
async function untilPast(generator: IdGenerator, { epochMs, tickMs }: Layout): Promise<void> {
  const { issued, aheadMs, state } = generator.stats()
  if (issued === 0 || (state !== 'process' && state !== 'thread')) return
  const inTickMs = (Date.now() - epochMs) % tickMs
  await sleep(aheadMs + tickMs - inTickMs)
}

function countOf(text = '1'): number {
  const count = wholeNumber('--count', text)
  if (count < 0) throw new UsageError('ERR_OPTION_INVALID', `--count is ${count}; give 0 or more`)
  return count
}

function open(values: NextArguments['values'], layout: Layout): IdGenerator {
  const milliseconds = (name: 'max-ahead-ms' | 'max-wait-ms' | 'window-ms') => {
    const text = values[name]
    return text === undefined ? undefined : wholeNumber(`--${name}`, text)
  }
  const options = {
    node: values.node === undefined ? undefined : nodeOf(values.node),
    layout,
    namespace: values.namespace,
    onRollback: values['on-rollback'],
    onOverflow: values['on-overflow'],
    maxAheadMs: milliseconds('max-ahead-ms'),
    // Nothing else waits for this process, and a tick may be longer than the library's 50 ms.
    maxWaitMs: milliseconds('max-wait-ms') ?? Math.max(50, 2 * layout.tickMs),
    sequenceStart: values['sequence-start'],
    clock: values.clock,
    state: values.state,
    windowMs: milliseconds('window-ms'),
    engine: values.engine,
  }
  try {
    // Flags are text; whether they are what the types say is for the library to check.
    return createGenerator(options as GeneratorOptions<readonly Field[]>)
  } catch (error) {
    if ((error as { code?: ErrorCode }).code !== 'ERR_NODE_REQUIRED') throw error
    throw new UsageError(
      'ERR_NODE_REQUIRED',
      `no node was given, and two hosts with the same node make the same ids; give --node with a number from 0 to ${layout.nodes - 1} that no other host uses, or set GRAUPEL_NODE`,
    )
  }
}
