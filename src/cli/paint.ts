import type { Paint, Style } from '../inspect/picture.js'

export type { Paint }

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

/** Whether the terminal shows control sequences as text, as terminals in editors often do. */
export function isDumb(): boolean {
  return process.env['TERM'] === 'dumb'
}

/** Colours for terminals only, and not where `NO_COLOR` is set (https://no-color.org). */
export function paintFor(isTerminal: boolean): Paint {
  return isTerminal && !isDumb() && !process.env['NO_COLOR'] ? coloured : plain
}

/** Rows of cells as lines with aligned columns; `right` are the columns that are aligned at their ends. */
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

/**
 * Text from outside, made safe to print: control characters, line ends, and characters that change the direction of text
 * are escaped.
 */
export function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it replaces them
  return text.replace(/[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]/g, (c) => {
    return `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}
