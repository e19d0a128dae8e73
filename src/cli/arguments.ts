import { parseArgs } from 'node:util'
import type { Row } from '../core/options.js'
import { didYouMean } from '../core/suggestion.js'
import type { ErrorCode } from '../index.js'

/** A command line that cannot be carried out. */
export class UsageError extends Error {
  readonly code: ErrorCode

  constructor(code: ErrorCode, message: string) {
    super(message)
    this.code = code
  }
}

/** A flag of a command. */
export interface Flag {
  /** Stands for the value in the help; a flag without it is a switch. */
  readonly value?: string
  readonly short?: string
  /** The only values that the flag takes. */
  readonly choices?: readonly string[]
  readonly help: string
}

export type Flags = Readonly<Record<string, Flag>>

/** The words after the command. */
export interface Arguments<N extends string> {
  /** The values by the names of their flags; a switch has the value `''`. */
  readonly values: { readonly [K in N]?: string }
  readonly positionals: readonly string[]
}

/** The flag that every command has. */
export const helpFlag = { short: 'h', help: 'show this help' } as const satisfies Flag

/** Makes a flag that sets an option of the library. The row of the option has the choices and the default. */
export function flagFor({ choices, byDefault }: Row, value: string, help: string): Flag {
  const shown = byDefault === undefined ? help : `${help} (${byDefault})`
  return { value, help: shown, ...(choices !== undefined && { choices }) }
}

/** Flags by the names that other tools give them. */
const otherNames = new Map([['encoding', 'format']])

/** Refuses words after a command that takes flags alone. @throws UsageError `ERR_OPTION_INVALID` */
export function refuseWords(command: string, [word]: readonly string[], remedy = 'leave it out'): void {
  if (word === undefined) return
  throw new UsageError('ERR_OPTION_INVALID', `${command} takes no ${quote(word)}; ${remedy}`)
}

/**
 * Reads the words after a command.
 *
 * @param command - The command with these flags, such as `graupel next`; for messages.
 * @throws UsageError `ERR_OPTION_UNKNOWN`, `ERR_OPTION_INVALID`
 */
export function parseFlags<F extends Flags>(
  command: string,
  flags: F,
  words: readonly string[],
): Arguments<keyof F & string> {
  const { tokens, positionals } = parseArgs({
    args: [...words],
    options: Object.fromEntries(
      Object.entries(flags).map(([name, { value, short }]) => [
        name,
        { type: value === undefined ? ('boolean' as const) : ('string' as const), ...(short && { short }) },
      ]),
    ),
    allowPositionals: true,
    // The strict mode writes messages of up to three lines, and lets the last of two equal flags win.
    strict: false,
    tokens: true,
  })
  const values: Record<string, string> = {}
  for (const part of tokens) {
    if (part.kind !== 'option') continue
    const { name, rawName, value, inlineValue } = part
    const flag = Object.hasOwn(flags, name) ? flags[name] : undefined
    if (flag === undefined) {
      const meant = didYouMean(otherNames.get(name) ?? name, Object.keys(flags), (one) => `--${one}`)
      throw new UsageError('ERR_OPTION_UNKNOWN', `there is no flag ${rawName}${meant}; see ${command} --help`)
    }
    if (Object.hasOwn(values, name)) {
      throw new UsageError('ERR_OPTION_INVALID', `${rawName} was given twice; give it once`)
    }
    if (flag.value === undefined) {
      if (value !== undefined) throw new UsageError('ERR_OPTION_INVALID', `${rawName} takes no value; leave it out`)
      values[name] = ''
    } else {
      // If the value was forgotten, the next flag is not the value. A negative number is a value.
      if (value === undefined || (!inlineValue && /^-[^0-9]/.test(value))) {
        throw new UsageError('ERR_OPTION_INVALID', `${rawName} has no value; write ${rawName} ${flag.value}`)
      }
      if (flag.choices !== undefined && !flag.choices.includes(value)) {
        throw new UsageError(
          'ERR_OPTION_INVALID',
          `${rawName} is ${quote(value)}${didYouMean(value, flag.choices)}; it is one of ${flag.choices.join(', ')}`,
        )
      }
      values[name] = value
    }
  }
  return { values: values as { [K in keyof F & string]?: string }, positionals }
}

/**
 * Quotes a word of the command line for a message. Hides the credentials of a URL, which may stand in any
 * place.
 */
export function quote(text: string): string {
  return `'${shorten(text.replace(/\/\/.*@/s, '//***@'))}'`
}

export function shorten(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40)}…` : text
}

/**
 * Returns the message of an error in terms of the command line: an error about an option names the flag.
 *
 * @param flag - The flag that sets the option; without it the message stays.
 */
export function messageOf(
  { message, option }: { message: string; option?: unknown },
  flag: string | undefined,
): string {
  if (typeof option !== 'string' || flag === undefined) return message
  return message.startsWith(`${option} `) ? flag + message.slice(option.length) : `${message}; see ${flag}`
}

/** Returns the flag that sets an option of the library: `--max-wait-ms` for `maxWaitMs`. */
export function flagOf(option: unknown, flags: Flags): string | undefined {
  const name = String(option).replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
  return Object.hasOwn(flags, name) ? `--${name}` : undefined
}

/** The help of a command, as data. */
export interface Manual<F extends Flags = Flags> {
  readonly name: string
  /** One line, or several. */
  readonly usage: string
  readonly summary: string
  readonly flags: F
  /** Lines below the flags. */
  readonly notes: readonly string[]
}

/** Returns the text of `graupel <command> --help`. */
export function commandHelp({ usage, summary, flags, notes }: Manual): string {
  const rows = Object.entries(flags).map(([name, { short, value, choices, help }]) => {
    const head = `${short === undefined ? '    ' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`
    return [head, choices === undefined ? help : `${help}: ${choices.join(', ')}`] as const
  })
  const width = Math.max(...rows.map(([head]) => head.length)) + 2
  const lines = rows.flatMap(([head, text]) =>
    wrap(text, 78 - width).map((line, i) => `  ${(i === 0 ? head : '').padEnd(width)}${line}`),
  )
  return [
    'Usage',
    ...usage.split('\n').map((line) => `  ${line}`),
    '',
    summary,
    '',
    rows.some(([, help]) => help.includes('(')) ? 'Flags, with their defaults in parentheses' : 'Flags',
    ...lines,
    '',
    ...notes,
    '',
  ].join('\n')
}

/** Returns the text of `graupel --help`. */
export function overview(manuals: readonly Manual[]): string {
  const rows = manuals.map(({ name, summary }) => `  ${name.padEnd(9)} ${summary}`)
  return `Snowflake ids that cannot be equal.

Usage
  graupel <command> [flags]

Commands
${rows.join('\n')}
  help      Show this help, or the help of a command: graupel help next.

Flags
  -h, --help     show this help; after a command, the help of the command
  -v, --version  show the version

Exit codes
  0  done; also after a reader such as head has closed the pipe
  1  overlap has found equal ids, or doctor or store check a bad check
  2  the command or a value was refused, or failed; the message ends with a code
  3  graupel overlap has found nodes that several files have in common

Every code is in node_modules/graupel/docs/errors.md.

Examples
  graupel next --node 7
  graupel next -n 1000000 --node datacenter=1,worker=7 --format base62
  graupel inspect 175928847299117063 --layout discord
`
}

function wrap(text: string, width: number): string[] {
  const lines = ['']
  for (const word of text.split(' ')) {
    const line = lines.at(-1) as string
    if (line !== '' && line.length + 1 + word.length > width) lines.push(word)
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`
  }
  return lines
}
