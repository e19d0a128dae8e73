import type { Writable } from 'node:stream'
import type { Paint, Style } from '../inspect/picture.js'
import type { Layout } from '../layout/index.js'
import { type Flags, flagOf, messageOf } from './arguments.js'
import type { Terminal } from './progress.js'

export type { Paint }

/** Writes the results one chunk at a time, so that a slow reader does not make memory grow. */
export class Output {
  readonly isTerminal: boolean
  /** Takes messages and progress, so that only results are in the output. */
  readonly stderr: Terminal
  readonly #stream: Writable

  constructor({ stdout, stderr }: { stdout: Writable & Terminal; stderr: Terminal }) {
    this.#stream = stdout
    this.isTerminal = stdout.isTTY === true
    this.stderr = stderr
    // The callback of write() reports the error, too; without a listener it would end the process.
    stdout.on('error', () => {})
  }

  /**
   * Resolves when the stream has passed the chunk on: to `false` if the reader has closed the pipe (`|
   * head`), which is no error.
   *
   * @throws the stream's error, such as `ENOSPC`
   */
  write(chunk: string | Uint8Array): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#stream.write(chunk, (error: NodeJS.ErrnoException | null | undefined) => {
        if (!error) resolve(true)
        // Windows calls it EOF.
        else if (error.code === 'EPIPE' || error.code === 'EOF') resolve(false)
        else reject(error)
      })
    })
  }
}

/**
 * Returns an error as text for stderr, in terms of flags. An error without a code is a defect, which the user
 * has to see in full: for such an error returns `undefined`.
 *
 * @param flags - The flags of the command.
 */
export function failureText(error: unknown, flags: Flags, where = ''): string | undefined {
  const { code, message, option } = error as { code?: unknown; message?: unknown; option?: unknown }
  if (typeof code !== 'string' || typeof message !== 'string') return undefined
  // The message of a store may end with lines of SQL.
  const [first = '', ...sql] = code === 'ERR_STORE_UNAVAILABLE' ? message.split('\n') : [message]
  const text = messageOf({ message: first, option }, flagOf(option, flags))
  return [`graupel: ${where}${printable(text)} (${code})`, ...sql.map((line) => `  ${printable(line)}`), ''].join('\n')
}

/** Returns a warning of the process as text for stderr. */
export function warningText({ message, name, code }: Error & { code?: string }): string {
  return `graupel: warning: ${printable(message)} (${code ?? name})\n`
}

const codes: Record<Style, number> = {
  bold: 1,
  dim: 2,
  red: 31,
  green: 32,
  yellow: 33,
  blue: 34,
  magenta: 35,
  cyan: 36,
}

export const plain: Paint = (_style, text) => text

const coloured: Paint = (style, text) => `\x1b[${codes[style]}m${text}\x1b[0m`

/** Tells whether the terminal shows control sequences as text, as terminals in editors often do. */
export function isDumb(): boolean {
  return process.env['TERM'] === 'dumb'
}

/** Returns colours for a terminal, unless `NO_COLOR` is set (https://no-color.org). */
export function paintFor(isTerminal: boolean): Paint {
  return isTerminal && !isDumb() && !process.env['NO_COLOR'] ? coloured : plain
}

/** Returns rows of cells as lines with aligned columns; the columns in `right` are aligned at their ends. */
export function table(rows: readonly (readonly string[])[], right: readonly number[] = []): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows.map((row) =>
    row
      .map((cell, column) => {
        const width = widths[column] as number
        return right.includes(column) ? cell.padStart(width) : cell.padEnd(width)
      })
      .join('  ')
      .trimEnd(),
  )
}

/** Returns rows for the node and, if the layout has several node fields, for each field. */
export function nodeRows(
  { nodeBits, nodeFields }: Layout,
  node: number,
  fields: Readonly<Record<string, number>>,
  paint: Paint,
): string[][] {
  const names = nodeFields.map(({ name, bits }) => [`  ${name}`, withRange(fields[name] as number, bits, paint)])
  return [['node', withRange(node, nodeBits, paint)], ...(names.length > 1 ? names : [])]
}

/** Returns a number with the range that its bits can hold. */
export function withRange(value: number, bits: number, paint: Paint): string {
  return `${value} ${paint('dim', `(0 to ${(2 ** bits - 1).toLocaleString('en')})`)}`
}

/** Returns rows for a time, in UTC and by the local clock. */
export function timeRows(timeMs: number): string[][] {
  return [
    ['time', timeText(timeMs)],
    ['local time', localTime(new Date(timeMs))],
  ]
}

/** Returns a time in UTC, and its distance from now. */
export function timeText(timeMs: number, nowMs = Date.now()): string {
  return `${new Date(timeMs).toISOString()}, ${howLongAgo(timeMs, nowMs)}`
}

/**
 * Returns a line for `--json`. JSON leaves some control characters as they are; an escape is allowed for
 * each.
 */
export function jsonLine(value: unknown): string {
  return `${printable(JSON.stringify(value))}\n`
}

/**
 * Makes text from outside safe to print: escapes control characters, line ends, and characters that change
 * the direction of text.
 */
export function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it replaces them
  return text.replace(/[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]/g, (c) => {
    return `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}

const units = [
  ['year', 365.25 * 24 * 3_600_000],
  ['month', (365.25 / 12) * 24 * 3_600_000],
  ['day', 24 * 3_600_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
] as const

/** A time in the local time zone: `2016-04-30 13:18:25.796 +02:00 Europe/Berlin`. */
export function localTime(time: Date): string {
  const offsetMinutes = -Math.round(time.getTimezoneOffset())
  const shifted = new Date(time.getTime() + offsetMinutes * 60_000).toISOString()
  const minutes = Math.abs(offsetMinutes)
  const two = (part: number) => String(part).padStart(2, '0')
  const offset = `${offsetMinutes < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
  return `${shifted.slice(0, -1).replace('T', ' ')} ${offset} ${timeZone}`
}

/** How long ago, in the largest unit that fits: `10 years ago`, `in 3 days`. */
export function howLongAgo(timeMs: number, nowMs: number): string {
  const amount = amountOf(Math.abs(nowMs - timeMs))
  return timeMs > nowMs ? `in ${amount}` : `${amount} ago`
}

/** How far from another time: `10 years behind`, `3 days ahead of`. */
export function howFar(timeMs: number, nowMs: number): string {
  return `${amountOf(Math.abs(nowMs - timeMs))} ${timeMs > nowMs ? 'ahead of' : 'behind'}`
}

function amountOf(ms: number): string {
  const [unit, unitMs] = units.find(([, unitMs]) => ms >= unitMs) ?? ['millisecond', 1]
  const count = Math.floor(ms / unitMs)
  return `${count.toLocaleString('en')} ${unit}${count === 1 ? '' : 's'}`
}
