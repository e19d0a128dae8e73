import { cellsOf, separators } from '../inspect/table.js'
import { quote, UsageError } from './arguments.js'

/**
 * Returns the function that takes the cell of a column from each line of a table. For the first line, which
 * has the names, for an empty line and for an empty cell, it returns `undefined`.
 *
 * @throws UsageError `ERR_OPTION_INVALID`, `ERR_ID_INVALID`
 */
export function columnReader(column: string): (line: string) => string | undefined {
  let names: readonly string[] | undefined
  let separator = ''
  return (line) => {
    if (line.trim() === '') return undefined
    if (names === undefined) {
      separator = separators.find((one) => cellsOf(line, one).includes(column)) ?? ','
      names = cellsOf(line, separator)
      if (names.includes(column)) return undefined
      throw new UsageError(
        'ERR_OPTION_INVALID',
        `--column is ${quote(column)}, and the first line names no such column: ${quote(line)}; give one of its names`,
      )
    }
    const cells = cellsOf(line, separator)
    // NULL of a database is an empty cell.
    if (cells.length === names.length) return cells[names.indexOf(column)] || undefined
    throw new UsageError(
      'ERR_ID_INVALID',
      `the line ${quote(line)} has ${cells.length} columns, and the first line names ${names.length}`,
    )
  }
}
