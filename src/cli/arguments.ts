import { parseArgs } from 'node:util'
import { didYouMean } from '../core/suggestion.js'
import type { ErrorCode } from '../index.js'

/** A command line that cannot be carried out; becomes one line on stderr. */
export class UsageError extends Error {
  readonly code: ErrorCode

  constructor(code: ErrorCode, message: string) {
    super(message)
    this.code = code
  }
}

/** A flag of a command. */
export interface Flag {
  /** Stands for the value in the help; a flag without one is a switch. */
  readonly value?: string
  readonly short?: string
  /** The only values it takes. */
  readonly choices?: readonly string[]
  readonly help: string
}

export type Flags = Readonly<Record<string, Flag>>

/** The words after the command. */
export interface Arguments<N extends string> {
  /** By the flag's name; a switch has the value `''`. */
  readonly values: { readonly [K in N]?: string }
  readonly positionals: readonly string[]
}

/** Every command has it. */
export const helpFlag = { short: 'h', help: 'show this help' } as const satisfies Flag

/** Flags by names that they had, or that other tools have. */
const formerNames = new Map([['encoding', 'format']])

/**
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
    // Its own refusals are up to three lines long, and it lets the last of two equal flags win.
    strict: false,
    tokens: true,
  })
  const values: Record<string, string> = {}
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    const { name, rawName, value, inlineValue } = token
    const flag = Object.hasOwn(flags, name) ? flags[name] : undefined
    if (flag === undefined) {
      const meant = didYouMean(formerNames.get(name) ?? name, Object.keys(flags), (one) => `--${one}`)
      throw new UsageError('ERR_OPTION_UNKNOWN', `there is no flag ${rawName}${meant}; see ${command} --help`)
    }
    if (Object.hasOwn(values, name)) {
      throw new UsageError('ERR_OPTION_INVALID', `${rawName} was given twice; give it once`)
    }
    if (flag.value === undefined) {
      if (value !== undefined) throw new UsageError('ERR_OPTION_INVALID', `${rawName} takes no value; leave it out`)
      values[name] = ''
    } else {
      // A flag whose value was forgotten must not swallow the next flag; a negative number is a value.
      if (value === undefined || (!inlineValue && /^-[^0-9]/.test(value))) {
        throw new UsageError('ERR_OPTION_INVALID', `${rawName} has no value; write ${rawName} ${flag.value}`)
      }
      values[name] = choose(rawName, value, flag.choices)
    }
  }
  return { values: values as { [K in keyof F & string]?: string }, positionals }
}

/** @throws UsageError `code` unless it is a whole number in plain digits that a number holds exactly. */
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

/** A word of the command line, as a message shows it: without the credentials of a URL, which may stand at a wrong place. */
export function quote(text: string): string {
  return `'${shorten(text.replace(/\/\/.*@/s, '//***@'))}'`
}

export function shorten(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40)}…` : text
}

function choose(rawName: string, value: string, choices: readonly string[] | undefined): string {
  if (choices !== undefined && !choices.includes(value)) {
    throw new UsageError(
      'ERR_OPTION_INVALID',
      `${rawName} is ${quote(value)}${didYouMean(value, choices)}; it is one of ${choices.join(', ')}`,
    )
  }
  return value
}
