import { idName } from './pasted.js'

/** A table as text: CSV, or as psql and Markdown draw it. */
export interface Table {
  readonly names: readonly string[]
  readonly separator: string
  /** The column that most likely has the ids, from 0. */
  readonly idColumn: number
}

/** Stands for `|` between the cells and at both ends, as mysql and Markdown draw it. */
const frame = '| |'

/** What may separate the columns of a table; the likeliest first. */
export const separators: readonly string[] = ['\t', frame, '|', ';', ',']

/** Matches the name of a column. Ids and times are no names. */
const columnName = /^(?!.*\d{5})[\p{L}_][\p{L}\p{N}_ .,-]*$/u

const longId = /^(?:\d{15,20}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i

/** Whether a line of a table has no cells: it separates rows, or psql or mysql counts the rows in it. */
export function isRule(line: string): boolean {
  return /^(?=.*-)[\s|:+-]+$|^\(\d+ rows?\)$|^\d+ rows? in set\b/.test(line)
}

/**
 * Reads the head of a table; `undefined` if the first line does not name columns, or the second line has no
 * id.
 */
export function tableOf(head: string, row: string): Table | undefined {
  for (const separator of separators) {
    const names = cellsOf(head, separator)
    const cells = cellsOf(row, separator)
    if (names.length < 2 || cells.length !== names.length || !names.every((name) => columnName.test(name))) continue
    const isLong = (_: unknown, i: number) => longId.test(cells[i] as string)
    const named = names.findIndex((name, i) => idName.test(name) && isLong(name, i))
    const idColumn = named >= 0 ? named : names.findIndex(isLong)
    if (idColumn >= 0) return { names, separator, idColumn }
  }
  return undefined
}

/** Splits a line into its cells, without their quotes. Cells may be empty. */
export function cellsOf(line: string, separator: string): string[] {
  return rawCells(line, separator).map((text) =>
    text
      .trim()
      .replace(/^"(.*)"$/s, '$1')
      .replaceAll('""', '"')
      .trim(),
  )
}

function rawCells(line: string, separator: string): readonly string[] {
  if (separator === frame) return /^\|(.*)\|$/s.exec(line.trim())?.[1]?.split('|') ?? []
  if (separator === '|') return line.split('|')
  return line.match(cell(separator)) ?? []
}

/** Matches a cell, which may be in quotes and then contain separators. */
function cell(separator: string): RegExp {
  const blanks = `[^\\S${separator}]*`
  return new RegExp(`(?<=^|${separator})(?:${blanks}"(?:[^"]|"")*"${blanks}|[^${separator}]*)(?=${separator}|$)`, 'g')
}
