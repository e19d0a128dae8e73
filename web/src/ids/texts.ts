import type { Part } from '../../../src/inspect/part.ts'
import { idsOfJson, partsOf } from '../../../src/inspect/pasted.ts'
import { cellsOf, isRule, type Table, tableOf } from '../../../src/inspect/table.ts'

/** A part of a paste. */
export interface PlacedPart extends Part {
  /** The line of the paste, counted from 1. */
  readonly line: number
  /** The position in the paste at which the line ends. */
  readonly end: number
}

/** The column that stands for the whole lines of a table. */
export const allColumns = '*'

/**
 * Splits a paste: lines, or JSON. Of a table, only one column is read.
 *
 * @param column - Its name, '' for the likeliest, or {@link allColumns}.
 */
export function* textsOf(text: string, nowMs: number, column = ''): Generator<PlacedPart> {
  const ofJson = idsOfJson(text, nowMs)
  if (ofJson !== undefined) {
    for (const one of ofJson) yield { text: one, line: 1, end: text.length }
    return
  }
  const table = column === allColumns ? undefined : tableIn(text)
  const at = table === undefined ? -1 : columnOf(table, column)
  let isHead = table !== undefined
  for (const { whole, line, end } of linesOf(text)) {
    const cells = table === undefined ? [] : cellsOf(whole, table.separator)
    const isRow = cells.length > 1 && cells.length === table?.names.length
    if (table !== undefined && isRule(whole.trim())) continue
    if (isHead) {
      isHead = false
      continue
    }
    for (const part of partsOf(isRow ? (cells[at] as string) : whole, nowMs)) yield { ...part, line, end }
  }
}

/** Returns the table of a paste; `undefined` if it is no table. */
export function tableIn(text: string): Table | undefined {
  let head: string | undefined
  for (const { whole } of linesOf(text)) {
    if (isRule(whole.trim())) continue
    if (head !== undefined) return tableOf(head, whole)
    head = whole
  }
  return undefined
}

/** Returns the place of a column: of the likeliest if the table has no column of this name. */
export function columnOf({ names, idColumn }: Table, name: string): number {
  const at = names.indexOf(name)
  return at < 0 ? idColumn : at
}

/** Yields the lines that are not empty. */
function* linesOf(text: string): Generator<{ whole: string; line: number; end: number }, undefined> {
  let line = 0
  for (let start = 0; start < text.length; ) {
    line++
    const newline = text.indexOf('\n', start)
    const end = newline < 0 ? text.length : newline
    // Not trimmed: tabs at the ends are cells.
    const whole = text.slice(start, end)
    start = end + 1
    if (whole.trim() !== '') yield { whole, line, end }
  }
}
