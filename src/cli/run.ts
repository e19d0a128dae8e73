import { readFileSync } from 'node:fs'
import type { Writable } from 'node:stream'
import { didYouMean } from '../core/suggestion.js'
import {
  type Arguments,
  commandHelp,
  type Flags,
  helpFlag,
  type Manual,
  overview,
  parseFlags,
  quote,
  UsageError,
} from './arguments.js'
import { build, buildManual } from './build.js'
import { compose, composeManual } from './compose.js'
import { convert, convertManual } from './convert.js'
import { doctor, doctorManual } from './doctor.js'
import { inspect, inspectManual } from './inspect.js'
import { layouts, layoutsManual } from './layouts.js'
import { lease, leaseManual } from './lease.js'
import { next, nextManual } from './next.js'
import { failureText, Output } from './output.js'
import { overlap, overlapManual } from './overlap.js'
import type { Terminal } from './progress.js'
import { serial, serialManual } from './serial.js'
import { sql, sqlManual } from './sql.js'
import { state, stateManual } from './state.js'
import { storeCommand, storeManual } from './store-command.js'

interface Command {
  readonly manual: Manual
  /** Reads the words after the name, and resolves to the exit code. */
  run(words: readonly string[], streams: Streams): Promise<number>
}

/** The standard streams. `process` has these properties, and opens `stdin` when a command asks for it. */
export interface Streams {
  readonly stdin: NodeJS.ReadableStream
  readonly stdout: Writable & Terminal
  readonly stderr: Terminal
}

const commands: readonly Command[] = [
  command(nextManual, next),
  command(inspectManual, (given, output, { stdin }) => inspect(given, output, stdin)),
  command(overlapManual, (given, output, { stdin }) => overlap(given, output, stdin)),
  command(composeManual, compose),
  command(convertManual, (given, output, { stdin }) => convert(given, output, stdin)),
  command(serialManual, (given, output, { stdin }) => serial(given, output, stdin)),
  command(sqlManual, sql),
  command(layoutsManual, layouts),
  command(stateManual, state),
  command(leaseManual, lease),
  command(storeManual, storeCommand),
  command(doctorManual, doctor),
  command(buildManual, build),
]
const manuals = commands.map(({ manual }) => manual)
const ownFlags = { help: helpFlag, version: { short: 'v', help: 'show the version' } } satisfies Flags

/** Runs `graupel` with these words, and resolves to the exit code. Rejects with an error that is a defect. */
export async function run(words: readonly string[], streams: Streams): Promise<number> {
  try {
    return await runCommand(words, streams)
  } catch (error) {
    const text = failureText(error, manuals.find(({ name }) => name === words[0])?.flags ?? ownFlags)
    if (text === undefined) throw error
    streams.stderr.write(text)
    return 2
  }
}

async function runCommand([name, ...words]: readonly string[], streams: Streams): Promise<number> {
  if (name === undefined) {
    streams.stderr.write(overview(manuals))
    return 2
  }
  if (name.startsWith('-')) {
    const { values, positionals } = parseFlags('graupel', ownFlags, [name, ...words])
    const [word = name] = positionals
    if (positionals.length > 0 || Object.keys(values).length === 0) {
      throw new UsageError(
        'ERR_OPTION_INVALID',
        `the command has to come first, and ${quote(word)} does not; see graupel --help`,
      )
    }
    await new Output(streams).write(values.version === undefined ? overview(manuals) : `${version()}\n`)
    return 0
  }
  if (name === 'help') {
    const [topic, ...rest] = words.filter((word) => word !== '--help' && word !== '-h' && word !== 'help')
    if (rest.length > 0) {
      throw new UsageError('ERR_OPTION_INVALID', 'help takes the name of one command; leave out the rest')
    }
    await new Output(streams).write(topic === undefined ? overview(manuals) : commandHelp(findCommand(topic).manual))
    return 0
  }
  return findCommand(name).run(words, streams)
}

/**
 * Makes a command from its manual and the function that does its work.
 *
 * @param work - Resolves to the exit code if that is not 0: some commands succeed with another code.
 */
function command<F extends Flags & { readonly help: typeof helpFlag }>(
  manual: Manual<F>,
  work: (given: Arguments<keyof F & string>, output: Output, streams: Streams) => Promise<void> | Promise<number>,
): Command {
  const run = async (words: readonly string[], streams: Streams): Promise<number> => {
    const output = new Output(streams)
    const given = parseFlags(`graupel ${manual.name}`, manual.flags, words)
    if (given.values.help === undefined) return (await work(given, output, streams)) ?? 0
    await output.write(commandHelp(manual))
    return 0
  }
  return { manual, run }
}

function findCommand(name: string): Command {
  const command = commands.find(({ manual }) => manual.name === name)
  if (command !== undefined) return command
  const names = [...manuals.map((manual) => manual.name), 'help']
  throw new UsageError(
    'ERR_OPTION_UNKNOWN',
    `there is no command ${quote(name)}${didYouMean(name, names)}; the commands are ${names.join(', ')}`,
  )
}

function version(): string {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version
}
